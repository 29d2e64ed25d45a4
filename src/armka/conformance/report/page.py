"""A report for people: one HTML page that needs nothing else."""

from collections.abc import Iterator
from html import escape

from armka.conformance.outcome import Outcome
from armka.conformance.report.entry import Entry, Report

_SHOWN_EVENTS = 200

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem;
  color: #1c2330; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: #5b6472; } dd { margin: 0; }
.verdict { font-size: 1.1rem; font-weight: 600; }
details { border-left: 4px solid #c3c9d2; padding: .3rem .8rem; margin: .3rem 0; }
summary { cursor: pointer; } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f9; padding: .6rem;
  border-radius: 4px; }
.passed { border-color: #2c8a4b; } .failed { border-color: #c0352b; }
.tag { display: inline-block; min-width: 7.5rem; font-weight: 600; }
.passed .tag, .verdict.passed { color: #23703d; } .failed .tag, .verdict.failed { color: #b02a20; }
.promises, .seconds, .note { color: #5b6472; }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #dfe4ec; } pre { background: #1d232d; }
  dt, .promises, .seconds, .note { color: #9aa4b2; }
  .passed .tag, .verdict.passed { color: #6fca8c; }
  .failed .tag, .verdict.failed { color: #f08a80; }
}
"""


def written(report: Report) -> str:
    """The report as a page; what failed stands open."""
    kind = "passed" if report.conforms else "failed"
    facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in report.about.items())
    begun = f"<dt>begun</dt><dd>{report.begun:%Y-%m-%d %H:%M:%S} UTC</dd>"
    title, verdict = escape(report.title), escape(report.verdict)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>',
        f'<body><h1>{title}</h1><p class="verdict {kind}">{verdict}</p>',
        f"<dl>{facts}{begun}</dl>",
        *_rooms(report),
        "</body></html>",
    ]
    return "\n".join(parts)


def _rooms(report: Report) -> Iterator[str]:
    for room in dict.fromkeys(one.room for one in report.entries):
        yield f"<h2>{escape(room.capitalize())}</h2>"
        yield from (_entry(one) for one in report.entries if one.room == room)


def _entry(entry: Entry) -> str:
    kind = entry.outcome.value.replace(" ", "-")
    is_open = " open" if entry.outcome is Outcome.FAILED else ""
    hidden = len(entry.events) - _SHOWN_EVENTS
    events = [f"({hidden} before)", *entry.events[-_SHOWN_EVENTS:]] if hidden > 0 else entry.events
    blocks = [
        f"<p>{escape(entry.summary)}</p>",
        f'<p class="note">{escape(entry.note)}</p>' if entry.note else "",
        f"<pre>{escape(entry.detail)}</pre>" if entry.detail else "",
        f"<pre>{escape(chr(10).join(events))}</pre>" if events else "",
    ]
    return (
        f'<details class="{kind}" id="{escape(entry.id)}"{is_open}><summary>'
        f'<span class="tag">{escape(entry.outcome.value)}</span> <code>{escape(entry.id)}</code> '
        f'<span class="promises">{escape(" ".join(entry.promises))}</span> '
        f'<span class="seconds">{entry.seconds:.1f} s</span></summary>{"".join(blocks)}</details>'
    )
