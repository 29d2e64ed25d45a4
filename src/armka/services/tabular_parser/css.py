"""What style sheets and `style` attributes of a saved page say of cells: no cascade, no layout."""

import re
from collections.abc import Mapping

from armka.osv.grid import Style
from armka.services.tabular_parser.builtin_formats import named_format
from armka.services.tabular_parser.colours import is_red

_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_LAST_CLASS = re.compile(r"\.([\w-]+)\s*$")
_DECLARATION = re.compile(r"""([\w-]+)\s*:\s*((?:"[^"]*"|'[^']*'|\\.|[^;"'\\])*)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{4}) ?|(.))", re.DOTALL)
_LENGTH = re.compile(r"([0-9]{1,4}(?:\.[0-9]+)?)\s*(px|pt)")
_PIXELS_A_STEP = 9
_PIXELS_A_POINT = 4 / 3

Declarations = Mapping[str, str]


def classes_of(sheet: str) -> dict[str, dict[str, str]]:
    """What a style sheet declares for each class (`tr.R0 td.R0C1`, `.xl65`: the last one named)."""
    classes: dict[str, dict[str, str]] = {}
    for selectors, body in _RULE.findall(sheet):
        for selector in selectors.split(","):
            found = _LAST_CLASS.search(selector)
            if found:
                classes.setdefault(found.group(1), {}).update(declarations(body))
    return classes


def declarations(text: str) -> dict[str, str]:
    """Properties by name, in lower case."""
    return {name.lower(): value.strip() for name, value in _DECLARATION.findall(text)}


def style_of(declared: Declarations, *, bold: bool, italic: bool, red: bool) -> Style:
    """The look that declarations and tags give together."""
    return Style(
        number_format=_number_format(declared.get("mso-number-format", "")),
        bold=bold or declared.get("font-weight", "") in ("bold", "bolder", "600", "700"),
        italic=italic or declared.get("font-style", "") in ("italic", "oblique"),
        indent=_indent(declared),
        red=red or is_red(declared.get("color", "")),
    )


def is_hidden(declared: Declarations) -> bool:
    """Whether nothing is shown."""
    return declared.get("display") == "none" or declared.get("visibility") == "hidden"


def level_of(declared: Declarations) -> int:
    """The outline level of a row."""
    level = declared.get("mso-outline-level", "0")
    return min(int(level), 7) if level.isascii() and level.isdigit() and len(level) < 3 else 0


def _number_format(text: str) -> str:
    return named_format(_ESCAPE.sub(_escaped, text.strip("\"'"))) or "General"


def _escaped(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else character or ""


def _indent(declared: Declarations) -> int:
    """In steps: 1С writes pixels or points, Excel a count beside them."""
    count = declared.get("mso-char-indent-count", "")
    if count.isascii() and count.isdigit() and len(count) < 4:
        return int(count)
    found = _LENGTH.match(declared.get("padding-left", "") or declared.get("text-indent", ""))
    if found is None:
        return 0
    pixels = float(found.group(1)) * (_PIXELS_A_POINT if found.group(2) == "pt" else 1)
    return int(pixels / _PIXELS_A_STEP)
