"""The trial balance (оборотно-сальдовая ведомость, ОСВ), pure: a grid of cells becomes checked
documents.

Nothing here does I/O or knows a file format. Readers of any kind (spreadsheets, recognised images)
hand over a `grid.Grid`; `trial_balance.read` answers with documents of the contract or says as an
exception what the grid is instead.

- `grid`          - what a reader hands over: rows of cells, their formats, outline, merges
- `number_format` - what a number format says about the number under it
- `amounts`       - a cell's value to an exact amount, or that it cannot be read; never a guess
- `chart`         - the chart of accounts (94н), and the heads of other charts
- `accounts`      - account codes (счёт, субсчёт) as 1С writes them
- `wording`       - texts made comparable, and the words of a header
- `reports`       - which report a title announces, and the layout families
- `lookalikes`    - what a sheet is that is no trial balance
- `labels`, `labels_above`, `header` - what a column holds, by all that stands over it
- `period`, `particulars` - what stands above the table: period, organisation, ИНН, unit, currency
- `rows`, `bands` - a row of cells, sorted into the header's columns
- `body`, `analysis`, `one_sided` - the rows under a header, each an `entries.Entry` with its kind
- `tree`, `sums`  - which line belongs to which
- `checks`        - what must hold (R1-R5, R7-R13)
- `families`      - which layout family a table is of
- `provenance`    - where each value stood and how it was written
- `trial_balance` - all of it together

Documents that were read off images:

- `pages`   - what a scanning system hands over: words, and tables of cells, with their boxes
- `lines`   - words by where they stand: lines of text, what is in a cell
- `misread` - texts that were meant as amounts, and what they may mean
- `smudged` - labels that an engine did not read quite right
- `broken_words` - words that a narrow header breaks
- `paper`   - pages to one grid: tables that go on over pages, titles, what is unsure
- `scanned` - all of it together: each value with its page, box and confidence
"""
