"""«Распознать ещё раз» after corrections, as an analyst meets it."""

import pytest
from playwright.async_api import Browser, expect

from tests.console.chromium import ROOT, Window
from tests.console.conftest import NAME, PASSWORD
from tests.console.test_documents import LOOKS, _assert_accessible
from tests.world import CoreProcess, World

UNREADABLE = ROOT / "samples/Луговое - нечитаемая сумма.xls"

# What the corrections route leaves of one typed value.
CORRECT = """
async ([file, token]) => {
    const path = `/api/v1/files/${file}/documents/1`;
    const seen = await fetch(path);
    const lines = await (await fetch(`${path}/lines?problems=true`)).json();
    const [line] = lines.items.filter((one) => one.unknown.length);
    const field = line.unknown[0].column;
    const answer = await fetch(`${path}/corrections`, {
        method: "POST",
        headers: {
            "If-Match": seen.headers.get("ETag"),
            "X-Form-Token": token,
            "Content-Type": "application/json",
        },
        body: JSON.stringify({ corrections: [{ line: line.n, field, value: "123,45" }] }),
    });
    return answer.status;
}
"""


@pytest.mark.usefixtures("parser")
async def test_a_correction_is_carried_over_to_a_new_attempt(
    window: Window, world: World, browser: Browser, core: CoreProcess, axe: str
) -> None:
    """Corrected, read again, offered, ticked, carried over; also on a phone and in the dark."""
    page = window.page
    await page.locator("#picker").set_input_files(UNREADABLE)
    status = page.locator("tbody tr[data-mark] .status")
    await expect(status).to_have_text("нужна проверка")
    file_id = str(await world.db.fetchval("select id from stored_file"))
    token = await page.locator("body").get_attribute("data-form-token")
    assert await page.evaluate(CORRECT, [file_id, token]) == 200
    await page.goto(f"{window.url}/console/files/{file_id}")
    await page.get_by_role("button", name="Распознать ещё раз").click()
    compare = page.get_by_role("link", name="Сравнить с прежней попыткой")
    await expect(compare).to_be_visible()
    await compare.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Попытка 2 против попытки 1")
    await expect(page.locator("[data-carry]")).to_contain_text("можно перенести")
    for look in (LOOKS[0], LOOKS[2]):
        other = await Window.opened(browser, core.url, **look)
        await other.sign_in(NAME, PASSWORD)
        await other.page.goto(f"{core.url}/console/files/{file_id}/changes")
        await _assert_accessible(other.page, axe)
        await other.context.close()
    await expect(page.locator("[data-carry] input")).to_be_checked()
    await page.get_by_role("button", name="Перенести отмеченное").click()
    await expect(page.locator("[data-carry]")).to_contain_text("уже так")
    carried = "select made_by from osv_correction where origin = 'carried_over'"
    assert await world.db.fetchval(carried) == NAME
