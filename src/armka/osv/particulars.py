"""What stands above a table: title, organisation, ИНН, period, unit and currency."""

import re
from operator import mul

import msgspec

from armka.contract.result import Organisation, Period
from armka.osv import period
from armka.osv.grid import Cell, CellError, Row
from armka.osv.reports import Announced, UnitNotRead, announced, title_of
from armka.osv.wording import plain, text_of

_LEGAL_FORM = re.compile(
    r"(?<![\w-])(?:ООО|ОАО|ЗАО|ПАО|НАО|АО|ИП|АНО|ФГУП|ГУП|МУП|НКО|ТСЖ|СНТ|КФХ|ГБУ|МБУ|ФГБУ"
    r"|[Оо]бщество с (?:ограниченной|дополнительной)"
    r"|(?:[Пп]убличное |[Зз]акрытое |[Оо]ткрытое |[Нн]епубличное )?[Аа]кционерное общество"
    r"|[Ии]ндивидуальный предприниматель)(?![\w-])"
)
_ORGANISATION = re.compile(r"^(?:наименование )?организаци[яи]:? *")
_INN = re.compile(r"\bинн(?: ?/ ?кпп)?\b[ :№]*(\d{12}|\d{10})(?!\d)")
_INN_LABEL = re.compile(r"^инн(?: ?/ ?кпп)?:?$")
_INN_ALONE = re.compile(r"(\d{12}|\d{10})(?: ?/ ?\d{9})?")
_UNIT_LABEL = re.compile(r"единиц\w* измерения|ед\. ?изм")
_THOUSANDS = re.compile(
    r"\bтыс(?:\.|яч\w*)? ?(?:руб|долл|евро|usd|eur|rub|₽)|\bтысяч\w* рубл|\bтыс\.?(?=\)|$)"
)
_MILLIONS = re.compile(
    r"\bмлн\.? ?(?:руб|долл|евро|usd|eur|rub|₽)|\bмиллион\w* рубл|\bмлн\.?(?=\)|$)"
)
_BILLIONS = re.compile(r"\bмлрд\b|\bмиллиард")
_CURRENCY = re.compile(r"\bвалюта\b[^:]*: ?([a-z]{3}|руб\w*|рос\w* руб\w*)\b")
_ROUBLES = re.compile(r"\bруб(?:\.|л\w+|$|\b)|₽")


_INN_WEIGHTS: dict[int, list[tuple[int, ...]]] = {
    10: [(2, 4, 10, 3, 5, 9, 4, 6, 8)],
    12: [(7, 2, 4, 10, 3, 5, 9, 4, 6, 8), (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)],
}


class Particulars(msgspec.Struct, frozen=True):
    """What the lines above a table say; None where they do not say it. `units` are all the units
    they name.
    """

    announced: Announced | None
    organisation: Organisation | None
    period: Period | None
    currency: str | None
    units: frozenset[int]


def read(rows: list[Row]) -> Particulars:
    """Read the rows above a table, its header's included."""
    lines = [(row, [cell for cell in row.cells if _shown(cell)]) for row in rows]
    texts = [text for _, cells in lines for text in map(text_of, cells) if text]
    title = title_of(texts)
    return Particulars(
        announced=title,
        organisation=_organisation(lines, texts, title),
        period=_period(texts, title),
        currency=_currency(texts),
        units=frozenset(unit for text in texts for unit in _units(text)),
    )


def unit_of(particulars: Particulars) -> int:
    """The unit of the amounts, in currency units; 1 where none is said. Raises UnitNotRead."""
    units = particulars.units
    if len(units) > 1 or not units <= {1, 1000, 1000000}:
        raise UnitNotRead(", ".join(str(unit) for unit in sorted(units)))
    return next(iter(units), 1)


def is_valid_inn(inn: str) -> bool:
    """Whether the control digits of an ИНН are right."""
    digits = [int(digit) for digit in inn]
    return all(
        sum(map(mul, weights, digits)) % 11 % 10 == digits[len(weights)]
        for weights in _INN_WEIGHTS[len(digits)]
    )


def _shown(cell: Cell) -> bool:
    return cell[1] != "" and not isinstance(cell[1], CellError)


def _organisation(
    lines: list[tuple[Row, list[Cell]]], texts: list[str], title: Announced | None
) -> Organisation | None:
    name = _labelled_name(lines) or _legal_name(texts, title) or _line_above(lines, title)
    return Organisation(name=name, inn=_inn(lines)) if name else None


def _labelled_name(lines: list[tuple[Row, list[Cell]]]) -> str | None:
    """«Организация: ООО …», in one cell or in two."""
    for _, cells in lines:
        for index, cell in enumerate(cells):
            match = _ORGANISATION.match(plain(text_of(cell)))
            if not match:
                continue
            rest = text_of(cell)[match.end() :].strip()
            following = text_of(cells[index + 1]) if index + 1 < len(cells) else ""
            if rest or following:
                return rest or following
    return None


def _legal_name(texts: list[str], title: Announced | None) -> str | None:
    """The first line that has a legal form in it and is no title."""
    for text in texts:
        if (title is None or text != title.title) and _LEGAL_FORM.search(text) and len(text) <= 300:
            return _without_inn(text)
    return None


def _line_above(lines: list[tuple[Row, list[Cell]]], title: Announced | None) -> str | None:
    """1С prints the organisation right above the title: a first line of one text without a colon is
    it.
    """
    filled = [[text_of(cell) for cell in cells] for _, cells in lines if cells]
    if title is None or len(filled) < 2 or title.title not in filled[1] or len(filled[0]) != 1:
        return None
    name = filled[0][0]
    return (
        None
        if not name or ":" in name or announced(name) or period.find(name)
        else _without_inn(name)
    )


def _without_inn(text: str) -> str:
    return re.sub(r"[,;]?\s*\(?ИНН.*$", "", text, flags=re.IGNORECASE).strip() or text


def _inn(lines: list[tuple[Row, list[Cell]]]) -> str | None:
    for _, cells in lines:
        for index, cell in enumerate(cells):
            words = plain(text_of(cell))
            match = _INN.search(words)
            if match:
                return match.group(1)
            if _INN_LABEL.match(words) and index + 1 < len(cells):
                return _inn_alone(cells[index + 1])
    return None


def _inn_alone(cell: Cell) -> str | None:
    value = cell[1]
    text = f"{value:.0f}" if isinstance(value, float) else str(value).strip()
    match = _INN_ALONE.fullmatch(text)
    return match.group(1) if match else None


def _period(texts: list[str], title: Announced | None) -> Period | None:
    """The title's own period, else the first line that names one; one with dates goes before one
    without.
    """
    first = [title.title] if title else []
    found = [one for one in map(period.find, [*first, *texts]) if one is not None]
    return next((one for one in found if one.from_), found[0] if found else None)


def _units(text: str) -> set[int]:
    words = plain(text)
    found = {
        unit
        for pattern, unit in ((_THOUSANDS, 1000), (_MILLIONS, 10**6), (_BILLIONS, 10**9))
        if pattern.search(words)
    }
    if not found and _UNIT_LABEL.search(words) and _ROUBLES.search(words):
        return {1}
    return found


def _currency(texts: list[str]) -> str | None:
    for text in texts:
        match = _CURRENCY.search(plain(text))
        if match:
            return (
                match.group(1).upper()
                if len(match.group(1)) == 3 and match.group(1).isascii()
                else "RUB"
            )
    labelled = [text for text in map(plain, texts) if _UNIT_LABEL.search(text) or _units(text)]
    return "RUB" if any(_ROUBLES.search(text) for text in labelled) else None
