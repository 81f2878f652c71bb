"""tg.lax.gather, scatter and dynamic slices against element-by-element NumPy; launches and pipelines counted."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
import xla_reference as xla
from arrays import numbered, on_gpu

import tabgpu as tg
from tabgpu import lax

COUNTED = ("bool", "int8", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64")
SOME = [
    pytest.param(d, marks=[] if d in ("int8", "bfloat16", "float32", "complex64") else pytest.mark.slow)
    for d in COUNTED
]


def launches() -> int:
    return int(tg.memory()["launches"])


class Case(NamedTuple):
    """An operand's shape, indices (parts last), dimension numbers, window sizes, the shape of what is gathered."""

    shape: tuple[int, ...]
    index: Any
    dims: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    out: tuple[int, ...]


def case(rng: Any, batching: bool = True, spread: int = 3) -> Case:
    """Random dimension numbers that are valid; indices also out of range."""
    rank = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 6, rank))
    batch = [int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3)))]
    roles = [str(r) for r in rng.choice(["window", "missing", "batching"], rank)]
    pairs = []
    free = list(range(len(batch)))
    for k, role in enumerate(roles):
        if role == "batching":
            if batching and free:
                b = free.pop(int(rng.integers(len(free))))
                batch[b] = shape[k]
                pairs.append((k, b))
            else:
                roles[k] = "missing"
    can = [k for k in range(rank) if roles[k] != "batching"]
    mapped = [int(k) for k in rng.permutation(can)[: int(rng.integers(0, len(can) + 1))]]
    missing = tuple(k for k in range(rank) if roles[k] == "missing")
    kept = [k for k in range(rank) if roles[k] == "window"]
    sizes = tuple(int(rng.integers(1, shape[k] + 1)) if roles[k] == "window" else 1 for k in range(rank))
    total = len(batch) + len(kept)
    window = tuple(sorted(int(d) for d in rng.permutation(total)[: len(kept)]))
    index = rng.integers(-spread, 6 + spread, (*batch, len(mapped))).astype(np.int32)
    outer, inner = iter(batch), iter(sizes[k] for k in kept)
    out = tuple(next(inner) if d in window else next(outer) for d in range(total))
    dims = (window, missing, tuple(mapped), tuple(k for k, _ in pairs), tuple(b for _, b in pairs))
    return Case(shape, index, dims, sizes, out)


def same(got: Any, want: Any) -> None:
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.array_equal(got, want, equal_nan=got.dtype.kind in "fc"), (got, want)


FILL = {"bool": True, "int8": -128, "uint16": 65535, "int32": -(2**31), "uint32": 2**32 - 1}


# --- gather -------------------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
async def test_tf_49_gather_of_random_dimension_numbers(mode: str) -> None:
    """TF-49: offset, collapsed, mapped and batching dims, slice sizes; starts clamped, or filled, or in bounds."""
    rng = np.random.default_rng(49)
    made, wanted = [], []
    for k in range(72):
        c = case(rng, spread=0 if mode == "promise_in_bounds" else 3)
        index = c.index
        if mode == "promise_in_bounds":
            limits = np.array([c.shape[k] - c.sizes[k] + 1 for k in c.dims[2]], np.int32)
            index = index % limits if limits.size else index
        dtype = COUNTED[k % len(COUNTED)]
        x = numbered(c.shape, dtype, k)
        got = lax.gather(on_gpu(x, dtype), index, lax.GatherDimensionNumbers(*c.dims), c.sizes, mode=mode)
        made.append(got.astype(tg.float32) if dtype == "bfloat16" else got)
        reference = "drop" if mode == "fill" else "clip"
        wanted.append(xla.gather(x, index, c.dims, c.sizes, reference, FILL.get(dtype, np.nan)))
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        same(got, want)


