"""tabular-parser: trial balances (ОСВ) out of XLS, XLSX and XLSB.

- `sniff`          - what the bytes are, whatever the name says
- `zip_container`  - a workbook's zip, opened within limits
- `xls`, `xlsx`, `xlsb` - one reader a format; each hands over the same `armka.osv` grids
- `characters`     - texts without what JSON or a database would choke on
- `builtin_formats` - the number formats that have no text in a file
- `recognise`      - the handler: a file becomes documents, or a refusal that a person understands
"""

NAME = "tabular-parser"
VERSION = "0.1.0"
