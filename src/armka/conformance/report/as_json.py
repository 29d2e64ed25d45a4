"""A report for machines."""

import json

from armka.conformance.report.entry import Report


def written(report: Report) -> str:
    """The report as one JSON object."""
    return json.dumps(
        {
            "title": report.title,
            "about": dict(report.about),
            "begun": report.begun.isoformat(),
            "conforms": report.conforms,
            "checks": [
                {
                    "id": one.id,
                    "room": one.room,
                    "promises": one.promises,
                    "summary": one.summary,
                    "outcome": one.outcome.value,
                    "detail": one.detail,
                    "note": one.note,
                    "seconds": round(one.seconds, 3),
                    "events": one.events,
                }
                for one in report.entries
            ],
        },
        ensure_ascii=False,
        indent=1,
    )
