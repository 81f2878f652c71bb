"""What fresh eyes broke once, in the tab: results that alias their input, arguments taken silently, late errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge import can_suspend


@pytest.mark.parametrize("function", ("clip", "nan_to_num"))
@pytest.mark.parametrize("dtype", (np.bool_, np.int32, np.uint32, np.float32), ids=lambda d: d.__name__)
async def test_assignment_to_a_result_leaves_its_input(function: str, dtype: Any) -> None:
    values = np.array([0, 1, 1], dtype)
    x = tg.asarray(values)
    y = getattr(tg, function)(x)
    y[...] = tg.asarray(np.array([1, 0, 0], dtype))
    got, made = await tg.fetch(x, y)
    assert got.dtype == made.dtype == dtype
    assert got.tolist() == values.tolist()
    assert made.tolist() == [1, 0, 0]


async def test_nan_to_num_of_host_integers_and_bools_keeps_the_dtype() -> None:
    for values in ([1, 2], [True, False], 3, True):
        got = await tg.nan_to_num(values).numpy()
        want = np.nan_to_num(np.asarray(values))
        assert got.dtype.kind == want.dtype.kind and np.array_equal(got, want)


async def test_exponents_of_ldexp_are_integers() -> None:
    for exponent in (1.5, np.float32(2), tg.ones(2)):
        with pytest.raises(TypeError, match="ldexp: an operand must be integers"):
            tg.ldexp(tg.ones(2), exponent)
    for exponent in (3, True, np.int64(2), np.array([1, -2]), tg.arange(2, dtype=tg.uint32)):
        host = np.asarray(await exponent.numpy() if isinstance(exponent, tg.Array) else exponent)
        got = await tg.ldexp(tg.ones(2), exponent).numpy()
        assert np.array_equal(got, np.ldexp(np.ones(2, np.float32), host.astype(np.int32)))


async def test_decimals_are_integers() -> None:
    for x in (tg.ones(2), tg.arange(3)):
        with pytest.raises(TypeError, match="integer"):
            tg.round(x, 1.5)  # type: ignore[arg-type]
    assert (await tg.round(tg.asarray([1.26]), np.int64(1)).tolist()) == [pytest.approx(1.3)]


async def test_positions_are_along_one_axis() -> None:
    x = tg.ones((2, 3))
    for f in (tg.argmax, tg.argmin):
        with pytest.raises(TypeError, match=r"axis must be an integer or None, not \(0, 1\)"):
            f(x, axis=(0, 1))


@pytest.mark.parametrize("value", (0, -1, 1.5, None, "x"))
async def test_limits_that_are_no_limits(value: Any) -> None:
    before = tg.device().counters
    for name in ("maxBufferSize", "maxComputeWorkgroupsPerDimension", "maxFusedBuffers"):
        with pytest.raises(ValueError, match=f"{name} must be a positive integer, not {value!r}"):
            await tg.init(limits={name: value})
    for name in ("pool_bytes", "memory_limit"):
        with pytest.raises(ValueError, match=f"{name} must be None or a number of bytes"):
            await tg.init(**{name: "x" if value in (0, None) else value})
    assert tg.device().counters is before  # the open device stays


async def test_b04_parameters_of_every_rank() -> None:
    """Kernels get sizes and strides as words: no rank falls into another's padding."""
    for rank in range(1, 7):
        x = np.arange(2**rank * 3, dtype=np.float32).reshape((2,) * rank + (3,))[..., ::-1]
        order = [*range(rank, -1, -1)]
        got = tg.permute_dims(tg.asarray(x), order) + tg.asarray(np.float32(0.5))
        assert np.array_equal(await got.numpy(), x.transpose(order) + np.float32(0.5))


async def test_b11_keepdims_keeps_reduced_axes_at_one() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for axis in (None, (), 0, -1, (0, 2), (0, 1, 2)):
        got, want = tg.sum(tg.asarray(x), axis=axis, keepdims=True), np.sum(x, axis=axis, keepdims=True)
        assert got.shape == want.shape and np.array_equal(await got.numpy(), want)