async def test_tf_49_gather_is_one_launch() -> None:
    """TF-49: an embedding lookup, a batch of blocks, with fill or clamped: one launch each, of any view."""
    x, index = (
        tg.asarray(numbered((50, 40), "float32")),
        tg.asarray(np.array([[3], [99], [-1], [0]], np.int32)),
    )
    starts = tg.asarray(np.array([[[0, 1], [48, 39]], [[7, 7], [-2, 20]]], np.int32))
    await tg.fetch(x, index, starts)
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    blocks = lax.GatherDimensionNumbers((2, 3), (), (1, 0))
    for view, mode in itertools.product((x, x.T, x[::-1, 1:]), ("clip", "fill")):
        for i, dims, sizes in ((index, rows, (1, view.shape[1])), (starts, blocks, (5, 3))):
            before = launches()
            got = await lax.gather(view, i, dims, sizes, mode=mode).numpy()
            assert launches() - before == 1
            reference = "drop" if mode == "fill" else "clip"
            full = (*dims, *[()] * (5 - len(dims)))
            same(got, xla.gather(await view.numpy(), await i.numpy(), full, sizes, reference, np.nan))


async def test_tf_49_index_vector_dim_and_fill_values() -> None:
    """TF-49: the parts of an index along another axis, or none of their own; chosen fill values in every dtype."""
    for dtype in COUNTED:  # rows that move four elements at once
        x = numbered((5, 8), dtype)
        index = np.array([[4], [5], [0], [-1]], np.int32)
        got = lax.gather(
            on_gpu(x, dtype), index, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 8), mode="fill"
        )
        want = xla.gather(x, index, ((1,), (0,), (0,), (), ()), (1, 8), "drop", FILL.get(dtype, np.nan))
        same(await (got.astype(tg.float32) if dtype == "bfloat16" else got).numpy(), want)
    x = numbered((6, 7), "int32")
    index = np.array([[0, 5, 9], [6, -1, 2]], np.int32)  # parts first
    dims = lax.GatherDimensionNumbers((), (0, 1), (0, 1))
    got = await lax.gather(tg.asarray(x), index, dims, (1, 1), index_vector_dim=0).numpy()
    same(got, xla.gather(x, index.T, (*dims,), (1, 1)))
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    got = await lax.gather(
        tg.asarray(x), index[0], rows, (1, 7), index_vector_dim=1, mode="fill", fill_value=-5
    ).numpy()
    same(got, xla.gather(x, index[0][:, None], (*rows,), (1, 7), "drop", -5))
    for dtype, value in [
        ("bool", False),
        ("int8", -3),
        ("float16", 2.5),
        ("bfloat16", -2.0),
        ("complex64", 1 - 2j),
    ]:
        y = numbered((6, 7), dtype)
        z = lax.gather(on_gpu(y, dtype), index[0][:, None], rows, (1, 7), mode="fill", fill_value=value)
        got = await (z.astype(tg.float32) if dtype == "bfloat16" else z).numpy()
        same(got, xla.gather(y, index[0][:, None], (*rows,), (1, 7), "drop", value))


async def test_tf_49_index_dtypes_and_six_parts() -> None:
    """TF-49: indices of every integer dtype, unsigned ones above 2^31 are beyond the end; more parts than bindings."""
    x = numbered((9, 5), "float32")
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        index = np.array([[0], [8], [100], [3]]).astype(dtype)
        if dtype == "uint32":
            index[2] = 2**32 - 2
        for mode in ("clip", "fill"):
            got = await lax.gather(tg.asarray(x), tg.asarray(index), rows, (1, 5), mode=mode).numpy()
            want = (
                x[[0, 8, 8, 3]]
                if mode == "clip"
                else np.where(np.array([1, 1, 0, 1])[:, None], x[[0, 8, 8, 3]], np.nan)
            )
            same(got, want.astype(np.float32))
    y = numbered((2, 3, 2, 2, 3, 2, 2), "int32")
    index = np.random.default_rng(0).integers(-1, 4, (11, 7)).astype(np.int32)
    dims = ((), tuple(range(7)), tuple(range(7)), (), ())
    for mode, reference in (("clip", "clip"), ("fill", "drop")):
        for view, host in ((tg.asarray(y), y), (tg.asarray(y)[:, ::-1], y[:, ::-1])):
            got = await lax.gather(
                view, index, lax.GatherDimensionNumbers(*dims), (1,) * 7, mode=mode
            ).numpy()
            same(got, xla.gather(host, index, dims, (1,) * 7, reference, -(2**31)))
    for name in ("", "add"):
        new = numbered((11,), "int32")
        function = lax.scatter if not name else lax.scatter_add
        got = await function(tg.asarray(y), index, new, lax.ScatterDimensionNumbers(*dims)).numpy()
        same(got, xla.scatter(y, index, new, dims, name))


