"""Documents in the console, as an analyst meets them: in a real browser, on real servers."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, expect

from armka.core.identity import secrecy
from tests.console.chromium import ROOT, Window
from tests.console.conftest import NAME, PASSWORD
from tests.console.replicas import round_robin
from tests.files import documents
from tests.world import CoreProcess, World, until

SAMPLES = ROOT / "samples"


async def _files(world: World, count: int, **columns: object) -> list[UUID]:
    """Files, a second apart, with these columns."""
    row = {"original_name": "ОСВ.xlsx", "file_type": "XLSX", "status": "DONE"} | columns
    names = ", ".join(row)
    places = ", ".join(f"${n}" for n in range(2, len(row) + 2))
    rows = await world.db.fetch(
        f"""with ids as materialized (
            select gen_random_uuid() as object, gen_random_uuid() as file, n
            from generate_series(1, $1::int) n
        ), o as (
            insert into s3_object (id, bucket, key, bucket_role)
            select object, 'arm-ka', 'uploads/' || file, 'uploads' from ids
        ) insert into stored_file (id, s3_object_id, created_at, {names})
        select file, object, now() - interval '1 second' * n, {places} from ids returning id""",
        count, *row.values(),
    )  # fmt: skip
    return [row["id"] for row in rows]


@pytest.mark.usefixtures("parser")
async def test_many_files_are_dropped_each_with_its_bar_and_read_before_ones_eyes(
    window: Window, tmp_path: Path
) -> None:
    """What is refused says why at once; what is accepted appears and comes to its end by itself."""
    page = window.page
    bad = tmp_path / "письмо.docx"
    bad.write_bytes(b"no workbook at all")
    good = sorted(SAMPLES.glob("*.xls*"))[:4]
    await page.locator("#picker").set_input_files([*good, bad])
    await expect(page.locator("#uploads li")).to_have_count(5)
    await expect(page.locator("#uploads progress")).to_have_count(5)
    await expect(page.locator("#uploads .refused")).to_contain_text("Распознаются только XLS")
    await expect(page.locator("#uploads .accepted")).to_have_count(4)
    await expect(page.locator("#sent output")).to_have_text(
        "Принято: 4, не принято: 1, осталось: 0"
    )
    await expect(page.locator("tbody tr[data-mark]")).to_have_count(4)
    over = page.locator("tbody .status.done, tbody .status.needs_check, tbody .status.error")
    await expect(over).to_have_count(4)
    await expect(page.locator("tbody")).to_contain_text(NAME)


async def test_a_drop_anywhere_on_the_page_is_an_upload(window: Window) -> None:
    """With the client that was told, under the name of who did it."""
    page = window.page
    await page.locator("#upload-client").fill("7-42")
    await page.evaluate(
        """(bytes) => {
            const carried = new DataTransfer();
            carried.items.add(new File([new Uint8Array(bytes)], "брошенный.xlsx"));
            for (const type of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(type, {
                    bubbles: true, cancelable: true, dataTransfer: carried,
                }));
        }""",
        list(documents.xlsx()),
    )
    row = page.locator("tbody tr", has_text="брошенный.xlsx")
    await expect(row).to_contain_text("7-42")
    await expect(row).to_contain_text(NAME)


async def test_a_search_lives_in_the_address(window: Window, world: World) -> None:
    """What is typed narrows the list and the address; back undoes it; a shared address shows it."""
    await _files(world, 2, original_name="Ромашка за 2023.xlsx", client_ref="77")
    await _files(world, 2, original_name="Ромашка за 2024.xlsx", status="ERROR", client_ref="77")
    await _files(world, 2, original_name="Василёк.xlsx")
    page = window.page
    await page.reload()
    rows = page.locator("tbody tr[data-mark]")
    await expect(rows).to_have_count(6)
    await page.get_by_label("Имя файла").fill("ромашка")
    await expect(rows).to_have_count(4)
    await page.get_by_label("Состояние").select_option(label="ошибка")
    await expect(rows).to_have_count(2)
    assert page.url.endswith("name=%D1%80%D0%BE%D0%BC%D0%B0%D1%88%D0%BA%D0%B0&status=ERROR")
    shared = await window.context.new_page()
    await shared.goto(page.url)
    await expect(shared.locator("tbody tr[data-mark]")).to_have_count(2)
    await expect(shared.get_by_label("Имя файла")).to_have_value("ромашка")
    await page.go_back()
    await expect(rows).to_have_count(4)
    await page.get_by_label("Имя файла").fill("такого нет")
    await expect(page.locator("#nothing")).to_be_visible()


async def test_a_search_by_organisation_and_period_finds_what_was_read(
    window: Window, world: World
) -> None:
    """The period of the trial balance, not the day of the upload."""
    for name, first, last in (
        ("ООО «Берег»", "2023-01-01", "2023-12-31"),
        ("ООО «Луг»", "2024-01-01", "2024-03-31"),
    ):
        job = await world.job(status="done")
        await world.db.execute(
            """insert into osv_document (stored_file_id, recognition_job_id, ordinal, kind,
                group_schema, title, unit, source, organisation_name, period_from, period_to)
            select stored_file_id, id, 1, 'OSV', 'accounts', 'ОСВ', 1, '{}', $2,
                $3::text::date, $4::text::date from recognition_job where id = $1""",
            job, name, first, last,
        )  # fmt: skip
    page, rows = window.page, window.page.locator("tbody tr[data-mark]")
    await page.goto(f"{window.url}/console/documents?organisation=берег")
    await expect(rows).to_have_count(1)
    await page.goto(f"{window.url}/console/documents?period_from=2023-12-31")
    await expect(rows).to_have_count(2)
    await page.goto(f"{window.url}/console/documents?period_from=2024-01-01&period_to=2024-12-31")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Луг")


async def test_the_list_goes_on_page_by_page(window: Window, world: World) -> None:
    """Fifty at a time, each once; without JavaScript the same link leads to the next page."""
    await _files(world, 120)
    page, rows = window.page, window.page.locator("tbody tr[data-mark]")
    await page.reload()
    await expect(rows).to_have_count(50)
    further = page.get_by_role("link", name="Показать ещё")
    address = await further.get_attribute("href")
    await further.click()
    await expect(rows).to_have_count(100)
    await further.click()
    await expect(rows).to_have_count(120)
    await expect(further).to_have_count(0)
    ids = await rows.evaluate_all("rows => rows.map((row) => row.id)")
    assert len(set(ids)) == 120
    await page.goto(f"{window.url}{address}")
    await expect(rows).to_have_count(50)
    assert await rows.first.get_attribute("id") == ids[50]


async def test_rows_stay_live_when_a_replica_is_killed(
    browser: Browser, core: CoreProcess, world: World
) -> None:
    """Two replicas behind one address: the page goes on where it was with the one that is left."""
    replicas = {made.url: made for made in (core, await world.core(SIGN_IN_REQUIRED=True))}
    [file_id] = await _files(world, 1, status="PROCESSING")
    async with round_robin(list(replicas)) as balancer:
        window = await Window.opened(browser, balancer.url)
        await window.sign_in(NAME, PASSWORD)
        page = window.page
        await expect(page.locator(".status")).to_have_text("распознаётся")
        await page.evaluate("window.stayed = true")
        await _becomes(world, file_id, "NEEDS_CHECK")
        await expect(page.locator(".status")).to_have_text("нужна проверка")

        victim = replicas[balancer.last_asked("/console/documents/live") or ""]
        victim.kill()
        await victim.process.wait()
        await _becomes(world, file_id, "DONE")
        await expect(page.locator(".status")).to_have_text("готов")
        assert await page.evaluate("window.stayed")
        assert all(url.startswith(balancer.url) for url in window.asked)
        await window.context.close()


async def _becomes(world: World, file_id: UUID, status: str) -> None:
    await world.db.execute("update stored_file set status = $2 where id = $1", file_id, status)


async def test_the_stream_of_a_page_ends_with_the_session(window: Window, world: World) -> None:
    """Who was signed out meanwhile is led to the sign-in, without touching anything."""
    [file_id] = await _files(world, 1, status="PROCESSING")
    await window.page.reload()
    await expect(window.page.locator(".status")).to_be_visible()
    await world.db.execute("delete from user_session")
    await world.db.execute("update stored_file set status = 'DONE' where id = $1", file_id)
    await window.page.wait_for_url("**/console/sign-in**")


async def test_a_core_with_open_streams_stops_in_time(window: Window, world: World) -> None:
    """SIGTERM ends the streams first."""
    await _files(world, 1, status="PROCESSING")
    await window.page.reload()
    await expect(window.page.locator(".status")).to_be_visible()
    assert await world.cores[0].stop() == 0


async def test_a_failed_document_is_read_again_at_a_click(window: Window, world: World) -> None:
    """The button is the API's call; the row shows what comes of it."""
    job = await world.job(status="error")
    file_id = (await world.row(job))["stored_file_id"]
    await world.db.execute(
        "update stored_file set status = 'ERROR', error_code = 'UNREADABLE' where id = $1", file_id
    )
    page = window.page
    await page.reload()
    await expect(page.locator("tbody tr")).to_contain_text("Документ не удалось прочитать")
    await page.locator("tbody summary").click()
    await page.get_by_role("button", name="Распознать ещё раз").click()
    await expect(page.locator("#toasts")).to_contain_text("распознаётся заново")
    await expect(page.locator(".status")).to_have_text("распознаётся")

    async def audited() -> bool:
        query = "select true from audit_event where action = 'file.attempt' and actor = $1"
        return bool(await world.db.fetchval(query, NAME))

    assert await until(audited)


