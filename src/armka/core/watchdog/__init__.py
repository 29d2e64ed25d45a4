"""The watchdog: jobs whose deadline has passed end as `timeout` (W1).

Authoritative: the database's clock and the locked row. The statement names the statuses it may
leave and the deadline it acts on, and is evaluated again after a lock is had, so a result that
commits first stays. A row that somebody holds is skipped: whoever holds it is ending it, or the
next pass finds it.
"""
