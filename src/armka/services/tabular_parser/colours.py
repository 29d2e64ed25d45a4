"""Which colours a person calls red."""

import re

_HEX = re.compile(r"#?(?:[0-9a-f]{2})?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")


def is_red(colour: str) -> bool:
    """Whether a colour (`FFFF0000`, `#ff0000`, `red`) is a clear red."""
    name = colour.strip().lower()
    match = _HEX.fullmatch(name)
    if match is None:
        return name == "red"
    red, green, blue = (int(part, 16) for part in match.groups())
    return red >= 0xC0 and green <= 0x40 and blue <= 0x40
