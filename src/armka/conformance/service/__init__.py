"""The kit that judges a recognition service as a black box: it plays the core (ADR 0015).

The service speaks to the kit's NATS subjects and to the kit's S3, which stands before the real one.
So everything that it says and does passes through one process and has an order; checks judge by
that order, and hold a read or a write up where they ask what must not wait for it.

- `check`    - a check, its promises and needs; `checks/` - all of them; `catalogue` lists them
- `target`   - the service under test; `capabilities` - what it declares of itself
- `surface`  - what a check sees and does; `asked`, `wire`, `stream`, `proxy`, `process` and
  `journal` are its parts
- `documents`, `violations` - what is sent: files, and requests broken in every way of the schema
- `runner`   - runs checks: each passes, fails, or does not apply, with the reason
"""
