"""Prints docs/reference/messages.md: every message of the contract on one page."""

import json
from pathlib import Path

from armka.contract import message_ids, schema_files
from armka.contract.outcome import OutcomeKind
from armka.contract.subjects import CORE_RESULTS, DEFAULTS, Subjects, Transport

HEAD = """\
# Every message on one page

What the core and a service say to each other, with the subject and the header that each message
bears. The examples are those of [docs/contracts](../contracts/README.md), which pass their schemas;
the rules beside the shapes stand there. This page is made by `make reference`."""

ENVELOPES = {
    "1. Acknowledgement": (
        "result-message-processing.json",
        "At once, before the file is read, and again for every repeat.",
    ),
    "2. Result: recognised": (
        "result-message-done.json",
        "After the result file lies in S3. `needs_check` where an analyst must look.",
    ),
    "3. Result: not recognised": (
        "result-message-error.json",
        "With a code of the contract's, and words for a person.",
    ),
    "4. Refusal": (
        "result-message-error-schema-mismatch.json",
        "To an invalid request whose ids can be read; no acknowledgement before it.",
    ),
}


def main() -> None:
    parts = [HEAD, *_request(), *_envelopes(), *_file(), *_answer(), *_transports()]
    print("\n\n".join(parts))


def _request() -> list[str]:
    return [
        "## The request: core → service",
        _subjects("tabular_request", "image_request"),
        f"Header `{message_ids.HEADER}: <job_id>:<attempt>`.",
        _example("request-tabular.json"),
    ]


def _envelopes() -> list[str]:
    told = ["## The envelopes: service → core", _subjects("result")]
    for title, (name, text) in ENVELOPES.items():
        kind = "ack" if "Ack" in title else "result"
        form = f"`{message_ids.HEADER}: {kind}:<job_id>:<attempt>`"
        told += [f"### {title}", f"{text} Header {form}.", _example(name)]
    return told


def _file() -> list[str]:
    return [
        "## The result file: service → S3",
        "At `results/{file_id}/{job_id}/result.json` in the core's bucket, before its envelope.",
        _example("result-file-accounts.json"),
    ]


def _answer() -> list[str]:
    kinds = ", ".join(f"`{kind.value}`" for kind in OutcomeKind)
    told = f"To the reply subject of an envelope, where it has one: {kinds}. Without an answer the "
    return [
        "## The answer: core → service",
        told + "service sends the same envelope again.",
        _block({"outcome": "applied"}),
    ]


TRANSPORTS = f"""\
| | `core` | `jetstream` |
|---|---|---|
| a service hears requests | in a queue group named like it | through a durable named like it |
| it acknowledges to NATS | – | when the job has ended |
| a result is answered by | the core, after its commit | the stream, with a PubAck |
| the core hears envelopes | in queue group `{CORE_RESULTS}` | through durable `{CORE_RESULTS}` |"""


def _transports() -> list[str]:
    return ["## The two transports", TRANSPORTS]


def _subjects(*names: str) -> str:
    def of(subjects: Subjects) -> str:
        return ", ".join(f"`{getattr(subjects, name)}`" for name in names)

    core, stream = DEFAULTS[Transport.CORE], DEFAULTS[Transport.JETSTREAM]
    return f"On {of(core)} (`core`), {of(stream)} (`jetstream`)."


def _example(name: str) -> str:
    path = Path(str(schema_files.root())) / "examples" / name
    return _block(json.loads(path.read_text("utf-8")))


def _block(value: object) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```"


if __name__ == "__main__":
    main()
