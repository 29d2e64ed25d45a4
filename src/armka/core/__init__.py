"""The core: HTTP API and background loops over PostgreSQL.

The database is the only truth; the loops (`outbox`, `inbox`, `watchdog`, `mapping`) meet only
there. `assembly` is the one place that joins the parts.
"""
