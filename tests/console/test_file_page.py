"""One file in the console: its timeline, what to do about its error, its attempts."""

from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, expect

from tests.console.chromium import ROOT, Window
from tests.console.conftest import NAME, PASSWORD
from tests.console.test_documents import LOOKS, _assert_accessible
from tests.world import CoreProcess, World


async def _failed(world: World, code: str = "TIMEOUT", **columns: Any) -> UUID:
    job = await world.job(status="timeout", error_code=code, finished_at=None, **columns)
    file_id: UUID = (await world.row(job))["stored_file_id"]
    name = f"Оборотно-сальдовая-ведомость-{'без-единого-пробела-' * 3}за-2023.xlsx"
    await world.db.execute(
        "update stored_file set status = 'ERROR', error_code = $2, original_name = $3, "
        "error_message = 'nobody answered' where id = $1",
        file_id, code, name,
    )  # fmt: skip
    return file_id


@pytest.mark.usefixtures("parser")
async def test_a_document_tells_its_story_while_it_happens(window: Window) -> None:
    """From the list to its page; the page follows a new attempt to its end by itself."""
    page = window.page
    await page.locator("#picker").set_input_files(
        ROOT / "samples/Два берега - ОСВ не сходится.xlsx"
    )
    row = page.locator("tbody tr[data-mark]")
    await expect(row.locator(".status")).to_have_text("нужна проверка")
    await row.locator("summary").click()
    await row.get_by_role("link", name="Что с ним происходило").click()
    line = page.locator(".timeline")
    await expect(line).to_contain_text(f"Загрузил(а) {NAME}")
    await expect(line).to_contain_text("Взят в работу: tabular-parser")
    await expect(line).to_contain_text("Не сошлась проверка R1")
    await page.get_by_role("button", name="Распознать ещё раз").click()
    await expect(line).to_contain_text(f"Попытка 2: распознать ещё раз попросил(а) {NAME}")
    await expect(page.locator(".attempts > li")).to_have_count(2)
    await expect(page.locator(".attempts .current")).to_contain_text("69 строк")
    await expect(page.locator(".titled .status")).to_have_text("нужна проверка")


async def test_an_error_says_what_to_do(window: Window, world: World) -> None:
    """What happened, what to do next, whether to try again; details where they are asked for."""
    file_id = await _failed(world)
    page = window.page
    await page.goto(f"{window.url}/console/files/{file_id}")
    advice = page.locator(".advice")
    await expect(advice.get_by_role("heading")).to_have_text("Распознавание длилось слишком долго.")
    await expect(advice).to_contain_text("Что делать: Распознайте ещё раз.")
    await expect(page.get_by_text("nobody answered").first).to_be_hidden()
    await advice.get_by_text("Подробности").click()
    await expect(advice.get_by_text("nobody answered")).to_be_visible()
    await expect(page.locator(".primary", has_text="Распознать ещё раз")).to_be_visible()
    await world.db.execute(
        "update stored_file set error_code = 'INVALID_FORMAT' where id = $1", file_id
    )
    await expect(advice.get_by_role("heading")).to_have_text("Файл повреждён или защищён паролем.")
    await expect(page.locator(".primary", has_text="Распознать ещё раз")).to_have_count(0)


async def test_a_document_is_withdrawn_with_a_reason_and_brought_back(
    window: Window, world: World
) -> None:
    """By keys alone; the page tells it at once, the list forgets it meanwhile."""
    file_id = await _failed(world)
    page = window.page
    await page.goto(f"{window.url}/console/files/{file_id}")
    await page.locator(".doing summary").focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.type("не тот клиент")
    await page.keyboard.press("Enter")
    await expect(page.locator(".timeline")).to_contain_text(f"Отозвал(а) {NAME}: не тот клиент")
    await page.get_by_role("button", name="Вернуть").click()
    await expect(page.locator(".timeline")).to_contain_text(f"Вернул(а) {NAME}")


async def test_a_file_that_is_not_there_is_a_page(window: Window) -> None:
    """Whether the address names nothing or is none."""
    for address in ("00000000-0000-0000-0000-000000000000", "x"):
        await window.page.goto(f"{window.url}/console/files/{address}")
        await expect(window.page.locator("h1")).to_be_visible()
        assert "пошло не так" not in await window.page.locator("h1").inner_text()


@pytest.mark.parametrize("look", LOOKS[:3:2])
async def test_it_is_accessible_and_nothing_overflows(
    browser: Browser, core: CoreProcess, world: World, axe: str, look: dict[str, Any]
) -> None:
    """A phone, light and dark, in both languages, with a name that has no space in it."""
    file_id = await _failed(world, publish_count=3, last_published_at=None)
    await world.db.execute("update recognition_job set last_published_at = created_at")
    window = await Window.opened(browser, core.url, **look)
    await window.sign_in(NAME, PASSWORD)
    await window.page.goto(f"{core.url}/console/files/{file_id}")
    await window.page.locator(".doing summary").click()
    await _assert_accessible(window.page, axe)
    await window.context.close()
