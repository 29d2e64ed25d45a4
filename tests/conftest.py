"""Fixtures for every test: see `servers.py` and `world.py`."""

pytest_plugins = ["tests.servers", "tests.world"]