async def test_tf_49_empty_and_refused() -> None:
    x = tg.zeros((4, 5))
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    assert lax.gather(x, np.zeros((0, 1), np.int32), rows, (1, 5)).shape == (0, 5)
    assert lax.gather(x, np.zeros((3, 1), np.int32), rows, (1, 0)).shape == (3, 0)
    for dims, sizes, index, text in [
        (((1,), (0,), (0,)), (1, 6), np.zeros((2, 1), int), "slice_sizes"),
        (((1,), (0,), (0,)), (2, 5), np.zeros((2, 1), int), "need slice size 1"),
        (((1,), (0,), (0, 1)), (1, 5), np.zeros((2, 1), int), "2 mapped dims for indices of 1 parts"),
        (((1, 2), (0,), (0,)), (1, 5), np.zeros((2, 1), int), "2 window dims for the 1 axes"),
        (((3,), (0,), (0,)), (1, 5), np.zeros((2, 1), int), "are not distinct axes below 2"),
        (((1,), (0,), (0,), (1,), (0,)), (1, 5), np.zeros((2, 1), int), "window dims for the 0 axes"),
    ]:
        with pytest.raises(ValueError, match=text):
            lax.gather(x, index.astype(np.int32), lax.GatherDimensionNumbers(*dims), sizes)
    with pytest.raises(TypeError, match="indices must be integers, not float32"):
        lax.gather(x, np.zeros((2, 1), np.float32), rows, (1, 5))
    with pytest.raises(ValueError, match="mode 'bounce' is none of"):
        lax.gather(x, np.zeros((2, 1), np.int32), rows, (1, 5), mode="bounce")


# --- scatter ------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "": lax.scatter, "add": lax.scatter_add, "sub": lax.scatter_sub, "mul": lax.scatter_mul, "min": lax.scatter_min,
    "max": lax.scatter_max,
}  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("name", FUNCTIONS)
async def test_tf_50_scatter_of_random_dimension_numbers(name: str) -> None:
    """TF-50: update window, inserted, mapped and batching dims; windows out of range dropped or clamped; duplicates and
    overlapping windows: each counts, and of those that set the last wins."""
    rng = np.random.default_rng(50)
    made, wanted = [], []
    for k in range(45):
        c = case(rng)
        mode = ("drop", "clip")[k % 2]
        kinds = [d for d in COUNTED if name != "mul" or d != "complex64"]
        if name in ("min", "max", "sub"):
            kinds = [d for d in kinds if d not in ("complex64", "bool")]
        if name in ("add", "mul"):
            kinds = [d for d in kinds if d != "bool"]
        dtype = kinds[k % len(kinds)]
        x, new = numbered(c.shape, dtype, k), numbered(c.out, dtype, 3 * k)
        if dtype in ("float16", "bfloat16", "float32", "complex64"):  # exact in any order
            x, new = (np.sign(v.real).astype(x.dtype) if name == "mul" else (v % 4 if v.dtype.kind == "f" else v)
                      for v in (x, new))  # fmt: skip
        got = FUNCTIONS[name](
            on_gpu(x, dtype), c.index, on_gpu(new, dtype), lax.ScatterDimensionNumbers(*c.dims), mode=mode
        )
        made.append(got.astype(tg.float32) if dtype == "bfloat16" else got)
        wanted.append(xla.scatter(x, c.index, new, c.dims, name, mode))
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize("dtype", SOME)
async def test_tf_50_scatter_add_counts_every_duplicate(dtype: str) -> None:
    """TF-50: thousands of updates to few elements, complex ones by parts; the operand keeps its values."""
    if dtype == "bool":
        pytest.skip("bools are or-ed, see the random ones")
    rng = np.random.default_rng(7)
    x = np.zeros((5, 3), np.float32 if dtype == "bfloat16" else dtype)
    index = rng.integers(0, 5, (600, 1)).astype(np.int32)
    new = np.ones((600, 3), x.dtype)
    if dtype == "complex64":
        new = new * (1 + 2j)
    if dtype in ("bfloat16", "int8"):
        index, new = index[:100], new[:100]
    dims = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    operand = on_gpu(x, dtype)
    before = launches()
    made = lax.scatter_add(operand, tg.asarray(index), on_gpu(new.astype(x.dtype), dtype), dims)
    got = await (made.astype(tg.float32) if dtype == "bfloat16" else made).numpy()
    same(got, xla.scatter(x, index, new.astype(x.dtype), dims, "add"))
    assert launches() - before <= 3 + (dtype == "bfloat16") * 2
    assert not np.any(await operand.astype(tg.float32 if dtype == "bfloat16" else dtype).numpy())


