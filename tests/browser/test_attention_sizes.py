"""scaled_dot_product_attention: memory, kernels for any shape, tiles of other devices, long and many sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attention_reference import IN_TAB, draw, form, near, operands, up  # noqa: F401  # form: a fixture
from forms import taking

import tabgpu as tg
from tabgpu import engine
from tabgpu.graph import nbytes_of
from tabgpu.kernels.attention_inner import Tile
from tabgpu.nn import scaled_dot_product_attention as sdpa
from tabgpu.routines import attention as routine


def planned(*out: tg.Array) -> list[Any]:
    """The launches of results, which are not run."""
    ops = [x._cell.op for x in out]
    return [
        launch for _, some in engine.prepare(engine.device(), ops) for launch in some if launch.kernel.access
    ]


async def test_memory_is_linear(form: str) -> None:
    """16K queries of 16K keys: what its launches write is the result and, in chunks, a few copies of it."""
    n, d = 16384, 64
    x = tg.zeros((1, n, d), dtype=tg.bfloat16) + tg.zeros((), dtype=tg.bfloat16)
    for args in ((x, x, x), (x[:, :2], x, x)):
        found = planned(sdpa(*args, causal="bottom_right"))
        written = [
            nbytes_of(op) for launch in found if "attention" in launch.kernel.label for op in launch.writes
        ]
        assert written and sum(written) <= 64 * n * d


async def test_any_shape_compiles_nothing() -> None:
    """500 shapes with strides, scales and masks of their own take a few dozen kernels of a listed set."""
    rng = np.random.default_rng(3)
    kinds = ["float32", "float16"]
    base = {name: tg.zeros(1 << 18, dtype=name) + tg.zeros((), dtype=name) for name in kinds}
    labels = set()
    codes = set()
    for k in range(500):
        name = kinds[k % 2]
        heads, group, dims = (int(rng.integers(1, 5)) for _ in range(3))
        length, keys = (int(rng.integers(1, 40)) for _ in range(2))
        dims = int(rng.integers(1, 80))
        q = (
            base[name][: length * heads * group * dims]
            .reshape(length, heads * group, dims)
            .transpose(1, 0, 2)
        )
        kv = base[name][: keys * heads * dims].reshape(heads, keys, dims)
        mask = [None, tg.zeros((length, keys), dtype=tg.bool), tg.zeros((1, keys))][k % 3]
        out = sdpa(
            q, kv, kv, mask, scale=float(rng.random()), enable_gqa=True, causal=[None, "bottom_right"][k % 2]
        )
        for launch in planned(out):
            if "attention" in launch.kernel.label:
                labels.add(launch.kernel.label)
                codes.add(launch.kernel.code)
        del out
    assert 1 <= len(codes) <= 40, (len(codes), labels)


@pytest.mark.slow
async def test_more_keys_than_an_int16(form: str) -> None:
    """F11: 36,864 keys of which a mask shows the last 1,024."""
    n = 36864
    q, k, v = operands((2,), 3, n, 4, 4)
    mask = np.arange(n) >= n - 1024
    near(await sdpa(*up(q, k, v, mask)).numpy(), q, k, v, mask=mask)
    q = draw((2, 20, 4), 9)
    near(await sdpa(*up(q, k, v), kv_length=n - 3).numpy(), q, k[:, : n - 3], v[:, : n - 3])


async def test_many_tiny_heads() -> None:
    """L07: more batch elements than one dimension of a dispatch; F10: and more rows."""
    q, k, v = operands((70_000,), 1, 2, 4, 4)
    near(await sdpa(*up(q, k, v)).numpy(), q, k, v)
    q, k, v = operands((1,), 65_537, 3, 4, 4)
    near(await sdpa(*up(q, k, v)).numpy(), q, k, v)


@pytest.mark.slow
async def test_long_sequences(form: str) -> None:
    """F01 to 16K keys: far apart lengths on both sides."""
    for length, keys in ((1, 16384), (8, 32768), (1000, 1100), (16384, 64)):
        q, k, v = operands((1,), length, keys, 8, 8)
        near(await sdpa(*up(q, k, v), causal="bottom_right").numpy(), q, k, v, causal="bottom_right")


# As high and wide a thread as in the tiles that take more workgroup memory than CPU adapters have.
TILES_LIKE = [
    (64, 32, 32, 4, 16),
    (64, 64, 16, 8, 16),
    (128, 16, 16, 4, 16),
    (128, 32, 16, 8, 8),
    (256, 16, 8, 4, 8),
]


@pytest.mark.parametrize("sizes", [pytest.param(s, marks=IN_TAB) for s in TILES_LIKE], ids=str)
async def test_tiles_of_other_devices(sizes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tile = Tile(*sizes)
    with taking("portable"):
        monkeypatch.setattr(routine, "TILES", (tile,))
        for length, keys, dims in ((70, 90, tile.dims), (33, 200, tile.dims - 5)):
            q, k, v = operands((2,), length, keys, dims, tile.dims)
            mask = draw((length, keys), 4) > -0.5 if dims < tile.dims else None
            given = () if mask is None else (mask,)
            out = sdpa(*up(q, k, v, *given), causal="bottom_right")
            assert [x.kernel.code for x in planned(out)][0].count(f"array<vec4f, {tile.memory // 16}>") == 1
            near(await out.numpy(), q, k, v, mask=mask, causal="bottom_right")
