"""What must hold in a trial balance, rule by rule (R1-R5, R7-R13); R6 needs several documents and
belongs to the core.

- `finding`     - a failure as the contract carries it, with its lines and cells
- `tolerance`   - how large a difference honest rounding explains
- `arithmetic`  - R1, R3, R4, R5: rows, trees, totals, double entry
- `bookkeeping` - R2, R7, R9: what an accountant would find odd
- `reading`     - R8, R10, R11, R12, R13: what was seen on the way, and who and when it is about
- `run`         - all of it together
"""