async def test_tf_50_into_zeros() -> None:
    """TF-50: a constant operand is written once and not copied: two launches; it stays a constant for others."""
    index, new = tg.asarray(np.array([[1], [3], [1]], np.int32)), tg.asarray(np.ones((3, 4), np.float32))
    await tg.fetch(index, new)
    zeros = tg.zeros((5, 4))
    before = launches()
    got = await lax.scatter_add(zeros, index, new, lax.ScatterDimensionNumbers((1,), (0,), (0,))).numpy()
    assert launches() - before == 2
    assert np.array_equal(got[:, 0], [0, 2, 0, 1, 0])
    assert not np.any(await zeros.numpy())


async def test_tf_50_set_with_overlapping_windows() -> None:
    """TF-50: the last update of an element wins also where windows at different starts overlap."""
    x = np.zeros(40, np.float32)
    index = np.array([[3], [5], [4], [30], [36], [39], [-1]], np.int32)
    new = np.arange(1, 36, dtype=np.float32).reshape(7, 5)
    dims = ((1,), (), (0,), (), ())
    for mode in ("drop", "clip"):
        got = await lax.scatter(x, index, new, lax.ScatterDimensionNumbers(*dims), mode=mode).numpy()
        same(got, xla.scatter(x, index, new, dims, "", mode))
    unique = index[[0, 3]]
    held = [tg.asarray(v) for v in (x, unique, new[:2])]
    await tg.fetch(*held)
    before = launches()
    made = lax.scatter(*held, lax.ScatterDimensionNumbers(*dims), unique_indices=True)
    same(await made.numpy(), xla.scatter(x, unique, new[:2], dims))
    assert launches() - before == 2  # the copy, the write


async def test_tf_50_nan_wins_in_min_and_max() -> None:
    x = np.array([1.0, np.nan, 3.0], np.float32)
    dims = lax.ScatterDimensionNumbers((), (0,), (0,))
    new = np.array([np.nan, 0.0, 5.0], np.float32)
    index = np.array([[0], [1], [2]], np.int32)
    same(await lax.scatter_max(x, index, new, dims).numpy(), np.array([np.nan, np.nan, 5], np.float32))
    same(await lax.scatter_min(x, index, new, dims).numpy(), np.array([np.nan, np.nan, 3], np.float32))


