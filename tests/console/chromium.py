"""A real browser: Debian's Chromium, driven by Playwright. Where there is none the tests say so."""

import os
import shutil
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Playwright, expect

from tests.needed import lacking
from tests.world import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
_UNPACKED = ROOT / ".venv/system"
MISSING = "there is no Chromium: `make system-deps` brings one"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def program() -> str | None:
    """Where the browser is: the machine's, or what `make system-deps` unpacked."""
    unpacked = _UNPACKED / "usr/lib/chromium/chromium"
    found = (shutil.which(name) for name in _NAMES)
    return next((path for path in found if path), str(unpacked) if unpacked.exists() else None)


async def launched(playwright: Playwright) -> Browser:
    """A browser that asks nothing of anybody but the pages it is sent to."""
    path = program()
    if path is None:
        lacking(MISSING)
    libraries = [*_UNPACKED.glob("usr/lib/*-linux-gnu"), *_UNPACKED.glob("usr/lib/*/pulseaudio")]
    env: dict[str, str | float | bool] = {"LD_LIBRARY_PATH": ":".join(map(str, libraries))}
    return await playwright.chromium.launch(
        executable_path=path,
        args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        env={**os.environ, **env},
    )


expect.set_options(timeout=PATIENCE_SECONDS * 1000)


class Window:
    """One person's window; it notes every request and every complaint of the browser."""

    def __init__(self, context: BrowserContext, page: Page, url: str) -> None:
        self.context = context
        self.page = page
        self.url = url
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._said)

    def _said(self, message: Any) -> None:
        # A refused request is told of in the page; that it was refused is no complaint.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    @classmethod
    async def opened(cls, browser: Browser, url: str, **options: Any) -> "Window":
        """A window of its own, as if on a machine of its own."""
        context = await browser.new_context(**({"locale": "ru-RU"} | options))
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        return cls(context, await context.new_page(), url)

    async def sign_in(self, name: str, password: str) -> None:
        """Sign in as a person does, and see the documents."""
        await self.page.goto(self.url)
        await (
            self.page.get_by_label("Имя", exact=True)
            .or_(self.page.get_by_label("Name", exact=True))
            .fill(name)
        )
        await self.page.locator("[name=password]").fill(password)
        await self.page.locator("form.stack button").click()
        await self.page.wait_for_url("**/console/documents*")
