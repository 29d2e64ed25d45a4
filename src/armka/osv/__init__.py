"""The trial balance (оборотно-сальдовая ведомость, ОСВ), pure: a grid of cells becomes checked
documents.

Nothing here does I/O or knows a file format. Readers of any kind (spreadsheets, recognised images)
hand over a `grid.Grid`; `trial_balance.read` answers with documents of the contract or says as an
exception what the grid is instead.

- `grid`          - what a reader hands over: rows of cells, their formats, outline, merges
- `number_format` - what a number format says about the number under it
- `amounts`       - a cell's value to an exact amount, or that it cannot be read; never a guess
- `accounts`      - account codes (счёт, субсчёт) as 1С writes them
- `wording`       - texts made comparable, and the words of a header
- `reports`       - which report a title announces, and the layout families
- `header`        - where the six amounts and the account stand
- `period`, `particulars` - what stands above the table: period, organisation, ИНН, unit, currency
- `body`          - the rows under a header, each with its kind
- `tree`          - which line belongs to which
- `checks`        - R1, R3, R4, R5 and what else must hold
- `trial_balance` - all of it together

Documents that were read off images:

- `pages`   - what a scanning system hands over: words, and tables of cells, with their boxes
- `lines`   - words by where they stand: lines of text, what is in a cell
- `misread` - texts that were meant as amounts, and what they may mean
- `smudged` - labels that an engine did not read quite right
- `paper`   - pages to one grid: tables that go on over pages, titles, what is unsure
- `scanned` - all of it together: each value with its page, box and confidence
"""