async def test_names_from_outside_are_only_names(window: Window, world: World) -> None:
    """Markup in a file name, an organisation or a client is text on the page."""
    evil = "<img src=x onerror=alert(1)>"
    await _files(world, 1, original_name=f"{evil}.xlsx", client_ref=evil, uploaded_by=evil)
    await window.page.goto(f"{window.url}/console/documents?name=%3Cimg")
    row = window.page.locator("tbody tr")
    await expect(row.locator(".name")).to_have_text(f"{evil}.xlsx")
    assert await window.page.locator("img").count() == 0


LOOKS: list[dict[str, Any]] = [
    {"locale": "ru-RU", "color_scheme": "light", "viewport": {"width": 360, "height": 740}},
    {"locale": "ru-RU", "color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    {"locale": "en-US", "color_scheme": "dark", "viewport": {"width": 360, "height": 740}},
    {"locale": "en-US", "color_scheme": "light", "viewport": {"width": 800, "height": 800}},
]


async def test_axe_finds_no_serious_fault_and_nothing_overflows(
    browser: Browser, core: CoreProcess, world: World, axe: str
) -> None:
    """Sign-in, an empty list, a list with everything in it, a page that is not there: in both
    languages, light and dark, on a laptop and a phone.
    """
    for number, look in enumerate(LOOKS):
        window = await Window.opened(browser, core.url, **look)
        page = window.page
        await page.goto(f"{core.url}/console/sign-in")
        await _assert_accessible(page, axe)
        await window.sign_in(NAME, PASSWORD)
        await _assert_accessible(page, axe)
        if number == 0:
            await _one_of_each(world)
        await page.reload()
        await page.locator("tbody summary").first.click()
        await _assert_accessible(page, axe)
        await page.goto(f"{core.url}/console/nothing")
        await _assert_accessible(page, axe)
        await window.context.close()


async def _one_of_each(world: World) -> None:
    """A file in each status, with a name of 80 characters and more."""
    name = f"Оборотно-сальдовая-ведомость-{'без-единого-пробела-' * 3}за-2023.xlsx"
    for status in ("UPLOADED", "PROCESSING", "DONE", "NEEDS_CHECK", "ERROR"):
        code = "TIMEOUT" if status == "ERROR" else None
        await _files(world, 1, original_name=name, status=status, error_code=code)


async def _assert_accessible(page: Page, axe: str) -> None:
    session = await page.context.new_cdp_session(page)
    await session.send("Runtime.evaluate", {"expression": axe})
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (fault["id"], [node["target"] for node in fault["nodes"]])
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
    assert serious == []
    widths = await page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths[0] <= widths[1], page.url


async def test_it_is_worked_by_keys_alone(window: Window, world: World) -> None:
    """Tab leads to everything in its order, Escape closes what a key has opened."""
    await _files(world, 1)
    page = window.page
    await page.reload()
    await page.keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    summary = page.locator("tbody summary")
    await summary.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("tbody .sheet")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("tbody .sheet")).to_be_hidden()
    await expect(summary).to_be_focused()


