"""The outbox: queued jobs become requests on the wire (O1-O5).

Authoritative: the row. A job is `queued` until a live NATS connection has confirmed its request;
only then, in the same transaction that holds the row's lock, it becomes `published`. Assumed:
nothing about delivery. A service that took the request says so with `processing`; until then the
request is published again, with the same id and attempt, and after the last time the job ends in
`dlq`.

What a crash leaves behind at any point is a `queued` job (published once more: the service knows
the job and only acknowledges) or a `published` one without an answer (published again by age).
There is nothing to rescue.

The claim's transaction spans the publish burst, bounded by the publisher's own limit of 5 s; no
other loop does I/O inside a transaction. Replicas skip each other's rows.
"""