async def test_tf_50_empty_and_refused() -> None:
    x, dims = tg.asarray(numbered((4, 5), "float32")), lax.ScatterDimensionNumbers((1,), (0,), (0,))
    same(
        await lax.scatter(x, np.zeros((0, 1), np.int32), np.zeros((0, 5), "f"), dims).numpy(), await x.numpy()
    )
    with pytest.raises(ValueError, match=r"updates must have shape \(3, 5\)"):
        lax.scatter(x, np.zeros((3, 1), np.int32), np.zeros((2, 5), "f"), dims)
    with pytest.raises(ValueError, match="fit the operand"):
        lax.scatter(x, np.zeros((3, 1), np.int32), np.zeros((3, 6), "f"), dims)
    with pytest.raises(TypeError, match="multiply is not defined for complex64"):
        lax.scatter_mul(x.astype(tg.complex64), np.zeros((3, 1), np.int32), np.zeros((3, 5), "f"), dims)


# --- slices with starts on the GPU --------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("dtype", SOME)
async def test_tf_52_dynamic_slice(dtype: str) -> None:
    """TF-52: starts on the host, on the GPU, mixed, clamped to [0, n - size]; negatives do not wrap."""
    x = numbered((7, 1, 9), dtype)
    gpu = on_gpu(x, dtype)
    for starts, sizes in itertools.product(
        [(2, 0, 3), (-5, 9, 100), (6, 0, 8)], [(3, 1, 4), (7, 1, 9), (1, 1, 1)]
    ):
        at = [min(max(s, 0), n - m) for s, n, m in zip(starts, x.shape, sizes, strict=True)]
        want = x[tuple(slice(s, s + m) for s, m in zip(at, sizes, strict=True))]
        line = tg.asarray(np.array(starts, np.int32))
        for given in (starts, line, (tg.asarray(np.int16(starts[0])), starts[1], line[2]), np.array(starts)):
            got = lax.dynamic_slice(gpu, given, sizes)
            same(await (got.astype(tg.float32) if dtype == "bfloat16" else got).numpy(), want)


async def test_tf_52_dynamic_slice_in_one_launch_and_one_axis() -> None:
    """TF-52: one launch for starts on the GPU, a view for those of the host; the forms of one axis."""
    x = tg.asarray(numbered((12, 20), "float32"))
    start = tg.asarray(np.array([5, -3], np.int32))
    await tg.fetch(x, start)
    host = await x.numpy()
    for view, values in ((x, host), (x.T, host.T), (x[::-1, ::2], host[::-1, ::2])):
        before = launches()
        got = await lax.dynamic_slice(view, start, (4, 8)).numpy()
        assert launches() - before == 1
        same(got, values[min(5, values.shape[0] - 4) :][:4, :8])
    before = launches()
    made = lax.dynamic_slice(x, (3, 4), (2, 5)) + 1.0
    same(await made.numpy(), host[3:5, 4:9] + 1)
    assert launches() - before == 1
    same(await lax.dynamic_slice_in_dim(x, start[0], 3, axis=1).numpy(), host[:, 5:8])
    same(await lax.dynamic_index_in_dim(x, start[0], 0).numpy(), host[5:6])
    same(await lax.dynamic_index_in_dim(x, 99, -1, keepdims=False).numpy(), host[:, -1])
    assert lax.dynamic_slice(x, (0, 0), (0, 3)).shape == (0, 3)
    with pytest.raises(ValueError, match=r"slice_sizes \(13, 1\) do not fit"):
        lax.dynamic_slice(x, (0, 0), (13, 1))
    with pytest.raises(ValueError, match="1 starts for 2 axes"):
        lax.dynamic_slice(x, (0,), (1, 1))
    with pytest.raises(ValueError, match="not float32"):
        lax.dynamic_slice(x, (x[0, 0], 0), (1, 1))