async def test_language_and_colours_are_chosen_and_kept(window: Window) -> None:
    """For this browser, on this very page."""
    page = window.page
    await page.goto(f"{window.url}/console/documents?status=DONE")
    await page.locator(".bar .menu summary").click()
    await page.get_by_role("button", name="English").click()
    await expect(page.get_by_role("heading", name="Documents")).to_be_visible()
    assert page.url.endswith("/console/documents?status=DONE")
    await page.locator(".bar .menu summary").click()
    await page.get_by_role("button", name="dark").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_a_link_signs_in_once_and_leaves_the_address(
    browser: Browser, core: CoreProcess, world: World
) -> None:
    """Its secret is behind the #; who has no password yet chooses one."""
    secret = secrecy.new_secret()
    await world.db.execute(
        "with u as (update user_account set password_hash = null returning id) "
        "insert into sign_in_link (digest, user_account_id, expires_at) "
        "select $1, id, now() + interval '1 hour' from u",
        secrecy.digest(secret),
    )
    window = await Window.opened(browser, core.url)
    page = window.page
    await page.goto(f"{core.url}/console/sign-in/link#{secret}")
    await page.wait_for_url(f"{core.url}/console/sign-in/link")
    await page.get_by_role("button", name="Войти").click()
    await page.wait_for_url("**/console/password")
    await page.get_by_label("Новый пароль").fill("три обычных слова")
    await page.get_by_role("button", name="Сохранить").click()
    await expect(page.locator(".good")).to_be_visible()
    assert secret not in core.said()
    await window.context.close()
