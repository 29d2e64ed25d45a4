"""One document: its source beside its lines, corrected and confirmed as analysts do it."""

import json

import pytest
from playwright.async_api import Browser, Page, expect

from armka.core.identity.passwords import Passwords
from tests.console.chromium import ROOT, Window
from tests.console.conftest import NAME, PASSWORD
from tests.console.test_documents import LOOKS, _assert_accessible
from tests.http.test_review import lines, reviewed, scanned
from tests.mapping.results import check, line
from tests.world import CoreProcess, World

HEADER = {"shape": "pairs", "rows": [7, 8], "label": "A", "name": "B"}
SOURCE = {"sheet": "TDSheet", "header": HEADER}


def cell(page: Page, at: str):
    return page.locator(f'[data-cell="{at}"]')


async def opened(window: Window, world: World, **fields: object) -> Page:
    """The page of a document that was read as `lines` are."""
    file_id = await reviewed(world, **{"source": SOURCE} | fields)
    await window.page.goto(f"{window.url}/console/documents/{file_id}/1")
    return window.page


@pytest.mark.usefixtures("parser")
async def test_a_document_is_uploaded_corrected_confirmed_and_saved(window: Window) -> None:
    """From the file that does not add up to the workbook that says what was corrected."""
    page = window.page
    await page.locator("#picker").set_input_files(
        ROOT / "samples/Два берега - ОСВ не сходится.xlsx"
    )
    row = page.locator("tbody tr[data-mark]")
    await expect(row.locator(".status")).to_have_text("нужна проверка")
    await row.get_by_role("link", name="Два берега").click()
    await page.locator(".checks a", has_text="R1").first.click()
    chosen = page.locator(".lines .chosen")
    await expect(chosen).to_have_class(r"num failed-error chosen")
    await expect(page.locator(".grid .chosen")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.keyboard.type("1 234,56")
    await page.keyboard.press("Enter")
    await expect(page.locator(".lines .corrected")).to_contain_text("1 234,56 (исправлено)")
    await page.get_by_role("button", name="Подтвердить…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Всё равно подтвердить").click()
    await expect(dialog).to_be_visible()
    await dialog.get_by_label("Причина").fill("клиент объяснил письмом")
    await dialog.get_by_role("button", name="Всё равно подтвердить").click()
    await expect(page.locator(".facts .status")).to_have_text("готов")
    await expect(page.locator(".word")).to_contain_text(f"Подтверждено: {NAME}")
    await page.locator(".head summary").click()
    async with page.expect_download() as saved:
        await page.get_by_role("link", name="Строки таблицей (CSV)").click()
    text = (await (await saved.value).path()).read_text(encoding="utf-8-sig")
    assert "1234,56" in text
    assert f"({NAME})" in text
    await page.get_by_role("button", name="Открыть снова…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Открыть снова").click()
    await expect(page.locator(".facts .status")).to_have_text("нужна проверка")


async def test_a_value_leads_to_where_it_was_read_and_back_by_keys_alone(
    window: Window, world: World
) -> None:
    """F8 finds what needs an eye, A takes a proposal, Tab goes on, Esc leaves all as it was."""
    page = await opened(window, world)
    await page.keyboard.press("F8")
    unknown = cell(page, "3-turnover_debit")
    await expect(unknown).to_be_focused()
    await expect(page.locator('[data-at="3-turnover_debit"]')).to_have_class("num chosen")
    await expect(page.locator("#inspector output")).to_contain_text("прочитано в E11")
    await page.keyboard.press("s")
    await expect(page.locator('[data-at="3-turnover_debit"]')).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(cell(page, "2-turnover_debit")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("a")
    await expect(unknown).to_have_text("20,00 (исправлено)")
    await expect(page.locator("#said")).to_have_text("Сохранено. Проблем не осталось.")
    await expect(unknown).to_be_focused()
    await page.keyboard.type("7,123")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("alert")).to_have_text(
        "Это можно прочесть двояко: напишите 1234 или 1,2340."
    )
    await page.keyboard.press("Escape")
    await expect(unknown).to_have_text("20,00 (исправлено)")
    await page.keyboard.type("21")
    await page.keyboard.press("Tab")
    await expect(cell(page, "3-turnover_credit")).to_be_focused()
    await expect(page.locator(".checks li")).to_have_count(2)
    await expect(unknown).to_have_class("num corrected")
    await page.reload()
    await expect(cell(page, "3-turnover_credit")).to_have_class("num chosen")


async def test_what_nobody_can_guess_is_shown_as_it_stood(window: Window, world: World) -> None:
    """A value that was not read, without a proposal: typed, it is known."""
    vague = {"column": "turnover_debit", "raw": "7*4,?1"}
    told = [line(1, account="51", values=[None] * 6, unknown=[vague], row=9)]
    page = await opened(window, world, lines=told)
    unread = cell(page, "1-turnover_debit")
    await expect(unread).to_have_text("не прочитано: 7*4,?1")
    await page.keyboard.press("F8")
    await expect(unread).to_be_focused()
    await page.keyboard.press("a")
    await page.keyboard.type("704,51")
    await page.keyboard.press("Enter")
    await expect(unread).to_have_text("704,51 (исправлено)")


async def test_what_was_unfolded_stays_so_and_full_when_the_page_renews_itself(
    window: Window, world: World
) -> None:
    """A correction changes nothing of what is open beside it."""
    file_id = await reviewed(world, source=SOURCE)
    await world.db.execute("update stored_file set client_ref = '7' where id = $1", file_id)
    page = window.page
    await page.goto(f"{window.url}/console/documents/{file_id}/1")
    fallback = page.locator(".goes-on").get_by_role("link", name="Сравнить с соседними")
    await page.locator(".goes-on > summary").click()
    await expect(fallback).to_have_count(0)
    await cell(page, "1-opening_debit").dblclick()
    await page.keyboard.type("222")
    await page.keyboard.press("Enter")
    await expect(cell(page, "1-opening_debit")).to_contain_text("222,00 (исправлено)")
    await expect(page.locator(".goes-on .card")).to_be_visible()
    await expect(fallback).to_have_count(0)


async def test_of_two_editors_the_slower_one_sees_what_the_other_did(
    window: Window, world: World, browser: Browser, core: CoreProcess
) -> None:
    """What was typed is not lost; a change of others appears by itself, and folds nothing up."""
    await world.db.execute(
        "insert into user_account (name, roles, password_hash) values ('petrov', '{analyst}', $1)",
        await Passwords().hash(PASSWORD, "petrov"),
    )
    mine = await opened(window, world)
    other = await Window.opened(browser, core.url)
    await other.sign_in("petrov", PASSWORD)
    await other.page.goto(mine.url)
    await cell(mine, "1-opening_debit").dblclick()
    await mine.keyboard.type("111")
    await cell(other.page, "1-opening_debit").dblclick()
    await other.page.keyboard.type("222")
    await other.page.keyboard.press("Enter")
    await expect(cell(other.page, "1-opening_debit")).to_contain_text("222,00")
    await mine.keyboard.press("Enter")
    dialog = mine.get_by_role("dialog")
    await expect(dialog).to_contain_text("сальдо на начало, дебет: 100.00 → 222.00 (petrov)")
    await expect(dialog.locator("[data-typed]")).to_have_text("111")
    await other.page.locator(".head summary").click()
    await dialog.get_by_role("button", name="Сохранить моё").click()
    await expect(cell(mine, "1-opening_debit")).to_contain_text("111,00")
    await expect(cell(other.page, "1-opening_debit")).to_contain_text("111,00")
    await expect(other.page.get_by_role("link", name="Строки таблицей (CSV)")).to_be_visible()
    await other.context.close()


async def test_lines_are_found_and_addresses_say_which(window: Window, world: World) -> None:
    """Filters are in the address; of ten thousand lines a page shows a hundred."""
    many = [
        line(n, account=f"76.{n:05d}", name=f"Договор {n}", row=n + 8, level=0)
        for n in range(1, 10_001)
    ]
    page = await opened(window, world, lines=many, checks=[check("error", lines=[7000])])
    await expect(page.locator(".lines tbody tr")).to_have_count(100)
    await expect(page.locator(".turn")).to_contain_text("строки 1–100 из 10")
    await page.keyboard.press("F8")
    await expect(cell(page, "7000-opening_debit")).to_be_focused()
    await page.get_by_label("В счёте или названии есть").fill("Договор 50")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**text=*")
    await expect(page.locator(".lines tbody tr")).to_have_count(100)
    await page.get_by_label("только проблемы").check()
    await page.get_by_role("button", name="Показать", exact=True).click()
    await expect(page.locator(".pane .nothing").last).to_contain_text("Таких строк нет")


async def test_a_scanned_page_shows_its_words_and_the_box_of_a_value(
    window: Window, world: World
) -> None:
    word = {"text": "Итого", "box": [100, 50, 300, 100], "confidence": 0.8}
    page_ = {"number": 1, "width": 1000, "height": 500, "words": [word]}
    file_id = await scanned(world, json.dumps({"pages": [page_]}).encode())
    page = window.page
    await page.goto(f"{window.url}/console/documents/{file_id}/1")
    await expect(page.locator(".paper text")).to_have_text("Итого")
    await cell(page, "1-opening_debit").click()
    box = page.locator('rect[data-at="1-opening_debit"]')
    await expect(box).to_have_class("chosen")
    await expect(page.locator("#inspector output")).to_contain_text("уверенность 90%")
    await page.locator('rect[data-at="1-turnover_debit"]').click()
    await expect(cell(page, "1-turnover_debit")).to_be_focused()


async def test_who_may_not_correct_may_look(
    window: Window, world: World, browser: Browser, core: CoreProcess
) -> None:
    await world.db.execute(
        "insert into user_account (name, roles, password_hash) values ('op', '{operator}', $1)",
        await Passwords().hash(PASSWORD, "op"),
    )
    await opened(window, world)
    other = await Window.opened(browser, core.url)
    await other.sign_in("op", PASSWORD)
    await other.page.goto(window.page.url)
    await cell(other.page, "1-opening_debit").dblclick()
    await expect(other.page.locator(".lines input")).to_have_count(0)
    await expect(other.page.get_by_role("button", name="Подтвердить")).to_have_count(0)
    await other.context.close()


async def test_the_page_serves_everybody_on_every_screen(
    browser: Browser, core: CoreProcess, world: World, axe: str
) -> None:
    """No serious finding of axe; nothing wider than the window; tabs on a phone."""
    told = [check("error", rule="R3", lines=[1, 2, 3], column="turnover_debit")]
    long = [line(1, name="Н" * 80, account="60", row=9, values=lines()[0]["values"]), *lines()[1:]]
    file_id = await reviewed(world, source=SOURCE, checks=told, lines=long)
    await world.db.execute("update stored_file set original_name = $1", f"{'О' * 76}.xlsx")
    for look in LOOKS:
        window = await Window.opened(browser, core.url, **look)
        await window.sign_in(NAME, PASSWORD)
        page = window.page
        await page.goto(f"{core.url}/console/documents/{file_id}/1")
        await cell(page, "3-turnover_debit").click()
        await _assert_accessible(page, axe)
        if await page.locator("#tab-source").is_visible():
            await page.locator("[data-to-source]").click()
            await expect(page.locator('[data-at="3-turnover_debit"]')).to_be_focused()
            await expect(page.locator("#pane-lines")).to_be_hidden()
            await _assert_accessible(page, axe)
        await page.locator("[data-open=confirm-dialog]").click()
        await _assert_accessible(page, axe)
        assert window.complaints == []
        await window.context.close()
