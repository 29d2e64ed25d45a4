"""How many lines of all layouts come out of all formats as they went in.

`PYTHONPATH=src python -m tests.tabular_parser.exactness [--seeds N]` prints the table in
`docs/concepts/trial-balance.md`.
"""

import argparse
import tempfile
from pathlib import Path
from random import Random

from armka.contract.vocabulary import FileType
from tests.books.recognised import WRITERS, through
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES, Report
from tests.osv.read_lines import lines_of


def dressed(random: Random) -> Dress:
    """A dress at random."""
    return Dress(
        first_column=random.randrange(3),
        above=random.randrange(4),
        decorative=tuple(random.randrange(3) for _ in range(random.randrange(5))),
        outline=random.random() < 0.5,
        indent=random.random() < 0.5,
        legend=random.random() < 0.7,
        notes=random.random() < 0.3,
        page_break_after=random.choice([None, None, 6]),
        text_amounts=random.choice([None, None, "\u00a0"]),
    )


def exact(folder: Path, file_type: FileType, report: Report, dress: Dress) -> tuple[int, int]:
    """(lines read as they are, lines there are)."""
    documents = through(folder, file_type, report.sheet(dress)).documents
    read = [line for document in documents for line in lines_of(document)]
    truth = report.lines()
    if len(read) != len(truth):
        return 0, len(truth)
    return sum(a == b for a, b in zip(read, truth, strict=True)), len(truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print(f"| report | {' | '.join(WRITERS)} |")  # noqa: T201
    print(f"| --- |{' ---: |' * len(WRITERS)}")  # noqa: T201
    for name, make in FAMILIES.items():
        cells = []
        for file_type in WRITERS:
            counts = [0, 0]
            for seed in range(seeds):
                random = Random(seed)
                with tempfile.TemporaryDirectory() as folder:
                    found = exact(Path(folder), file_type, make(random), dressed(random))
                counts = [counts[0] + found[0], counts[1] + found[1]]
            cells.append(f"{counts[0]} of {counts[1]}")
        print(f"| {name} | {' | '.join(cells)} |")  # noqa: T201


if __name__ == "__main__":
    main()
