"""Small devices: every kernel family with the guaranteed limits forced down, and buffers larger than one binding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from faults import opened  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import engine
from tabgpu.bridge import run_sync
from tabgpu.config import Config
from tabgpu.device import Device
from tabgpu.errors import LimitError

WEAK = {
    "maxFusedBuffers": 4,
    "maxStorageBuffersPerShaderStage": 8,
    "maxComputeWorkgroupsPerDimension": 100,
    "maxComputeWorkgroupStorageSize": 16384,
    "maxComputeInvocationsPerWorkgroup": 128,
    "maxComputeWorkgroupSizeX": 128,
}
KIB64 = 65536
R = np.random.default_rng(5)


@pytest.fixture(scope="module")
def weak() -> Iterator[None]:
    """A device with WEAK limits; each launch is checked against them."""
    yield from _opened(WEAK)


@pytest.fixture(scope="module")
def narrow() -> Iterator[None]:
    """A device whose bindings hold 64 KiB; each launch is checked against that."""
    yield from _opened({"maxStorageBufferBindingSize": KIB64})


def _opened(limits: dict[str, int]) -> Iterator[None]:
    before = engine.current()
    config = before.config if before is not None else Config()
    run_sync(engine.open_new(Config(limits=limits)))
    append = Device.append

    def checked(self: Device, launch: Any) -> None:
        append(self, launch)
        if launch.kernel.access:
            _check(self, launch)

    Device.append = checked  # type: ignore[method-assign]
    try:
        yield
    finally:
        Device.append = append  # type: ignore[method-assign]
        run_sync(engine.open_new(config))


def _check(device: Device, launch: Any) -> None:
    """WebGPU only validates against what the device was made with; these limits may be lower."""
    kernel, limits = launch.kernel, device.limits
    fused = 8 if "gemm" in kernel.label else limits["maxFusedBuffers"]
    assert len(kernel.access) <= fused, f"{kernel.label}: {len(kernel.access)} buffers"
    assert max(launch.grid) <= limits["maxComputeWorkgroupsPerDimension"], (kernel.label, launch.grid)
    assert kernel.workgroup <= limits["maxComputeInvocationsPerWorkgroup"]
    for k, op in enumerate([*launch.reads, *launch.writes]):
        at, size = launch.windows[k] if launch.windows else (0, op.buffer.size)
        assert at % 256 == 0 and size % 4 == 0 and at + size <= op.buffer.size, (
            kernel.label,
            at,
            size,
            op.buffer.size,
        )
        assert size <= device.binding_limit, f"{kernel.label}: a binding of {size} bytes"


def f32(*shape: int) -> np.ndarray:
    return R.standard_normal(shape).astype(np.float32)


def close(got: np.ndarray, want: np.ndarray, terms: int = 1) -> None:
    """Exact for integers and bools; floats within what a sum of so many terms may be off."""
    want = np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=4e-6, atol=4e-7 * terms**0.5)
    else:
        assert got.dtype.kind == want.dtype.kind
        np.testing.assert_array_equal(got, want.astype(got.dtype))


# --- one per kernel family, limits forced down ----------------------------------------------------------------------

limits = pytest.mark.limits


@limits
async def test_flat_elementwise(weak: None) -> None:
    x, y = f32(60_001), f32(60_001)
    close(await (tg.asarray(x) * 2 + tg.asarray(y)).numpy(), x * 2 + y)


@limits
async def test_more_inputs_than_buffers(weak: None) -> None:
    """F01: ten inputs where four buffers may be bound."""
    hosts = [f32(1000) for _ in range(10)]
    arrays = [tg.asarray(x) for x in hosts]
    total, want = arrays[0], hosts[0].astype(np.float64)
    for x, host in zip(arrays[1:], hosts[1:], strict=True):
        total = total + x * 2
        want = want + host.astype(np.float64) * 2
    close(await total.numpy(), want, 100)


@limits
async def test_many_outputs(weak: None) -> None:
    x = f32(1000)
    a = tg.asarray(x)
    named = [a * k + 1 for k in range(1, 9)]
    for k, got in enumerate(await tg.fetch(*named), 1):
        close(got, x * np.float32(k) + 1)


@limits
async def test_general_elementwise(weak: None) -> None:
    x, y = f32(200, 300), f32(300)
    close(await (tg.asarray(x).T[::-1, ::2] * tg.asarray(y)[:, None]).numpy(), x.T[::-1, ::2] * y[:, None])


@limits
async def test_bool_packing(weak: None) -> None:
    x = f32(100, 333)
    got = await (tg.asarray(x) > 0).numpy()
    close(got, x > 0)
    close(
        await (tg.asarray(x > 0)[:, ::-3] & (tg.asarray(x)[:, ::-3] < 1)).numpy(),
        (x > 0)[:, ::-3] & (x[:, ::-3] < 1),
    )


@limits
async def test_more_workgroups_than_two_dimensions_hold(weak: None) -> None:
    """100 x 100 workgroups of 128 threads and four elements: the third dimension is needed."""
    n = 100 * 100 * 128 * 4 + 513
    values = np.arange(n, dtype=np.int32)
    got = await (tg.asarray(values) ^ 5).numpy()
    assert np.array_equal(got, values ^ 5)
    assert await (tg.asarray(values) & 1).sum().item() == n // 2


REDUCTIONS = ["sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax"]


@limits
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(
    "shape, axis", [((40, 1000), 1), ((1000, 40), 0), ((33, 7, 50), (0, 2)), ((150_001,), None)]
)
async def test_reductions(weak: None, name: str, shape: tuple[int, ...], axis: Any) -> None:
    await _reduce(name, f32(*shape), axis)


async def _reduce(name: str, x: np.ndarray, axis: Any, kind: str = "f") -> None:
    if name in ("argmin", "argmax") and isinstance(axis, tuple):
        axis = axis[0]
    if name == "prod":
        x = (1 + x * 0.01).astype(np.float32)
    if name in ("any", "all"):
        x = x > (2 if name == "any" else -2)
    got = np.asarray(await getattr(tg, name)(tg.asarray(x), axis=axis).numpy())
    want = getattr(np, name)(x.astype(np.float64) if x.dtype.kind == "f" else x, axis=axis)
    if name in ("argmin", "argmax"):
        want = np.asarray(want).astype(np.int32)
    close(got, want, x.size)


@limits
async def test_a_fused_reduction(weak: None) -> None:
    x, y = f32(50, 700), f32(700)
    got = (tg.tanh(tg.asarray(x) * tg.asarray(y) + 0.5) * 0.5).sum(axis=-1) + 1
    close(await got.numpy(), (np.tanh(x.astype(np.float64) * y + 0.5) * 0.5).sum(axis=-1) + 1, 700)


@limits
@pytest.mark.parametrize("m, n, k", [(5, 7, 3), (130, 140, 33), (1, 300, 70), (300, 1, 70), (640, 660, 20)])
async def test_matmul(weak: None, m: int, n: int, k: int) -> None:
    x, y = f32(m, k), f32(k, n)
    close(await (tg.asarray(x) @ tg.asarray(y)).numpy(), x.astype(np.float64) @ y, 4 * k)
    got = tg.maximum(tg.asarray(x) @ tg.asarray(y) * 0.5 + tg.asarray(y[0]), 0)
    close(await got.numpy(), np.maximum(x.astype(np.float64) @ y * 0.5 + y[0], 0), 4 * k)


@limits
async def test_integer_and_batched_matmul(weak: None) -> None:
    x, y = R.integers(-9, 9, (3, 20, 30)).astype(np.int32), R.integers(-9, 9, (30, 40)).astype(np.int32)
    close(await (tg.asarray(x) @ tg.asarray(y)).numpy(), x @ y)
    z = R.integers(-9, 9, (3, 30, 11)).astype(np.int32)
    close(await (tg.asarray(x) @ tg.asarray(z)).numpy(), x @ z)


# --- buffers larger than one binding --------------------------------------------------------------------------------

X = f32(150, 1000)  # 600,000 bytes: ten bindings
Y = f32(150, 1000)
B = X > 0  # 150,000 bytes
J = R.integers(-(2**31), 2**31, (150, 1000)).astype(np.int32)

# Each is computed by tabgpu on the arrays and by NumPy on the same in float64.
SEGMENTED: dict[str, Callable[..., Any]] = {
    "flat": lambda xp, x, y, b, i: x * 2 + y,
    "flat with a scalar array": lambda xp, x, y, b, i: x * y[3, 4],
    "flat integers": lambda xp, x, y, b, i: i * 3 ^ 5,
    "two outputs": lambda xp, x, y, b, i: (x + y, x - y),
    "copy": lambda xp, x, y, b, i: xp.asarray(x, copy=True),
    "transposed": lambda xp, x, y, b, i: x.T + 1,
    "transposed copy": lambda xp, x, y, b, i: xp.asarray(x.T, copy=True),
    "strided": lambda xp, x, y, b, i: x[::3, ::2] - y[1::3, 1::2],
    "flipped": lambda xp, x, y, b, i: x[::-1, ::-1] * y,
    "offset": lambda xp, x, y, b, i: x[1:, 3:] + 1,
    "row broadcast": lambda xp, x, y, b, i: x + y[7],
    "column broadcast": lambda xp, x, y, b, i: x * y[:, 9:10],
    "outer": lambda xp, x, y, b, i: x[:, :1] - y[0],
    "bool output": lambda xp, x, y, b, i: x > y,
    "bool output strided": lambda xp, x, y, b, i: x[:, ::2] > y[:, 1::2],
    "bools in": lambda xp, x, y, b, i: xp.where(b, x, y),
    "bools flipped": lambda xp, x, y, b, i: ~b[:, ::-1],
    "bools transposed": lambda xp, x, y, b, i: b.T & (x.T < 1),
    "bools shifted": lambda xp, x, y, b, i: b.reshape(-1)[1:] ^ b.reshape(-1)[:-1],
    "cast": lambda xp, x, y, b, i: xp.astype(b, "float32") + x,
    "iota": lambda xp, x, y, b, i: xp.arange(150_000) * 2,
    "constant": lambda xp, x, y, b, i: xp.full((150, 1000), 7.0) * 1,
    "reshaped": lambda xp, x, y, b, i: x.reshape(1000, 150) + 1,
    "3-d": lambda xp, x, y, b, i: xp.permute_dims(x.reshape(10, 15, 1000), (2, 0, 1)) * 2,
    "sum of rows": lambda xp, x, y, b, i: x.sum(axis=1),
    "sum of columns": lambda xp, x, y, b, i: x.sum(axis=0),
    "sum of all": lambda xp, x, y, b, i: x.sum(),
    "integer sum": lambda xp, x, y, b, i: i.sum(axis=0),
    "sum of all integers": lambda xp, x, y, b, i: i.sum(),
    "max of a transposed": lambda xp, x, y, b, i: x.T.max(axis=1),
    "min of strided": lambda xp, x, y, b, i: x[:, ::3].min(axis=1),
    "fused sum": lambda xp, x, y, b, i: (xp.abs(x - y) * 2).sum(axis=-1) + 1,
    "sum over a middle axis": lambda xp, x, y, b, i: x.reshape(10, 15, 1000).sum(axis=1)[:, :900],
    "argmax of rows": lambda xp, x, y, b, i: x.argmax(axis=1),
    "argmin of columns": lambda xp, x, y, b, i: x.argmin(axis=0),
    "argmax of all": lambda xp, x, y, b, i: i.argmax(),
    "any of columns": lambda xp, x, y, b, i: b.any(axis=0),
    "all of rows": lambda xp, x, y, b, i: (b | ~b).all(axis=1),
    "count": lambda xp, x, y, b, i: b.sum(),
    "variance": lambda xp, x, y, b, i: ((x - x.mean(axis=0)) ** 2).sum(axis=0) / 150,
    "softmax": lambda xp, x, y, b, i: _softmax(xp, x),
    "wide result of rows": lambda xp, x, y, b, i: x.reshape(50_000, 3).sum(axis=1),
    "wide result of columns": lambda xp, x, y, b, i: x.reshape(3, 50_000).max(axis=0) + 1,
    "wide result with a wide tail": lambda xp, x, y, b, i: (
        x.reshape(3, 50_000).sum(axis=0) + y.reshape(3, 50_000)[1]
    ),
    "wide argmax": lambda xp, x, y, b, i: x.reshape(50_000, 3).argmax(axis=1),
    "wide partials": lambda xp, x, y, b, i: xp.broadcast_to(x[0, :10, None], (10, 40_000)).sum(axis=1),
    "wide partials of a range": lambda xp, x, y, b, i: (xp.arange(600)[:, None] + xp.arange(300)).sum(axis=0),
    "concat": lambda xp, x, y, b, i: xp.concatenate([x, y[:, ::-1], x[::-1]]),
    "concat of columns": lambda xp, x, y, b, i: xp.concatenate([x, y[:, :1], x], axis=1),
    "concat of bools": lambda xp, x, y, b, i: xp.concatenate([b[:, :333], b, b[:, 1:2]], axis=1),
    "concat of shifted bools": lambda xp, x, y, b, i: xp.concatenate(
        [b.reshape(-1)[:7], b.reshape(-1), b[0, :3]]
    ),
    "concat of transposed": lambda xp, x, y, b, i: xp.concatenate([x.T, y.T[::-1]]),
    "stack": lambda xp, x, y, b, i: xp.stack([x, y, x], axis=-1),
    "concat of many": lambda xp, x, y, b, i: xp.concatenate([x[k::15] for k in range(15)]),
    "concat with constants": lambda xp, x, y, b, i: xp.concatenate(
        [xp.zeros((90, 1000)), x, xp.ones((1, 1000))]
    ),
    "pad": lambda xp, x, y, b, i: xp.pad(x, ((3, 40), (7, 1)), constant_values=2),
    "pad edge of bools": lambda xp, x, y, b, i: xp.pad(b, ((0, 2), (3, 0)), mode="edge"),
    "pad by reflections": lambda xp, x, y, b, i: xp.pad(x[:40], ((90, 70), (0, 5)), mode="reflect"),
    "pad symmetric": lambda xp, x, y, b, i: xp.pad(x[:40, ::-1], ((90, 70), (0, 5)), mode="symmetric"),
    "pad of a transposed": lambda xp, x, y, b, i: xp.pad(x.T, 3, mode="wrap"),
    "roll": lambda xp, x, y, b, i: xp.roll(x, (70, 3), (0, 1)),
    "roll of all": lambda xp, x, y, b, i: xp.roll(b, 12_345),
    "tile": lambda xp, x, y, b, i: xp.tile(x[:50], (3, 2)),
    "repeat": lambda xp, x, y, b, i: xp.repeat(x, 2, axis=0),
    "matmul": lambda xp, x, y, b, i: x @ y.T,
    "matmul tall": lambda xp, x, y, b, i: x.reshape(15_000, 10) @ y[0, :40].reshape(10, 4),
    "matmul wide": lambda xp, x, y, b, i: x[0, :40].reshape(4, 10) @ y.reshape(10, 15_000),
    "matmul transposed": lambda xp, x, y, b, i: x.T[:300] @ y[:, :200],
    "matmul integers": lambda xp, x, y, b, i: i[:, :300] @ i.T[:300],
    "matmul batch": lambda xp, x, y, b, i: x.reshape(30, 50, 100) @ y.reshape(30, 100, 50),
    "matmul of many small": lambda xp, x, y, b, i: (
        x.reshape(3, 500, 10, 10) @ y[:, :10].reshape(3, 1, 50, 10)[:, :, :10]
    ),
    "matmul batch of one matrix": lambda xp, x, y, b, i: x.reshape(30, 50, 100) @ y[0, :200].reshape(100, 2),
    "matmul plus a transposed": lambda xp, x, y, b, i: (
        x.reshape(1500, 100) @ y[:50, :100].T + y.reshape(-1)[:75_000].reshape(50, 1500).T
    ),
    "sum plus a transposed": lambda xp, x, y, b, i: (
        x.reshape(3, 250, 200).sum(axis=0) + y.reshape(-1)[:50_000].reshape(200, 250).T
    ),
    "matmul long k": lambda xp, x, y, b, i: x.reshape(5, 30_000) @ y.reshape(30_000, 5),
    "matmul vector": lambda xp, x, y, b, i: x @ y[0],
    "vector matmul": lambda xp, x, y, b, i: x[:, 0] @ y,
    "matmul with a tail": lambda xp, x, y, b, i: (
        xp.maximum(x.reshape(1500, 100) @ y[:50, :100].T * 0.5 + y[0, :50], 0) + x[0, 0]
    ),
    "matmul with a full tail": lambda xp, x, y, b, i: (
        x.reshape(1500, 100) @ y[:50, :100].T + y.reshape(-1)[:75_000].reshape(1500, 50)
    ),
}


def _softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", SEGMENTED)
async def test_segmented_bindings(narrow: None, name: str) -> None:
    """G04."""
    before = tg.device().counters.launches
    got = SEGMENTED[name](tg, *(tg.asarray(v) for v in (X, Y, B, J)))
    want = SEGMENTED[name](np, X.astype(np.float64), Y.astype(np.float64), B, J)
    for g, w in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        close(await g.numpy(), w, 10**6 if "long" in name else 10**4 if "matmul" in name else 1000)
    assert tg.device().counters.launches > before


async def test_reads_and_uploads_are_not_limited_by_bindings(narrow: None) -> None:
    close(await tg.asarray(X).numpy(), X)
    close(await tg.asarray(B).numpy(), B)
    close(await tg.asarray(X)[100:, :].numpy(), X[100:])


async def test_what_cannot_be_cut_is_refused_with_both_sizes(narrow: None) -> None:
    """Before any GPU work: a product one row of whose result is larger than a binding."""
    x, y = tg.asarray(f32(3, 5)), tg.asarray(f32(5, 20_000))
    product = x @ y
    before = tg.device().counters.as_dict()
    with pytest.raises(LimitError, match=r"matmul.*400,000 bytes.*65,536") as caught:
        await product.numpy()
    assert isinstance(caught.value, ValueError)
    assert tg.device().counters.as_dict() == before
    close(await (x @ y[:, :9]).numpy(), (await x.numpy()) @ (await y[:, :9].numpy()), 5)


async def test_size_classes_stay_under_the_binding_limit() -> None:
    """A limit between two size classes: an array that fits is bound as a whole."""
    before = engine.current()
    assert before is not None
    limit = 70_000 // 256 * 256
    device = await engine.open_new(Config(limits={"maxStorageBufferBindingSize": limit}))
    try:
        x = tg.asarray(f32((limit - 64) // 4))
        y = x + 1
        await y.numpy()
        assert x._cell.op.buffer.size <= limit and y._cell.op.buffer.size <= limit
        assert device.counters.launches == 1
    finally:
        await engine.open_new(before.config)
