"""PostgreSQL: the pool, transactions, named queries, notifications, migrations. The only home of
asyncpg in the core.
"""
