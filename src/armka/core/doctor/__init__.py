"""The doctor: what must always be true of database, broker and object store, looked at afresh.

It reads and never mends. A check is a question whose right answer is *nothing*: every row or object
it finds has drifted from what the loops promise, and the finding says what to do. The checks of the
database are the named statements of `queries.sql`, each with its story beside it. Each runs alone
in a read-only transaction with a short statement timeout, and looks at a bounded part of the big
tables: the newest rows, and those that an index of open work holds.
"""
