"""Awaiting by Wake: what asyncio's tasks do with it, without a tab. (The tab's own tests await nothing else.)"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabgpu import blocking, waking


def waited(then: Any, after: float = 0.0) -> waking.Wake:
    """A Wake that is told after a while, by the loop: then(number) says what."""
    return waking.Wake(lambda number: asyncio.get_running_loop().call_later(after, then, number))


def test_value_and_error() -> None:
    async def main() -> None:
        assert await waited(lambda k: waking.tell(k, 5, False)) == 5
        error = OSError("gone")
        with pytest.raises(OSError, match="gone"):
            await waited(lambda k: waking.tell(k, error, True))
        with pytest.raises(RuntimeError, match="a text"):
            await waited(lambda k: waking.tell(k, "a text", True))
        assert not waking._waiting

    asyncio.run(main())


def test_told_at_once() -> None:
    """Before the task has said how it is woken."""

    async def main() -> None:
        assert await waking.Wake(lambda k: waking.tell(k, "now", False)) == "now"

    asyncio.run(main())


def test_goes_on_in_the_same_turn() -> None:
    seen = []

    def then(number: int) -> None:
        waking.tell(number, 1, False)
        seen.append("told")

    async def main() -> None:
        await waited(then)
        seen.append("went on")

    asyncio.run(main())
    assert seen == ["went on", "told"]


def test_cancelled() -> None:
    numbers: list[int] = []

    async def work() -> None:
        await waking.Wake(numbers.append)

    async def main() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        assert task.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not waking._waiting
        waking.tell(numbers[0], 1, False)  # later: nobody's
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(work(), 0.01)
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(waking.tell, numbers[-1], 1, False)
        await asyncio.sleep(0)
        assert task.done() and not task.cancelled()

    asyncio.run(main())


def test_cancelled_in_the_turn_before_it_is_told() -> None:
    numbers: list[int] = []
    seen = []

    async def work() -> None:
        try:
            await waking.Wake(numbers.append)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        task.cancel()
        waking.tell(numbers[0], 1, False)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_context_is_the_tasks() -> None:
    from contextvars import ContextVar

    mine: ContextVar[int] = ContextVar("mine", default=0)

    async def work(k: int) -> int:
        mine.set(k)
        await waited(lambda number: waking.tell(number, None, False))
        return mine.get()

    async def main() -> None:
        assert await asyncio.gather(*[work(k) for k in range(1, 5)]) == [1, 2, 3, 4]
        assert mine.get() == 0

    asyncio.run(main())


def test_held_back_while_a_stack_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the loop's own way is taken, which blocking.py holds back."""
    numbers: list[int] = []

    async def main() -> None:
        async def work() -> int:
            return int(await waking.Wake(numbers.append))

        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        monkeypatch.setattr(blocking, "_blocked", 1)
        waking.tell(numbers[0], 7, False)
        assert not task.done()
        monkeypatch.setattr(blocking, "_blocked", 0)
        assert await task == 7

    asyncio.run(main())


def test_told_in_the_middle_of_another_task() -> None:
    numbers: list[int] = []

    async def main() -> None:
        async def work() -> int:
            return int(await waking.Wake(numbers.append))

        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        waking.tell(numbers[0], 7, False)  # main() is being executed
        assert not task.done()
        assert await task == 7

    asyncio.run(main())


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_exits_reach_the_loop(kind: type[BaseException]) -> None:
    """What ends the program is raised from the loop, not into who told."""
    told = []

    def then(number: int) -> None:
        waking.tell(number, None, False)
        told.append(number)

    async def work() -> None:
        await waited(then)
        raise kind(3)

    async def main() -> None:
        task = asyncio.ensure_future(work())
        with pytest.raises(kind):
            await task
        await asyncio.sleep(0.01)

    with pytest.raises(kind):
        asyncio.run(main())
    assert told
