"""tg.lax: slices, pads, broadcasts, diagonals and copies against NumPy; what is a view and what is one launch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xla_reference as xla
from arrays import DTYPES, numbered, on_gpu

import tabgpu as tg
from tabgpu import lax

ALL_KINDS = ("float32", "complex64", "bool", "bfloat16", "int32", "int8", "float16")
KINDS = [pytest.param(k, marks=pytest.mark.slow) if n > 3 else k for n, k in enumerate(ALL_KINDS)]


def launches() -> int:
    return int(tg.memory()["launches"])


async def values(x: tg.Array) -> Any:
    return await (x.astype(tg.float32) if x.dtype == "bfloat16" else x).numpy()


@pytest.mark.parametrize("dtype", KINDS)
async def test_tf_03_transpose(dtype: str) -> None:
    """TF-03: every permutation of 4 axes, materialised, also of complex numbers; what is none is refused."""
    x = numbered((2, 3, 4, 5), dtype)
    gpu = on_gpu(x, dtype)
    for perm in itertools.permutations(range(4)):
        got = await values(lax.transpose(gpu, perm).copy())
        assert np.array_equal(got, x.transpose(perm))
    for wrong in [(0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 4)]:
        with pytest.raises((ValueError, IndexError)):
            lax.transpose(gpu, wrong)


STRIDED = {
    "reversed": lambda x: x[::-1, :, ::-2],
    "stepped": lambda x: x[1::2, ::3],
    "turned": lambda x: x.T[2:, :, 1:],
    "diagonal": lambda x: x[3, 2:, 1:],
}


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
@pytest.mark.parametrize("how", STRIDED)
async def test_tf_04_to_contiguous(dtype: str, how: str) -> None:
    """TF-04: any strides, negative ones and offsets too, become row-major in one launch; a tensor as it is."""
    x = numbered((5, 7, 6), dtype)
    gpu = on_gpu(x, dtype)
    await gpu.numpy()
    before = launches()
    made = STRIDED[how](gpu).copy()
    assert np.array_equal(await made.numpy(), STRIDED[how](x))
    assert launches() - before == 1
    wide = tg.broadcast_to(gpu[:, :1], (2, 5, 7, 6))
    assert np.array_equal(await tg.ascontiguousarray(wide).numpy(), np.broadcast_to(x[:, :1], (2, 5, 7, 6)))


@pytest.mark.parametrize("rank", range(1, 7))
async def test_tf_05_to_contiguous_of_any_rank(rank: int) -> None:
    """TF-05: float32 views of rank 1 to 6, axes turned, stepped and reversed, from an offset."""
    shape = (3, 4, 3, 2, 3, 4)[:rank]
    x = numbered(shape, "float32")
    key = tuple(slice(None, None, -1) if k % 2 else slice(1, None) for k in range(rank))
    order = tuple(np.roll(range(rank), 1))
    got = await tg.asarray(x)[key].transpose(tuple(int(k) for k in order)).copy().numpy()
    assert np.array_equal(got, x[key].transpose(order))


@pytest.mark.parametrize("dtype", KINDS)
async def test_tf_36_copy_read_into(dtype: str) -> None:
    """TF-36: a view is copied into a view of another array: steps, reversals, broadcasts; the rest stays."""
    x, y = numbered((6, 8), dtype), numbered((9, 10), dtype, 50)
    for source, target in [
        ((slice(None), slice(None)), (slice(2, 8), slice(1, 9))),
        ((slice(None, None, -2), slice(0, 5)), (slice(0, 9, 4), slice(None, None, -2))),
        ((slice(0, 1), slice(0, 4)), (slice(3, 7), slice(6, 10))),
    ]:
        want = y.copy()
        want[target] = x[source]
        gpu = on_gpu(y, dtype)
        gpu[target] = on_gpu(x, dtype)[source]
        assert np.array_equal(await values(gpu), want)


async def test_tf_44_copy_into() -> None:
    """TF-44: a float32 view into a float32 view, in place and in one launch; a copy onto itself, shifted."""
    x, y = tg.asarray(numbered((20, 30), "float32")), tg.asarray(numbered((40, 40), "float32", 9))
    hx, hy = await tg.fetch(x, y)
    before = launches()
    y[3:23, 5:35] = x
    got = await y.numpy()
    assert launches() - before == 1
    hy = hy.copy()
    hy[3:23, 5:35] = hx
    assert np.array_equal(got, hy)
    tg.copyto(y[::2, 1:], y.T[::2, 1:])
    hy[::2, 1:] = hy.T[::2, 1:].copy()
    assert np.array_equal(await y.numpy(), hy)


@pytest.mark.parametrize("shape", [(12,), (3, 4), (4, 3), (2, 3, 2), (1, 12), (2, 2, 3, 1)])
async def test_tf_37_reshape_column_major(shape: tuple[int, ...]) -> None:
    """TF-37: first axis first (order="F"); lax.reshape row-major, and of axes in another order."""
    x = numbered((2, 6), "int32")
    got = await tg.reshape(tg.asarray(x), shape, order="F").numpy()
    assert np.array_equal(got, x.reshape(shape, order="F"))
    assert np.array_equal(await lax.reshape(x, shape).numpy(), x.reshape(shape))
    got = await lax.reshape(x, shape, dimensions=(1, 0)).numpy()
    assert np.array_equal(got, x.T.reshape(shape))
    with pytest.raises(ValueError, match=r"cannot reshape \(2, 6\)"):
        lax.reshape(x, (5,))


async def test_tf_38_broadcast_in_dim() -> None:
    """TF-38: axis i becomes axis dims[i], axes of size 1 expand; a view, no launch of its own."""
    x = numbered((3, 1), "float32")
    gpu = tg.asarray(x)
    await gpu.numpy()
    for shape, dims, want in [
        ((3, 4), (0, 1), np.broadcast_to(x, (3, 4))),
        ((2, 3, 5, 4), (1, 3), np.broadcast_to(x[None, :, None, :], (2, 3, 5, 4))),
        ((3, 1), (0, 1), x),
        ((3, 2, 1), (0, 2), np.broadcast_to(x[:, None], (3, 2, 1))),
    ]:
        before = launches()
        made = lax.broadcast_in_dim(gpu, shape, dims) + np.float32(1)
        assert np.array_equal(await made.numpy(), want + 1)
        assert launches() - before == 1
    assert lax.broadcast_in_dim(tg.asarray(2.0), (2, 3), ()).shape == (2, 3)
    assert np.array_equal(await lax.broadcast(gpu, (2, 2)).numpy(), np.broadcast_to(x, (2, 2, 3, 1)))
    for shape, dims in [
        ((3, 4), (1, 0)),
        ((4, 4), (0, 1)),
        ((3, 4), (0, 0)),
        ((3, 4), (0, 2)),
        ((3, 4), (0,)),
    ]:
        with pytest.raises(ValueError, match="broadcast_in_dim: shape"):
            lax.broadcast_in_dim(gpu, shape, dims)


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (-1, 0), (1, 2)])
async def test_tf_40_extract_diagonal(axes: tuple[int, int]) -> None:
    """TF-40: the diagonal of any two axes, any offset, as a view."""
    x = numbered((4, 5, 3), "int32")
    for offset in (0, 1, -2, 7):
        got = await lax.extract_diagonal(tg.asarray(x), *axes, offset).numpy()
        assert np.array_equal(got, np.diagonal(x, offset, *axes))
    with pytest.raises(ValueError, match="axis1 and axis2 are both"):
        lax.extract_diagonal(tg.asarray(x), 1, 1)


@pytest.mark.parametrize("dtype", KINDS)
async def test_tf_41_embed_diagonal(dtype: str) -> None:
    """TF-41: the last axis on the diagonal of two new axes, anywhere; zeros beside it; its inverse gets it back."""
    x = numbered((2, 3, 4), dtype, 1)
    gpu = on_gpu(x, dtype)
    for offset, (a, b) in itertools.product((0, 2, -1), [(-2, -1), (0, 1), (3, 1), (1, 0)]):
        got = await values(lax.embed_diagonal(gpu, a, b, offset))
        n = 4 + abs(offset)
        want = np.zeros((2, 3, n, n), x.dtype)
        i = np.arange(4)
        want[..., i + max(-offset, 0), i + max(offset, 0)] = x
        want = np.moveaxis(want, (-2, -1), (a, b))
        assert np.array_equal(got, want)
        back = lax.extract_diagonal(lax.embed_diagonal(gpu, a, b, offset), a, b, offset)
        assert np.array_equal(await values(back), x)
    assert lax.embed_diagonal(tg.zeros((3, 0))).shape == (3, 0, 0)


@pytest.mark.parametrize(("row", "upper"), [("TF-42", False), ("TF-43", True)])
async def test_triangles(row: str, upper: bool) -> None:
    """TF-42 tril and TF-43 triu: any diagonal, stacks, one launch; NaN outside is cut off."""
    x = numbered((2, 5, 7), "float32")
    x[:, 0, 6] = x[:, 4, 0] = np.nan
    gpu = tg.asarray(x)
    await gpu.numpy()
    for k in (-5, -1, 0, 1, 3, 8):
        before = launches()
        got = await (lax.triu if upper else lax.tril)(gpu, k).numpy()
        want = (np.triu if upper else np.tril)(x, k)
        assert np.array_equal(got, want, equal_nan=True) and launches() - before == 1
    y = numbered((4, 4), "complex64")
    assert np.array_equal(
        await (lax.triu if upper else lax.tril)(y).numpy(), (np.triu if upper else np.tril)(y)
    )


@pytest.mark.parametrize("dtype", KINDS)
async def test_tf_51_slice(dtype: str) -> None:
    """TF-51: starts, limits, positive strides; views; what lies beyond is refused, not clamped."""
    x = numbered((7, 9), dtype)
    gpu = on_gpu(x, dtype)
    for starts, limits, strides in [
        ((0, 0), (7, 9), None), ((2, 3), (5, 8), (1, 2)), ((1, 0), (7, 1), (3, 5)), ((4, 4), (4, 9), None),
    ]:  # fmt: skip
        key = tuple(slice(a, b, s) for a, b, s in zip(starts, limits, strides or (1, 1), strict=True))
        assert np.array_equal(await values(lax.slice(gpu, starts, limits, strides)), x[key])
    assert np.array_equal(await values(lax.slice_in_dim(gpu, 1, -1, 3, axis=1)), x[:, 1:-1:3])
    assert np.array_equal(await values(lax.index_in_dim(gpu, -2, axis=0)), x[-2:-1])
    for starts, limits, strides in [((0, 0), (8, 9), None), ((-1, 0), (7, 9), None), ((3, 0), (2, 9), None),
                                    ((0, 0), (7, 9), (0, 1)), ((0,), (7,), None)]:  # fmt: skip
        with pytest.raises(ValueError, match="slice: "):
            lax.slice(gpu, starts, limits, strides)


PADS = [
    [(0, 0, 0), (0, 0, 0)], [(1, 2, 0), (3, 0, 0)], [(0, 0, 1), (0, 0, 2)], [(2, 3, 1), (1, 4, 2)],
    [(-1, 0, 0), (0, -2, 0)], [(-2, -1, 2), (5, -3, 1)], [(4, -4, 3), (-5, 5, 0)], [(0, 7, 4), (7, 0, 1)],
    [(-3, -3, 1), (0, 0, 0)],
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("dtype", KINDS)
async def test_tf_54_pad(dtype: str) -> None:
    """TF-54: low and high of either sign, interior; any value, also one on the GPU; a launch (two for that)."""
    for shape, config in itertools.product([(4, 5), (1, 1), (3, 1)], PADS):
        sizes = [n + (n - 1) * k + a + b for n, (a, b, k) in zip(shape, config, strict=True)]
        x = numbered(shape, dtype)
        gpu = on_gpu(x, dtype)
        if min(sizes) < 0:
            with pytest.raises(ValueError, match="leaves sizes"):
                lax.pad(gpu, 0, config)
            continue
        value = {"bool": True, "complex64": 1 - 2j, "int8": -7, "int32": -70000}.get(dtype, 2.5)
        await tg.synchronize()
        before = launches()
        made = lax.pad(gpu, value, config)
        got = await values(made)
        want = xla.pad(x, value, config)
        assert got.shape == want.shape and np.array_equal(got, want)
        if dtype != "bfloat16":
            assert launches() - before <= 2  # a view of the padded array is packed to be read
        one = on_gpu(np.array(value, x.dtype), dtype)
        assert np.array_equal(await values(lax.pad(gpu, one, config)), want)


async def test_tf_54_pad_of_nothing_and_special_values() -> None:
    assert np.array_equal(
        await lax.pad(tg.zeros((0, 2)), 3.0, [(1, 1, 4), (0, 1, 1)]).numpy(), np.full((2, 4), 3.0)
    )
    x = np.array([np.nan, -0.0, np.inf], np.float32)
    got = await lax.pad(tg.asarray(x), float("-inf"), [(1, 0, 1)]).numpy()
    want = np.array([-np.inf, np.nan, -np.inf, -0.0, -np.inf, np.inf], np.float32)
    assert np.array_equal(got.view(np.uint32) & 0xFFC00000, want.view(np.uint32) & 0xFFC00000)
    y = tg.asarray(numbered((3, 4, 5), "float32"))
    await y.numpy()
    before = launches()
    made = lax.pad(y[:, ::-1], 1.0, [(2, 1, 1), (0, 3, 0), (-1, 0, 2)]) * 2.0
    await made.numpy()
    assert launches() - before == 2  # the pad, the product
    with pytest.raises(ValueError, match="needs \\(low, high, interior >= 0\\)"):
        lax.pad(y, 0, [(0, 0, 0)])


@pytest.mark.parametrize("dtype", DTYPES)
async def test_tf_55_concatenate(dtype: str) -> None:
    """TF-55: several arrays, any axis, some empty, of every dtype; views; different dtypes are refused."""
    parts = [numbered((2, n, 3), dtype, 10 * n) for n in (1, 4, 0, 5)]
    gpu = [on_gpu(x, dtype) for x in parts]
    assert np.array_equal(await values(lax.concatenate(gpu, 1)), np.concatenate(parts, 1))
    turned = [x.transpose((1, 0, 2)) for x in gpu]
    assert np.array_equal(
        await values(lax.concatenate(turned, 0)), np.concatenate([x.transpose(1, 0, 2) for x in parts])
    )
    with pytest.raises(TypeError, match="operands of one dtype"):
        lax.concatenate([tg.zeros(2), tg.zeros(2, dtype=tg.int32)], 0)
    with pytest.raises(ValueError, match="no operands"):
        lax.concatenate([], 0)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2), ()])
async def test_tf_56_reverse(axes: tuple[int, ...]) -> None:
    """TF-56: any axes, of packed dtypes too; a view."""
    for dtype in ALL_KINDS:
        x = numbered((3, 4, 5), dtype)
        assert np.array_equal(await values(lax.rev(on_gpu(x, dtype), axes)), np.flip(x, axes))


async def test_iota_and_other_shapes() -> None:
    for dtype in ("int32", "uint8", "float32", "float16"):
        got = await lax.broadcasted_iota(dtype, (3, 4, 5), 1).numpy()
        assert got.dtype == dtype and np.array_equal(got, np.broadcast_to(np.arange(4)[:, None], (3, 4, 5)))
    assert np.array_equal(await lax.iota("int32", 7).numpy(), np.arange(7))
    x = tg.asarray(numbered((2, 3, 4, 1), "int32"))
    assert lax.collapse(x, 1, 3).shape == (2, 12, 1) and lax.collapse(x, 0).shape == (24,)
    assert lax.squeeze(x, (3,)).shape == (2, 3, 4) and lax.expand_dims(x, (0, 2)).shape == (1, 2, 1, 3, 4, 1)
    assert np.array_equal(await lax.full_like(x, 3, shape=(2,)).numpy(), [3, 3])
    with pytest.raises(ValueError, match="size other than 1"):
        lax.squeeze(x, (0,))
    with pytest.raises(ValueError, match="no axes from"):
        lax.collapse(x, 2, 2)
