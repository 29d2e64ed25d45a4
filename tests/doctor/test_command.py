"""`armka doctor`."""

import asyncio
import json
import sys

from tests.world import World

AWAY = "127.0.0.1:9"


async def doctor(world: World, *options: str, **settings: str) -> tuple[int, str]:
    """Run the command in the world's environment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", "doctor", *options,
        env=world.env(**settings), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def test_it_is_silent_after_real_jobs(world: World) -> None:
    """Jobs that a core brought to their ends, good and bad, are as they should be."""
    await world.core()
    jobs = [await world.job() for _ in range(4)]
    for job in jobs:
        await world.status(job, "published")
    await world.ask(await world.envelope(jobs[0], "processing"), f"ack:{jobs[0]}:1")
    await world.ask(await world.envelope(jobs[1], "error"), f"result:{jobs[1]}:1")
    await world.ask(await world.envelope(jobs[2], "done"), f"result:{jobs[2]}:1")

    code, said = await doctor(world)

    assert (code, said.splitlines()[-1]) == (0, "all is well"), said


async def test_it_says_what_drifted_and_what_to_do(world: World) -> None:
    """As a table for people, as JSON for programs; exit code 1."""
    job = await world.job(status="done")
    await world.db.execute("update stored_file set status = 'UPLOADED'")

    code, said = await doctor(world)
    assert code == 1
    assert f"{(await world.row(job))['stored_file_id']} is UPLOADED, its job done" in said
    assert "armka files retry" in said

    code, said = await doctor(world, "--json")
    drifted = [found for found in json.loads(said) if found["state"] == "drift"]
    assert (code, [found["check"] for found in drifted]) == (1, ["file_not_its_job"])


async def test_it_names_the_server_that_it_cannot_reach(world: World) -> None:
    """Each with the reason, and what does not depend on it is examined all the same."""
    code, said = await doctor(
        world, "--json",
        NATS_URL=f"nats://{AWAY}",
        S3_ENDPOINT_URL=f"http://{AWAY}",
    )  # fmt: skip
    states = {found["check"]: found["state"] for found in json.loads(said)}
    assert code == 1
    assert (states["nats"], states["object_store"]) == ("unreached", "unreached")
    assert (states["database"], states["guard_off"]) == ("ok", "ok")
    assert states["job_not_published"] == "skipped"

    code, said = await doctor(world, DATABASE_URL=f"postgresql://nobody@{AWAY}/none")
    assert code == 1
    assert "PostgreSQL cannot be reached" in said
    assert "ConnectionRefusedError" in said
