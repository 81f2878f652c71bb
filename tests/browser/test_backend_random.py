"""tg.backend against plain memory: random calls on a few handles, in several dtypes, with snapshots kept on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from handles import ready

import tabgpu as tg

SIZE = 64  # bytes of each handle
COUNT = 4


class Twin:
    """The same calls on bytes of the host. Values are whole numbers from 1 on: no rounding, no sign of zero."""

    def __init__(self, backend: Any, rng: Any) -> None:
        self.backend, self.rng = backend, rng
        self.handles = [backend.alloc(SIZE) for _ in range(COUNT)]
        self.memory = [np.zeros(SIZE, "uint8") for _ in range(COUNT)]
        self.kept: list[tuple[Any, Any]] = []
        for k in range(COUNT):
            self.upload(k, self.rng.integers(1, 4, SIZE // 4).astype("float32").view("uint8"))

    def upload(self, k: int, data: Any) -> None:
        self.backend.copy_htod(self.handles[k], data)
        self.memory[k][: data.size] = data

    def floats(self, k: int) -> Any:
        return self.memory[k].view("float32")

    def apart(self, n: int) -> Any:
        return self.rng.permutation(COUNT)[:n]

    def step(self) -> None:
        kind = self.rng.integers(8)
        n = int(self.rng.integers(1, 17))
        if kind == 0:
            part = self.rng.integers(1, 4, n).astype("float32").view("uint8")
            self.upload(int(self.apart(1)[0]), part)
        elif kind == 1:
            a, o = self.apart(2)
            self.backend.unary("abs", self.handles[a], self.handles[o], n)
            self.floats(o)[:n] = self.floats(a)[:n]
        elif kind == 2:
            a, b, o = self.apart(3)
            name = ("max", "min")[self.rng.integers(2)]
            self.backend.binary(name, self.handles[a], self.handles[b], self.handles[o], n)
            self.floats(o)[:n] = {"max": np.maximum, "min": np.minimum}[name](
                self.floats(a)[:n], self.floats(b)[:n]
            )
        elif kind == 3:
            a, b, c = self.apart(3)
            half, ld = self.rng.integers(2), 3
            if half:
                return self.halves(a, b, c)
            for k in (a, b):
                if self.floats(k).max() > 1000:  # all stays exact
                    self.upload(int(k), self.rng.integers(1, 4, SIZE // 4).astype("float32").view("uint8"))
            beta = float(self.rng.integers(2))
            self.backend.gemm(
                "N", "N", 3, 2, 1, 1.0, self.handles[a], 2, self.handles[b], 2, beta, self.handles[c], ld
            )
            out = np.lib.stride_tricks.as_strided(self.floats(c), (3, 2), (4 * ld, 4))
            out[:] = beta * out + np.outer(self.floats(a)[:6:2], self.floats(b)[:2])
        elif kind == 4:
            rows = self.rng.integers(0, 4, 3).tolist()
            m, o = self.apart(2)
            self.backend.gather(self.handles[m], 4, 4, rows, self.handles[o])
            self.floats(o)[:12] = self.floats(m).reshape(4, 4)[rows].reshape(-1)
        elif kind == 5:
            rows = self.rng.integers(0, 4, 3).tolist()
            m, u = self.apart(2)
            self.backend.scatter(self.handles[m], 4, 4, rows, self.handles[u])
            for k, row in enumerate(rows):
                self.floats(m).reshape(4, 4)[row] = self.floats(u).reshape(4, 4)[k]
        elif kind == 6:
            k = int(self.apart(1)[0])
            dtype = ("float32", "uint8", "int16", "uint32")[self.rng.integers(4)]
            count = SIZE // np.dtype(dtype).itemsize
            self.kept.append(
                (self.backend.as_array(self.handles[k], dtype, (count,)), self.memory[k].view(dtype).copy())
            )
        else:
            k = int(self.apart(1)[0])
            self.backend.free(self.handles[k])
            self.handles[k] = self.backend.alloc(SIZE)
            self.memory[k] = np.zeros(SIZE, "uint8")
            self.upload(k, self.rng.integers(1, 4, SIZE // 4).astype("float32").view("uint8"))

    def halves(self, a: int, b: int, c: int) -> None:
        """A product of halves, whose operands are written first."""
        for k in (a, b):
            self.upload(int(k), self.rng.integers(1, 4, 8).astype("float16").view("uint8"))
        self.backend.gemm_f16(
            "N", "N", 2, 3, 2, 1.0, self.handles[a], 2, self.handles[b], 3, 0.0, self.handles[c], 4
        )
        left, right = (
            self.memory[a].view("float16")[:4].reshape(2, 2),
            self.memory[b].view("float16")[:6].reshape(2, 3),
        )
        out = np.lib.stride_tricks.as_strided(self.memory[c].view("float16"), (2, 3), (8, 2))
        out[:] = (left.astype(float) @ right.astype(float)).astype("float16")
        for k in (
            a,
            b,
            c,
        ):  # as float32 these bits may be NaNs: overwritten before anybody computes with them
            self.kept.append(
                (self.backend.as_array(self.handles[k], "uint8", (SIZE,)), self.memory[k].copy())
            )
            self.upload(int(k), self.rng.integers(1, 4, SIZE // 4).astype("float32").view("uint8"))

    async def check(self) -> None:
        for k in range(COUNT):
            got = np.frombuffer(await self.backend.copy_dtoh(SIZE, self.handles[k]), "float32")
            assert np.array_equal(got, self.floats(k)), f"handle {k}: {got}, {self.floats(k)}"
        for array, wanted in self.kept:
            got = await array.numpy()
            assert np.array_equal(got, wanted), f"kept {wanted.dtype}: {got}, {wanted}"
        self.kept.clear()


async def play(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    twin = Twin(await ready(), rng)
    for _ in range(steps):
        twin.step()
        if rng.integers(8) == 0:
            await twin.check()
    await twin.check()
    for handle in twin.handles:
        twin.backend.free(handle)


async def test_random_calls() -> None:
    live = tg.memory()["live_bytes"]
    for seed in range(5):
        await play(seed, 25)
    assert tg.memory()["live_bytes"] == live


@pytest.mark.slow
async def test_many_random_calls() -> None:
    for seed in range(100, 220):
        await play(seed, 60)
