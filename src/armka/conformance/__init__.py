"""The scenarios of the exchange, written once, for any core and either transport; in `service/`,
the checks of any recognition service; in `report/`, how either tells what it found.

A scenario is data and a check. The data say what it proves (the requirements' ids, the
specification's own titles) and what it needs: settings of the core under test, and powers that only
an operator has, such as stopping a server. The check sees the contract's surface and nothing
behind it: the tables by SQL, the subjects by NATS, the objects by S3. It raises a
`Nonconformance`, which says what was sent, what was expected and what was seen.

- `scenario`   - a scenario, its demands and powers
- `target`     - the core under test, and what may be done with it
- `surface`    - what a check sees and does; `rows`, `wire` and `findings` are its parts
- `scenarios/` - the checks; `catalogue` lists them all
- `runner`     - runs them: a scenario passes, fails, or does not apply, with the reason

Checks tolerate other rows in the database and other messages on the wire, so that many run against
one core. What a scenario inserts stays there.
"""