async def test_a_difference_with_itself_is_not_always_zero() -> None:
    """x - x of infinities and NaN is NaN, though compilers may fold it (Mesa does)."""
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -3.5, 1e-40], np.float32)
    with np.errstate(invalid="ignore"):
        for x in (values, values.astype(np.float16), values + 1j * values[::-1]):
            g = tg.asarray(x)
            np.testing.assert_array_equal(await (g - g).numpy(), x - x)
            np.testing.assert_array_equal(await (g[::-1] - g[::-1]).numpy(), x[::-1] - x[::-1])


async def test_array_of_an_array_is_a_copy() -> None:
    x = tg.asarray([1, 2])
    copied, shared = tg.array(x), tg.array(x, copy=None)
    copied += 5
    assert (await x.tolist(), await copied.tolist()) == ([1, 2], [6, 7])
    shared += 1
    assert await x.tolist() == [2, 3]
    assert (await tg.array(x, tg.float32).numpy()).dtype == np.float32


async def test_broadcast_views_are_read_only() -> None:
    x = tg.arange(4.0)
    spread = tg.broadcast_to(x, (3, 4))
    writes = (
        lambda: spread.__setitem__(..., 1),
        lambda: spread.__setitem__((0, 0), tg.ones(())),
        lambda: spread.__setitem__(tg.asarray([2, 0]), tg.ones((2, 4))),
        lambda: spread.__setitem__(spread > 1, 7),
        lambda: spread.__iadd__(1),
        lambda: tg.add(spread, 1, out=spread),
        lambda: tg.put(spread, [1], [5]),
        lambda: np.add.at(spread, [0], 1),
    )
    for write in writes:
        with pytest.raises(
            ValueError, match=r"destination, a broadcast view of shape \(3, 4\), is read-only"
        ):
            write()
    assert await x.tolist() == [0, 1, 2, 3]
    one = tg.broadcast_to(x, (1, 4))  # nothing is repeated: NumPy's are read-only, these name their array
    one[0, 1] = 9
    assert await x.tolist() == [0, 9, 2, 3]


async def test_limits_beyond_the_dtype_limit_nothing() -> None:
    x = np.array([1, 200], np.uint8)
    for low, high in ((0, 256), (-1, 100), (-5, 300), (None, 1 << 40), (5, 255)):
        got = await tg.clip(tg.asarray(x), low, high).numpy()
        assert got.dtype == np.uint8 and got.tolist() == np.clip(x.astype(np.int64), low, high).tolist()
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        tg.clip(tg.asarray(x), 300, None)


async def test_flat_positions_of_narrow_integers() -> None:
    for dtype in (np.int8, np.uint8, np.int16):
        at = tg.asarray(np.array([100], dtype))
        assert [await k.tolist() for k in tg.unravel_index(at, (300, 3))] == [[33], [1]]
        for mode in ("raise", "wrap", "clip"):
            assert await tg.ravel_multi_index((at, at * 0 + 1), (300, 3), mode=mode).tolist() == [301]


async def test_arrays_like_host_values() -> None:
    for like in ([[1, 2]], 3.0, np.ones((2, 3)), np.ones(2, np.int8)):
        want = await tg.asarray(like).numpy()
        for name, *fill in (("zeros",), ("ones",), ("empty",), ("full", 5)):
            got = await getattr(tg, f"{name}_like")(like, *fill).numpy()
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            assert (got == (fill[0] if fill else name == "ones")).all()


@pytest.mark.skipif(not can_suspend(), reason="no JSPI: the count of a mask has to be read")
async def test_masks_on_the_gpu_in_at() -> None:
    """They were a KernelError."""
    host = np.arange(12).reshape(3, 4)
    for mask in (host % 3 == 1, np.array([True, False, True])):
        g, wanted = tg.asarray(mask), host.copy()
        wanted[mask] += 5
        x = tg.asarray(host)
        assert np.array_equal(await x.at[g].add(5).numpy(), wanted)
        assert np.array_equal(await x.at[g].get().numpy(), host[mask])
        assert np.array_equal(await x.at[g].subtract(tg.asarray(host[mask])).numpy(), np.where(
            np.broadcast_to(mask if mask.ndim == 2 else mask[:, None], host.shape), 0, host
        ))  # fmt: skip
        np.add.at(x, g, 5)  # type: ignore[call-overload]
        assert np.array_equal(await x.numpy(), wanted)
