"""Graphs that were seen before: what makes two equal, that they are planned no more, that their results are right."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_random_programs as random_programs
from emulator import read

import tabgpu as tg
from tabgpu import executing
from tabgpu.device import Device
from tabgpu.digest import digest, slots_of
from tabgpu.programs import Programs


def host(*shape: int) -> Any:
    return np.random.default_rng(5).integers(-9, 9, shape).astype(np.float32)


def key(*arrays: tg.Array, merge: bool = False) -> Any:
    return digest([a._cell.op for a in arrays], merge).key


class Always(dict[int, bool]):
    """As if every graph had been seen."""

    def get(self, *_: Any) -> Any:
        return True


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are made of graphs that are seen for the first time."""
    begin = Programs.__init__

    def begun(self: Programs, *args: Any) -> None:
        begin(self, *args)
        self._seen = Always()

    monkeypatch.setattr(Programs, "__init__", begun)


@pytest.mark.parametrize("name", random_programs.DEVICES)
def test_random_programs(open_gpu: Any, monkeypatch: pytest.MonkeyPatch, at_once: None, name: str) -> None:
    if name in ("small grid", "narrow bindings"):
        random_programs.shorten(monkeypatch)
    made = 0
    for seed in range(40):
        gpu = open_gpu(**random_programs.DEVICES[name])
        program = random_programs.Program(seed)
        try:
            program.run()
        except Exception as error:
            text = "\n".join(program.lines)
            raise AssertionError(
                f"program {seed} on {name!r}: {type(error).__name__}: {error}\n{text}"
            ) from error
        made += len(gpu.programs._known)
        if gpu.live_bytes:  # an error's traceback may still hold arrays
            gc.collect()
        assert gpu.live_bytes == 0
    assert made > 40


def test_a_graph_seen_twice_is_planned_no_more(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = []
    plan = executing.plan
    monkeypatch.setattr(executing, "plan", lambda *a, **o: plans.append(1) or plan(*a, **o))
    for k in range(6):
        x, y = tg.asarray(host(4, 5) + k), tg.asarray(host(5, 3) - k)
        z = (tg.exp(x * 0.25) @ y + k).sum(axis=0)
        want = (np.exp((host(4, 5) + k) * 0.25) @ (host(5, 3) - k) + k).sum(axis=0)
        np.testing.assert_allclose(read(z), want, rtol=1e-4)
        if k == 2:
            so_far = len(plans)
        assert k < 2 or len(plans) == so_far <= 4


SAME: list[Callable[[Any, Any], Any]] = [
    lambda x, y: (x + 1) * y,
    lambda x, y: (x[::2] + 2).sum(),
    lambda x, y: x @ y.T,
    lambda x, y: tg.where(x > y, x, 0.5),
    lambda x, y: x + tg.zeros((4, 4)),
    lambda x, y: tg.concatenate([x, y]),
    lambda x, y: tg.sort(x, axis=0),
]


@pytest.mark.parametrize("f", SAME)
def test_equal_graphs_have_equal_keys(gpu: Device, f: Any) -> None:
    one = f(tg.asarray(host(4, 4)), tg.asarray(host(4, 4)))
    other = f(tg.asarray(host(4, 4)), tg.asarray(host(4, 4)))
    assert key(one) == key(other) and hash(key(one)) == hash(key(other))


def test_different_graphs_have_different_keys(gpu: Device) -> None:
    x, y, i = tg.asarray(host(4, 4)), tg.asarray(host(4, 4)), tg.asarray(np.zeros((4, 4), np.int32))
    wide = tg.asarray(host(4, 5))
    made: list[Any] = [
        x + y, x + x, x - y, x + y.T, x + y[::-1], x + 1, 1 + x, i + 1, wide + 1, x + i, (x + 1) + 1,
        (x + 1) * (x + 1), (a := x + 1) * a, x.sum(), x.sum(axis=0), x.sum(axis=1), x @ y, x @ x, y.T @ x,
        x + tg.zeros((4, 4)), x + tg.arange(4), x[0] + 1, x[1] + 1,
    ]  # fmt: skip
    del a
    kept = (b := x + 1) * 2
    made += [kept, (x + 1) * 2]
    assert b.shape == (4, 4)
    for value in (0.0, -0.0, 1.0, 2.0):
        z = x.copy()
        read(z)
        z[0] = value
        made.append(z)
    padded = [tg.pad(x, 1, constant_values=v) for v in (0.0, -0.0, 1, True)]
    made += padded[:2]
    keys = [key(a) for a in made]
    for k, one in enumerate(keys):
        for n, other in enumerate(keys[:k]):
            assert one != other, (k, n)
    assert key(made[0], made[2]) != key(made[0]) and key(made[0], merge=True) != key(made[0])


def test_which_scalar_is_which(gpu: Device) -> None:
    x = tg.asarray(host(3))
    z = tg.where(x > 1.5, x * 2.5, 3.5) + tg.full((3,), 4.5)
    found = digest([z._cell.op], False)
    slots = slots_of(found)
    assert sorted(slots.values()) == [0, 1, 2, 3]
    for name, index in slots.items():
        value = name[0].args[name[1]] if isinstance(name, tuple) else name.extra
        assert value == found.values[index]


@pytest.mark.parametrize("value", [0.0, -0.0, 1e300, -1e300, float("inf"), float("nan"), 10**400, 3, True])
def test_scalars_of_a_program(gpu: Device, value: Any) -> None:
    x = tg.asarray(np.array([1, -2], np.float32))
    for k in (1.5, 2.5, value, 1.5):
        with np.errstate(all="ignore"):
            try:
                product = np.array([1, -2], np.float32) * np.float32(k)
            except OverflowError:
                product = np.array([np.inf, -np.inf], np.float32)
        got = read(x * k)
        np.testing.assert_array_equal(got, product)
        np.testing.assert_array_equal(
            np.signbit(got[~np.isnan(got)]), np.signbit(product[~np.isnan(product)])
        )


def test_an_allocation_that_fails_spoils_nothing(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(host(5))
    for _ in range(3):
        read(tg.exp(x * 0.1) + 1)
    other = x - 1
    y = tg.exp(x * 0.1) + 1
    with monkeypatch.context() as patch:

        def fail(*_: Any) -> Any:
            raise tg.OutOfMemoryError("no room")

        patch.setattr(gpu, "take", fail)
        with pytest.raises(tg.OutOfMemoryError):
            read(y)
    np.testing.assert_allclose(read(y), np.exp(host(5) * 0.1) + 1, rtol=1e-6)
    np.testing.assert_array_equal(read(other), host(5) - 1)


def test_results_of_programs_are_their_own(gpu: Device) -> None:
    x = tg.asarray(host(5))
    kept = []
    for k in range(6):
        y = x + k
        kept.append((y, y.sum(), y * 2))
        read(*kept[-1])
    for k, (y, s, z) in enumerate(kept):
        np.testing.assert_array_equal(read(y), host(5) + k)
        np.testing.assert_array_equal(read(z), (host(5) + k) * 2)
        assert read(s) == (host(5) + k).sum()


def test_programs_are_bounded(gpu: Device, monkeypatch: pytest.MonkeyPatch, at_once: None) -> None:
    monkeypatch.setattr("tabgpu.programs.MAX_PROGRAMS", 8)
    gpu.programs = None
    for n in range(1, 40):
        np.testing.assert_array_equal(read(tg.asarray(host(n)) + 1), host(n) + 1)
    assert len(gpu.programs._known) <= 8
