"""The rows of a table as entries: what each is about, its amounts, and where each amount stood."""

from enum import Enum

import msgspec

from armka.contract.vocabulary import LineKind
from armka.osv.amounts import Unreadable
from armka.osv.chart import Plan

Six = list[int | None]
Place = tuple[int, int]  # (row as the sheet numbers it, column from 0)


class Total(Enum):
    """Which total a row is: the usual one, with balances expanded (развернутое), of off-balance
    accounts, or of one side of the balance alone (по активу, по пассиву).
    """

    PLAIN = "plain"
    EXPANDED = "expanded"
    OFF_BALANCE = "off_balance"
    BLOCK = "block"


class Entry(msgspec.Struct):
    """A row of the table. `outline` is its outline level, `indent` how far its label is moved in,
    `row` its number on the sheet; `n` counts from 1.

    `styles`: of each amount, -1 where its cell is empty. `texts`: the amounts as the contract
    carries them, where that is known already. `raw`: what stood in the cells that held
    no plain number. `places`: where the amounts stood, if not in this row under the main columns;
    None in it: there is no such cell. `parts`: debit and credit turnovers by correspondent account,
    in sum. `whole`: it has opening, turnovers and closing, so its equation can be judged.
    """

    n: int
    row: int
    kind: LineKind
    account: str | None
    name: str
    outline: int
    indent: int
    amounts: Six
    styles: tuple[int, ...]
    unreadable: dict[int, Unreadable]
    texts: list[str | None] | None = None
    raw: dict[int, str] | None = None
    places: list[Place | None] | None = None
    indicator: str | None = None
    currency: str | None = None
    key: str = ""  # what a budget account is kept by beside its code
    italic: bool = False
    off_balance: bool = False
    total: Total | None = None
    parts: list[int | None] | None = None
    part_places: tuple[list[Place], list[Place]] | None = None
    whole: bool = True
    block: str = ""  # актив, пассив: whose rows these are
    parent: int | None = None
    level: int = 0

    @property
    def is_money(self) -> bool:
        """Whether it is in the document's unit and of accounting (БУ): what totals are made of."""
        return self.indicator is None or self.indicator == "БУ"


class Doubt(msgspec.Struct, frozen=True):
    """A number that belongs to no line (R11), a code that may be another one (R8), a header that
    says something else (R12).
    """

    row: int
    reason: str
    rule: str = "R11"
    column: int | None = None


class Body(msgspec.Struct):
    """What was read under one header; `end` is the index of the first row after it. `roots`: the
    accounts that the report is about, if not all. `levels`: of how many kinds the rows under an
    account are, where the header says it.
    """

    entries: list[Entry]
    doubts: list[Doubt]
    end: int
    hidden: int
    plan: Plan = Plan.COMMERCIAL
    roots: tuple[str, ...] = ()
    levels: int = 0
    plain_columns: list[int | None] = []
    one_sided: bool = False
