"""Which layout family (`group_schema`) a table is of."""

from armka.contract.vocabulary import LineKind
from armka.osv import reports
from armka.osv.chart import Plan
from armka.osv.entries import Body, Entry
from armka.osv.header import Header, Shape
from armka.osv.labels import Measure, Stub
from armka.osv.reports import Announced


def family_of(body: Body, header: Header, title: Announced | None) -> str:
    """The family: what the title says, else what the header says, else what the lines are."""
    said = title.family if title else None
    if header.shape is Shape.ANALYSIS:
        return reports.ACCOUNT_ANALYSIS
    if said == reports.ACCOUNT_TURNOVER or header.correspondents:
        return reports.ACCOUNT_TURNOVER
    if said == reports.NFO or header.shape is Shape.ONE_SIDED or body.plan is Plan.NFO:
        return reports.NFO
    if body.plan is Plan.BUDGET or Stub.BUDGET in header.stubs.values():
        return reports.BUDGET
    return _by_lines(body, header)


def _by_lines(body: Body, header: Header) -> str:
    entries = body.entries
    kinds = {entry.kind for entry in entries}
    if LineKind.CURRENCY in kinds or any(entry.currency for entry in entries):
        return reports.CURRENCY
    if any(entry.indicator for entry in entries):
        return reports.INDICATORS
    by_columns = any(band.measure is Measure.PERIOD for band in header.bands)
    if LineKind.PERIOD in kinds or by_columns:
        return reports.PERIODS
    if header.upp:
        return reports.UPP
    if LineKind.DIMENSION in kinds or body.roots or not header.has_accounts:
        return reports.ACCOUNT_SUBCONTO
    nested = any(_is_under_account(entries, entry) for entry in entries)
    return reports.ACCOUNTS_SUBACCOUNTS if nested else reports.ACCOUNTS


def _is_under_account(entries: list[Entry], entry: Entry) -> bool:
    return entry.parent is not None and entries[entry.parent - 1].kind is LineKind.ACCOUNT
