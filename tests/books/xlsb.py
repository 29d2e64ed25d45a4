"""Sheets to XLSB, record by record: no library writes files that the usual readers read whole."""

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.books.sheets import CellValue, Look, Sheet

_ZIP_DATE = (2025, 1, 1, 0, 0, 0)
_FIRST_OWN_FORMAT = 50  # as 1С numbers them
_TYPES = "application/vnd.ms-excel"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def write(
    path: Path, sheets: list[Sheet], *, short_records: bool = False, shared_strings: bool = True
) -> None:
    """Write a workbook, the same bytes each time.

    `short_records`: cells right beside the one before them take the forms 12-18, which have no
    column. `shared_strings`: texts stand in a table of their own, as Excel writes them; else in the
    cells.
    """
    styles = _Styles(sheets)
    strings: dict[str, int] | None = {} if shared_strings else None
    parts = {
        f"xl/worksheets/sheet{index}.bin": _sheet(sheet, styles, strings, short=short_records)
        for index, sheet in enumerate(sheets, 1)
    }
    parts["xl/workbook.bin"] = _workbook(sheets)
    parts["xl/styles.bin"] = styles.part()
    if strings is not None:
        parts["xl/sharedStrings.bin"] = _strings(strings)
    parts["[Content_Types].xml"] = _content_types(list(parts)).encode()
    parts["_rels/.rels"] = _relationships([("rId1", "officeDocument", "xl/workbook.bin")]).encode()
    parts["xl/_rels/workbook.bin.rels"] = _relationships(list(_targets(parts))).encode()
    with zipfile.ZipFile(path, "w") as package:
        for name, body in parts.items():
            package.writestr(zipfile.ZipInfo(name, _ZIP_DATE), body, zipfile.ZIP_DEFLATED)