@pytest.mark.limits
@pytest.mark.parametrize("dtype", SOME)
async def test_tf_53_dynamic_update_slice(dtype: str) -> None:
    """TF-53: the same clamp; the operand keeps its values; starts on host and GPU; packed elements at any offset."""
    x, new = numbered((6, 11), dtype), numbered((2, 5), dtype, 40)
    gpu, update = on_gpu(x, dtype), on_gpu(new, dtype)
    for starts in [(1, 3), (-2, 50), (5, 0)]:
        at = [min(max(s, 0), n - m) for s, n, m in zip(starts, x.shape, new.shape, strict=True)]
        want = x.copy()
        want[at[0] : at[0] + 2, at[1] : at[1] + 5] = new
        for given in (starts, tg.asarray(np.array(starts, np.int32))):
            got = lax.dynamic_update_slice(gpu, update, given)
            same(await (got.astype(tg.float32) if dtype == "bfloat16" else got).numpy(), want)
        got = lax.dynamic_update_slice(gpu.T, update.T, starts[::-1])
        same(await (got.astype(tg.float32) if dtype == "bfloat16" else got).numpy(), want.T)
    same(await (gpu.astype(tg.float32) if dtype == "bfloat16" else gpu).numpy(), x)


async def test_tf_53_forms_of_one_axis() -> None:
    x, new = numbered((6, 4), "float32"), numbered((2, 4), "float32", 90)
    got = await lax.dynamic_update_slice_in_dim(x, new, tg.asarray(3), 0).numpy()
    same(got, np.concatenate([x[:3], new, x[5:]]))
    want = x.copy()
    want[:, 2] = 7
    same(await lax.dynamic_update_index_in_dim(x, np.full(6, 7, "f"), tg.asarray(2), 1).numpy(), want)
    same(await lax.dynamic_update_index_in_dim(x, np.full((6, 1), 7, "f"), 2, 1).numpy(), want)
    with pytest.raises(ValueError, match=r"update of shape \(7, 4\) does not fit into \(6, 4\)"):
        lax.dynamic_update_slice(x, np.zeros((7, 4), "f"), (0, 0))
    assert (await lax.dynamic_update_slice(x, np.zeros((0, 4), "f"), (0, 0)).numpy()).shape == (6, 4)


async def test_many_shapes_few_pipelines() -> None:
    """Shapes, strides, starts and dimension numbers are parameters: 500 cases compile a bounded set of kernels."""
    rng = np.random.default_rng(1)
    line = tg.asarray(numbered((4000,), "float32"))
    before = int(tg.memory()["pipelines"])
    made = []
    for _ in range(400):
        c = case(rng)
        x = line[: int(np.prod(c.shape))].reshape(c.shape)
        made.append(lax.gather(x, c.index, lax.GatherDimensionNumbers(*c.dims), c.sizes))
    await tg.fetch(*made)
    for _ in range(100):
        c = case(rng)
        x = line[: int(np.prod(c.shape))].reshape(c.shape)
        new = line[: int(np.prod(c.out))].reshape(c.out)
        await lax.scatter_add(x, c.index, new, lax.ScatterDimensionNumbers(*c.dims)).numpy()
    assert int(tg.memory()["pipelines"]) - before <= 90


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
async def test_many_random_cases(seed: int) -> None:
    """TF-49 and TF-50: gather in both modes and the scatters that are exact, 150 more cases of each seed."""
    rng = np.random.default_rng(100 + seed)
    made, wanted = [], []
    for k in range(150):
        c = case(rng)
        dtype = ("float32", "int32", "int8", "complex64")[k % 4]
        x, new = numbered(c.shape, dtype, k), numbered(c.out, dtype, 3 * k)
        gpu = on_gpu(x, dtype)
        fill = ("clip", "fill")[k // 4 % 2]
        made.append(lax.gather(gpu, c.index, lax.GatherDimensionNumbers(*c.dims), c.sizes, mode=fill))
        wanted.append(
            xla.gather(x, c.index, c.dims, c.sizes, fill.replace("fill", "drop"), FILL.get(dtype, np.nan))
        )
        name, mode = ("", "add")[k // 2 % 2], ("drop", "clip")[k // 8 % 2]
        made.append(FUNCTIONS[name](gpu, c.index, new, lax.ScatterDimensionNumbers(*c.dims), mode=mode))
        wanted.append(xla.scatter(x, c.index, new, c.dims, name, mode))
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        same(got, want)
