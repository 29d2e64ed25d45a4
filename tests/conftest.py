"""Fixtures for every test: see `openbao.py`, `servers.py` and `world.py`."""

pytest_plugins = ["tests.servers", "tests.openbao", "tests.world"]
