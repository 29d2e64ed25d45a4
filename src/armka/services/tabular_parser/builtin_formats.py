"""Number formats that a file names by number only. Those that differ by country (27-36, 50-58) are
left out: 1С defines its own under these numbers, and where a file defines none they are no dates in
a Russian office.
"""

BUILTIN_FORMATS = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "#,##0_);(#,##0)",
    6: "#,##0_);[Red](#,##0)",
    7: "#,##0.00_);(#,##0.00)",
    8: "#,##0.00_);[Red](#,##0.00)",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "mm-dd-yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);[Red](#,##0.00)",
    41: "#,##0_);(#,##0)",
    42: "#,##0_);(#,##0)",
    43: "#,##0.00_);(#,##0.00)",
    44: "#,##0.00_);(#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mmss.0",
    48: "##0.0E+0",
    49: "@",
}


def format_code(number: int, own: dict[int, str]) -> str:
    """The format's text: the file's own definition first, whatever its number."""
    return own.get(number) or BUILTIN_FORMATS.get(number, "General")


# What pages and SpreadsheetML call some formats.
_NAMED = {
    "": "General",
    "General Number": "General",
    "Fixed": "0.00",
    "Standard": "#,##0.00",
    "Currency": "#,##0.00",
    "Euro Currency": "#,##0.00",
    "Percent": "0.00%",
    "Scientific": "0.00E+00",
    "General Date": "dd.mm.yyyy hh:mm",
    "Short Date": "dd.mm.yyyy",
    "Medium Date": "dd-mmm-yy",
    "Long Date": "d mmmm yyyy",
    "Short Time": "hh:mm",
    "Medium Time": "hh:mm AM/PM",
    "Long Time": "hh:mm:ss",
}


def named_format(name: str) -> str:
    """The format's text where it is given by name; any other text is one itself."""
    return _NAMED.get(name, name)