def record(kind: int, data: bytes = b"") -> bytes:
    """One record: its id and length in 7 bits a byte, then its data."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(data)
    length = bytearray()
    while size >= 128:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return head + bytes(length) + data


def _text(text: str) -> bytes:
    encoded = text.encode("utf-16-le")
    return struct.pack("<I", len(encoded) // 2) + encoded


class _Styles:
    """The cell formats that the sheets use: format 0 is plain, the others as they come."""

    def __init__(self, sheets: list[Sheet]) -> None:
        self.looks = {Look(): 0}
        for sheet in sheets:
            for _, look in sheet.cells.values():
                self.looks.setdefault(look, len(self.looks))
        codes = dict.fromkeys(
            look.number_format for look in self.looks if look.number_format != "General"
        )
        self._formats = {
            "General": 0,
            **{code: _FIRST_OWN_FORMAT + index for index, code in enumerate(codes)},
        }

    def part(self) -> bytes:
        own = [(code, number) for code, number in self._formats.items() if number]
        formats = b"".join(
            record(44, struct.pack("<H", number) + _text(code)) for code, number in own
        )
        fonts = b"".join(
            self._font(bold=bold, italic=italic) for bold in (0, 1) for italic in (0, 1)
        )
        cells = b"".join(self._cell(look) for look in self.looks)
        plain = record(47, struct.pack("<HHHHHBBI", 0xFFFF, 0, 0, 0, 0, 0, 0, 0x1020))
        return b"".join(
            [
                record(278),
                record(615, struct.pack("<I", len(own))) + formats + record(616),
                record(611, struct.pack("<I", 4)) + fonts + record(612),
                record(603, struct.pack("<I", 1)) + record(45, _fill()) + record(604),
                record(613, struct.pack("<I", 1)) + record(46, bytes(51)) + record(614),
                record(626, struct.pack("<I", 1)) + plain + record(627),
                record(617, struct.pack("<I", len(self.looks))) + cells + record(618),
                record(279),
            ]
        )

    @staticmethod
    def _font(*, bold: int, italic: int) -> bytes:
        weight = 700 if bold else 400
        head = struct.pack("<HHHHBBBB", 200, 2 * italic, weight, 0, 0, 0, 0, 0)
        return record(43, head + bytes([7, 1, 0, 0, 0, 0, 0, 255, 2]) + _text("Arial"))

    def _cell(self, look: Look) -> bytes:
        font = 2 * look.bold + look.italic
        number_format = self._formats[look.number_format]
        return record(
            47, struct.pack("<HHHHHBBI", 0, number_format, font, 0, 0, 0, look.indent, 0x1020)
        )


def _fill() -> bytes:
    colours = bytes([3, 64, 0, 0, 0, 0, 0, 255, 3, 65, 0, 0, 255, 255, 255, 255])
    return bytes(4) + colours + bytes(4) + bytes(40)


def _sheet(sheet: Sheet, styles: _Styles, strings: dict[str, int] | None, *, short: bool) -> bytes:
    rows = sheet.rows()
    last_row = max(rows, default=0)
    last_column = max((column for _, column in sheet.cells), default=0)
    parts = [record(129), record(148, struct.pack("<4I", 0, last_row, 0, last_column)), record(145)]
    for row, cells in rows.items():
        level = sheet.levels.get(row, 0) | (0x10 if row in sheet.hidden_rows else 0)
        look = struct.pack("<IIHBBBI", row, 0, 300, 0, level, 0, 1)
        parts.append(record(0, look + struct.pack("<II", 0, last_column)))
        before = -2
        for column, value, cell_look in cells:
            follows = short and column == before + 1
            parts.append(_cell(column, value, styles.looks[cell_look], strings, follows=follows))
            before = column
    parts.append(record(146))
    parts.extend(_merges(sheet))
    return b"".join([*parts, record(130)])


def _cell(
    column: int, value: CellValue, style: int, strings: dict[str, int] | None, *, follows: bool
) -> bytes:
    """One cell; the short forms have the ids of the long ones and eleven more, and no column."""
    where = struct.pack("<I", style) if follows else struct.pack("<II", column, style)
    more = 11 if follows else 0
    if isinstance(value, bool):
        return record(4 + more, where + bytes([value]))
    if isinstance(value, int) and -(2**29) <= value < 2**29:
        return record(2 + more, where + struct.pack("<i", value << 2 | 2))
    if isinstance(value, str):
        if strings is None:
            return record(6 + more, where + _text(value))
        return record(7 + more, where + struct.pack("<I", strings.setdefault(value, len(strings))))
    return record(5 + more, where + struct.pack("<d", value))


def _merges(sheet: Sheet) -> Iterator[bytes]:
    if sheet.merges:
        yield record(177, struct.pack("<I", len(sheet.merges)))
        for row, column, last_row, last_column in sheet.merges:
            yield record(176, struct.pack("<4I", row, last_row, column, last_column))
        yield record(178)


def _workbook(sheets: list[Sheet]) -> bytes:
    listed = [
        record(
            156,
            struct.pack("<II", 1 if sheet.hidden else 0, index)
            + _text(f"rId{index}")
            + _text(sheet.name),
        )
        for index, sheet in enumerate(sheets, 1)
    ]
    return b"".join([record(131), record(143), *listed, record(144), record(132)])


def _strings(strings: dict[str, int]) -> bytes:
    items = b"".join(record(19, b"\0" + _text(text)) for text in strings)
    return record(159, struct.pack("<II", len(strings), len(strings))) + items + record(160)


def _targets(parts: dict[str, bytes]) -> Iterator[tuple[str, str, str]]:
    sheets = [name for name in parts if name.startswith("xl/worksheets/")]
    for index, name in enumerate(sheets, 1):
        yield f"rId{index}", "worksheet", name.removeprefix("xl/")
    yield f"rId{len(sheets) + 1}", "styles", "styles.bin"
    if "xl/sharedStrings.bin" in parts:
        yield f"rId{len(sheets) + 2}", "sharedStrings", "sharedStrings.bin"


def _relationships(targets: list[tuple[str, str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{own}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for own, kind, target in targets
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _content_types(parts: list[str]) -> str:
    kinds = {"worksheets/": "worksheet", "styles": "styles", "sharedStrings": "sharedStrings"}
    overrides = "".join(
        f'<Override PartName="/{part}" ContentType="{_TYPES}.{kind}"/>'
        for part in parts
        for start, kind in kinds.items()
        if part.startswith(f"xl/{start}")
    )
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="bin" ContentType="{_TYPES}.sheet.binary.macroEnabled.main"/>'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{overrides}</Types>"
    )
