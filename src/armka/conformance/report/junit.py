"""A report for build servers: JUnit's XML."""

import re
from xml.etree import ElementTree as ET

from armka.conformance.outcome import Outcome
from armka.conformance.report.entry import Entry, Report

# What XML 1.0 cannot carry at all.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def written(report: Report) -> str:
    """The report as a test suite."""
    suite = ET.Element(
        "testsuite",
        name=report.title,
        tests=str(len(report.entries)),
        failures=str(report.count(Outcome.FAILED)),
        errors="0",
        skipped=str(report.count(Outcome.NOT_APPLICABLE)),
        time=f"{sum(one.seconds for one in report.entries):.3f}",
        timestamp=report.begun.isoformat(timespec="seconds"),
    )
    for one in report.entries:
        suite.append(_case(one))
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _case(entry: Entry) -> ET.Element:
    case = ET.Element("testcase", classname=entry.room, name=entry.id, time=f"{entry.seconds:.3f}")
    if entry.outcome is Outcome.FAILED:
        first = entry.detail.splitlines()[0] if entry.detail else ""
        failure = ET.SubElement(case, "failure", message=_plain(first))
        failure.text = _plain("\n".join([entry.summary, entry.detail, *entry.events]))
    elif entry.outcome is Outcome.NOT_APPLICABLE:
        ET.SubElement(case, "skipped", message=_plain(entry.note))
    elif entry.note:
        ET.SubElement(case, "system-out").text = _plain(entry.note)
    return case


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
