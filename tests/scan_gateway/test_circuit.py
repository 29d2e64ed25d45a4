"""The breaker: an outage is met by waiting, and ended by one trial at a time."""

import asyncio

import pytest

from armka.services.scan_gateway.circuit import Circuit
from armka.services.scan_gateway.scanning import Busy, Unavailable


class Calls:
    """Calls through a circuit that end as the test says; `under_way` are those let through."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.under_way: list[asyncio.Future[None]] = []
        self.trials: list[bool] = []
        self.news = asyncio.Event()

    async def call(self) -> None:
        async with self.circuit.passing() as trial:
            end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.under_way.append(end)
            self.trials.append(trial)
            self.news.set()
            await end

    async def let_through(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.under_way) < count:
                self.news.clear()
                await self.news.wait()


async def settle() -> None:
    """Let every task come to where it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


async def opened(calls: Calls, failures: int) -> None:
    """Open the circuit."""
    tasks = [asyncio.create_task(calls.call()) for _ in range(failures)]
    await calls.let_through(failures)
    for end in calls.under_way:
        end.set_exception(Unavailable("down"))
    await asyncio.gather(*tasks, return_exceptions=True)
    assert calls.circuit.is_open
    calls.under_way.clear()
    calls.trials.clear()


async def test_one_at_a_time_tries_and_its_success_lets_all_through():
    calls = Calls(Circuit(3, longest_pause=0.05))
    await opened(calls, 3)
    waiting = [asyncio.create_task(calls.call()) for _ in range(5)]
    await calls.let_through(1)
    await settle()
    assert calls.trials == [True]
    calls.under_way[0].set_exception(Unavailable("still down"))
    await calls.let_through(2)
    await settle()
    assert calls.trials == [True, True]
    calls.under_way[1].set_result(None)
    await calls.let_through(5)
    assert calls.trials == [True, True, False, False, False]
    assert not calls.circuit.is_open
    for end in calls.under_way[2:]:
        end.set_result(None)
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert sum(isinstance(it, Unavailable) for it in ended) == 1


async def test_whoever_is_cancelled_in_a_trial_leaves_it_to_another():
    calls = Calls(Circuit(1, longest_pause=0.05))
    await opened(calls, 1)
    first = asyncio.create_task(calls.call())
    await calls.let_through(1)
    second = asyncio.create_task(calls.call())
    await settle()
    first.cancel()
    await calls.let_through(2)
    calls.under_way[1].set_result(None)
    await second
    assert not calls.circuit.is_open


async def test_few_failures_between_answers_open_nothing():
    circuit = Circuit(2, longest_pause=60)
    for failure in (Unavailable("x"), Busy(1), Unavailable("x"), ValueError()):
        with pytest.raises(type(failure)):
            async with circuit.passing():
                raise failure
        assert not circuit.is_open
