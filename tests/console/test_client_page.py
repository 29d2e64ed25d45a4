"""The documents of a client in their order, on their page and on a document's own."""

from uuid import UUID

import pytest
from playwright.async_api import Browser, expect

from tests.console.chromium import ROOT, Window
from tests.console.conftest import NAME, PASSWORD
from tests.console.test_documents import LOOKS, _assert_accessible
from tests.world import CoreProcess, World

TWO_QUARTERS = ROOT / "samples/Берег, два квартала на двух листах.xlsx"


@pytest.mark.usefixtures("parser")
async def test_two_quarters_that_do_not_join_are_told_on_both_and_on_the_clients_page(
    window: Window, world: World, browser: Browser, core: CoreProcess, axe: str
) -> None:
    """Accounts and amounts by name; what is mapped, is compared; phone and dark are fit to use."""
    page = window.page
    await page.locator("#upload-client").fill("7-42")
    await page.locator("#picker").set_input_files(TWO_QUARTERS)
    row = page.locator("tbody tr[data-mark]")
    await expect(row.locator(".status")).to_have_text("готов")
    await row.get_by_role("link", name="7-42").click()
    await expect(page.get_by_role("heading", name="ООО «Берег»")).to_be_visible()
    await expect(page.locator(".order .warned")).to_have_count(2)
    await expect(page.locator(".sums")).to_contain_text("Амортизация основных средств")
    await page.locator(".order .name").first.click()
    await expect(page.locator(".joint summary .warned")).to_have_count(2)
    file_id: UUID = await world.db.fetchval("select id from stored_file")
    await page.goto(f"{core.url}/console/documents/{file_id}/1")
    await page.locator(".goes-on > summary").click()
    await expect(page.locator(".goes-on .joint summary .warned")).to_have_count(1)
    for look in (LOOKS[0], LOOKS[2]):
        other = await Window.opened(browser, core.url, **look)
        await other.sign_in(NAME, PASSWORD)
        for path in ("clients?ref=7-42", "clients?ref=7", f"files/{file_id}"):
            await other.page.goto(f"{core.url}/console/{path}")
            if path.startswith("files"):
                await expect(other.page.locator(".joint")).to_have_count(2)
            await _assert_accessible(other.page, axe)
        await other.context.close()
