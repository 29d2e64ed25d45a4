"""Tables without lines: their columns and their header, found where words stand."""

from armka.services.scanning_system.reading.borderless import find
from armka.services.scanning_system.reading.marks import Mark, Rect
from armka.services.scanning_system.reading.tables import fill

WIDE, HIGH = 16, 32


def line(top: float, **phrases: int) -> list[Mark]:
    """Words of a line: each phrase by its left edge; an underscore in a name is a space."""
    marks = []
    for phrase, left in phrases.items():
        x = float(left)
        for text in phrase.split("_"):
            right = x + WIDE * len(text)
            marks.append(Mark(text, Rect(x, top, right, top + HIGH), None))
            x = right + WIDE
    return marks


def row(top: float, code: str, name: str, amounts: dict[int, str]) -> list[Mark]:
    """A row: amounts by their right edge."""
    marks = line(top, **{code: 100, name: 300})
    for right, text in amounts.items():
        marks.append(Mark(text, Rect(right - WIDE * len(text), top, right, top + HIGH), None))
    return marks


def test_a_label_of_the_header_may_run_on_alone():
    marks = [
        *line(0, Оборотно_сальдовая_ведомость=100),
        *line(200, Счет=100, Наименование=300, Сальдо_на_начало=1080, Обороты_за_период=1640),
        *line(250, периода=1150),
        *line(310, Дебет=980, Кредит=1240, Дебет_=1520, Кредит_=1780),
        *row(370, "01", "Основные_средства", {1160: "132,55", 1700: "92,93", 1940: "0,08"}),
        *row(430, "02", "Амортизация", {1400: "118,00", 1700: "28,99", 1940: "28,98"}),
        *row(490, "10", "Материалы", {1160: "7,55", 1700: "1,93", 1940: "0,08"}),
    ]

    grid = find([mark for mark in marks if mark.text])

    assert grid is not None
    above = {slot.text: slot.span for slot in fill(grid, marks).slots if slot.span.row == 0}
    assert above["Сальдо на начало периода"].columns == 2
    assert above["Обороты за период"].columns == 2


def test_a_label_that_runs_on_may_begin_to_the_left_of_all_amounts():
    marks = [
        *line(0, Оборотно_сальдовая_ведомость=100),
        *line(120, Счет=100, Сальдо_на=1000, Обороты_за_период=1640),
        *line(155, начало_периода=1020),
        *line(220, Дебет=980, Кредит=1240, Дебет_=1520, Кредит_=1780),
        *row(280, "76.05", "Поставщики", {1160: "0,92", 1700: "92,93", 1940: "0,08"}),
        *row(340, "84", "Прибыль", {1160: "6,80", 1400: "0,02", 1940: "8,98"}),
    ]
    marks = [mark for mark in marks if mark.text]

    grid = find(marks)

    assert grid is not None
    above = [slot.text for slot in fill(grid, marks).slots if slot.span.row == 0]
    assert "Сальдо на начало периода" in above


def test_a_label_to_the_left_of_its_amounts_makes_no_column():
    marks = [
        *line(0, Счет=100, Наименование=300, Дебет=980, Кредит=1240),
        *row(60, "01", "Основные_средства", {1160: "132,55", 1480: "9,95"}),
        *row(120, "02", "Амортизация", {1160: "118,00", 1480: "8,99"}),
        *row(180, "10", "Материалы", {1160: "7,55", 1480: "1,93"}),
    ]

    grid = find(marks)

    assert grid is not None
    assert len(grid.xs) - 1 == 4
    assert [slot.text for slot in fill(grid, marks).slots if slot.span.row == 0] == [
        "Счет",
        "Наименование",
        "Дебет",
        "Кредит",
    ]


def test_rows_without_amounts_belong_to_the_table_however_long_their_names():
    """Above the first amounts and below the last ones; a name may take three lines."""
    marks = [
        *line(0, Счет=100, Наименование=300, Дебет=980, Кредит=1240),
        *line(60, **{"90.01": 100, "Выручка": 300}),
        *line(120, **{"90.01.1": 100, "Выручка_по": 300}),
        *line(155, деятельности_с=300),
        *line(190, основной_системой=300),
        *row(250, "91", "Прочие", {1160: "132,55", 1480: "9,95"}),
        *row(310, "99", "Прибыли", {1160: "118,00", 1480: "8,99"}),
        *line(370, **{"99.01.1": 100, "Прибыли_по": 300}),
        *line(405, деятельности_с=300),
        *line(440, основной_системой=300),
        *line(560, Главный_бухгалтер=100),
    ]

    grid = find(marks)

    assert grid is not None
    names = [slot.text for slot in fill(grid, marks).slots if slot.span.column == 1]
    assert names == [
        "Наименование", "Выручка", "Выручка по деятельности с основной системой", "Прочие",
        "Прибыли", "Прибыли по деятельности с основной системой",
    ]  # fmt: skip


def test_a_name_runs_on_below_its_code_where_both_share_a_column():
    marks = [
        *line(0, Счет=100, Дебет=980, Кредит=1240),
        *line(60, **{"90.01.1,_Выручка_по": 100}),
        *line(95, деятельности_с=100),
        *row(155, "91,_Прочие", "", {1160: "132,55", 1480: "9,95"}),
        *row(215, "99,_Прибыли", "", {1160: "118,00", 1480: "8,99"}),
    ]
    marks = [mark for mark in marks if mark.text]

    grid = find(marks)

    assert grid is not None
    labels = [slot.text for slot in fill(grid, marks).slots if slot.span.column == 0]
    assert labels == ["Счет", "90.01.1, Выручка по деятельности с", "91, Прочие", "99, Прибыли"]
