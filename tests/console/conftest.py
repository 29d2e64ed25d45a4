"""A core with its tabular parser, people who may come in, and a browser."""

from collections.abc import AsyncIterator
from importlib.resources import files

import pytest
from playwright.async_api import Browser, async_playwright

from armka.core.identity.passwords import Passwords
from tests.console import chromium
from tests.console.chromium import Window
from tests.needed import lacking
from tests.world import CoreProcess, World, service

NAME, PASSWORD = "ivanova", "a long enough word"


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A running browser."""
    if chromium.program() is None:
        lacking(chromium.MISSING)
    async with async_playwright() as playwright:
        made = await chromium.launched(playwright)
        try:
            yield made
        finally:
            await made.close()


@pytest.fixture
async def core(world: World) -> CoreProcess:
    """A core, and an analyst who may come in."""
    await world.db.execute(
        "insert into user_account (name, roles, password_hash) values ($1, '{analyst}', $2)",
        NAME,
        await Passwords().hash(PASSWORD, NAME),
    )
    return await world.core(SIGN_IN_REQUIRED=True)


@pytest.fixture
async def parser(world: World, core: CoreProcess) -> AsyncIterator[None]:
    """A recognition service."""
    async with service(world, "tabular-parser"):
        yield


@pytest.fixture
async def window(browser: Browser, core: CoreProcess) -> AsyncIterator[Window]:
    """The analyst's window, at the documents. Whatever happened, no request left the host."""
    made = await Window.opened(browser, core.url)
    await made.sign_in(NAME, PASSWORD)
    yield made
    await made.context.close()
    strays = [url for url in made.asked if not url.startswith((core.url, "data:", "blob:"))]
    assert strays == []
    assert made.complaints == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The rules of accessibility, as a program for the browser."""
    return (files("axe_playwright_python") / "axe.min.js").read_text()
