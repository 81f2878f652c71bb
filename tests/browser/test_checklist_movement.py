"""The hanzo checklist's rows of indexing, data movement, creation and device (HZ-60 to HZ-72, HZ-76, HZ-81), by id."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

DTYPES = ("float32", "uint32", "int32", "float16", "uint8", "bool", "complex64")


def draw(shape: Any, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, 60])
    return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


async def same(pairs: list[tuple[tg.Array, Any]]) -> None:
    """Values, shapes and dtypes as NumPy's."""
    for k, (got, (_, want)) in enumerate(zip(await tg.fetch(*[g for g, _ in pairs]), pairs, strict=True)):
        want = np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape, f"{k}: {got.dtype} {got.shape}"
        np.testing.assert_array_equal(got, want, err_msg=str(k))


def reads() -> int:
    return int(tg.memory()["reads"])


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_60_index_select(dtype: str) -> None:
    """HZ-60: each dim of [left, dim, right]; ids uint32 or any integers, repeated, negative, none; any layout."""
    x = draw((4, 7, 5), dtype)
    g = tg.asarray(x)
    pairs: list[tuple[tg.Array, Any]] = []
    for dim, n in enumerate(x.shape):
        for ids in ([n - 1, 0, 0, 1], [], [-1, -n]):
            i = np.array(ids, np.intp)
            on_gpu = tg.asarray(i.astype(np.int32) if (i < 0).any() else i.astype(np.uint32))
            pairs.append((tg.take(g, on_gpu, axis=dim), np.take(x, i, axis=dim)))
            pairs.append(
                (tg.take(g[::-1, 1:, ::2], i % 3, axis=dim), np.take(x[::-1, 1:, ::2], i % 3, axis=dim))
            )
    ids = np.array([[3, 0], [1, 3]], np.intp)
    pairs.append((tg.take(g.T, tg.asarray(ids)[:, ::-1], axis=2), np.take(x.T, ids[:, ::-1], axis=2)))
    pairs.append(
        (
            tg.take(tg.broadcast_to(g[:1], (6, 7, 5)), ids, axis=0),
            np.take(np.broadcast_to(x[:1], (6, 7, 5)), ids, axis=0),
        )
    )
    await same(pairs)


async def test_hz_60_ids_out_of_range_raise() -> None:
    """HZ-60, HZ-61: hanzo read other rows; here the read of the result raises, and nothing else is touched."""
    x = tg.asarray(draw((3, 4)))
    for made in (
        tg.take(x, tg.asarray([0, 3]), axis=0),
        tg.take(x, tg.asarray([-4]), axis=0),
        tg.take_along_axis(x, tg.asarray([[4], [0], [0]]), 1),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            await made.numpy()
    with pytest.raises(IndexError):
        tg.take(x, np.array([0, 2**32 - 1]), axis=0)  # no id means "write zero"
    await same([(x, draw((3, 4)))])


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_61_gather(dtype: str) -> None:
    """HZ-61: ids have the result's shape; along dim it may have another size than the source."""
    x = draw((4, 7, 5), dtype)
    g = tg.asarray(x)
    pairs: list[tuple[tg.Array, Any]] = []
    for dim, n in enumerate(x.shape):
        for size in (1, n, 2 * n + 1, 0):
            ids = draw(tuple(size if k == dim else m for k, m in enumerate(x.shape)), "int32", size) % n
            pairs.append(
                (
                    tg.take_along_axis(g, tg.asarray(ids.astype(np.uint32)), dim),
                    np.take_along_axis(x, ids, dim),
                )
            )
            pairs.append(
                (
                    tg.take_along_axis(g[::-1], tg.asarray(ids)[:, ::-1], dim),
                    np.take_along_axis(x[::-1], ids[:, ::-1], dim),
                )
            )
    await same(pairs)


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_62_scatter_set(dtype: str) -> None:
    """HZ-62: in place, ids and values of one shape; the last of duplicates wins; the destination may be any view."""
    pairs: list[tuple[tg.Array, Any]] = []
    for dim in range(3):
        x, v = draw((4, 6, 5), dtype), draw((3, 3, 3), dtype, 1)
        ids = draw((3, 3, 3), "int32", 2) % 3
        whole, want = tg.asarray(x), x.copy()
        part, host = whole[1:, ::2, 2:], want[1:, ::2, 2:]  # an offset and strides, which hanzo ignored
        tg.put_along_axis(part, tg.asarray(ids.astype(np.uint32)), tg.asarray(v), dim)
        for where in np.ndindex(ids.shape):
            at = list(where)
            at[dim] = ids[where]
            host[tuple(at)] = v[where]
        pairs.append((whole, want))
        tg.put_along_axis(
            part,
            tg.zeros((0, 3, 3) if dim == 0 else (3, 0, 3), dtype="int32"),
            v[:0] if dim == 0 else v[:, :0],
            dim and 1,
        )
        pairs.append((part, host))
    await same(pairs)


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ("float32", "int32", "uint32", "uint8", "float16"))
async def test_hz_63_scatter_add_set(dtype: str) -> None:
    """HZ-63: duplicates add up, under contention too; integers exactly, small ones wrap."""
    x, v = draw((4, 6, 5), dtype), draw((4, 6, 5), dtype, 1) % 5
    ids = draw((4, 6, 5), "int32", 2) % 4
    pairs: list[tuple[tg.Array, Any]] = []
    for dim in range(3):
        key = [np.arange(n).reshape((-1,) + (1,) * (2 - k)) for k, n in enumerate(ids.shape)]
        key[dim] = ids
        want = x.copy()
        np.add.at(want, tuple(key), v)
        pairs.append((tg.asarray(x).at[tuple(tg.asarray(k) for k in key)].add(tg.asarray(v)), want))
    many = np.arange(3000) % 3
    want = np.zeros(3, dtype)
    np.add.at(want, many, np.ones(3000, dtype))
    pairs.append((tg.zeros(3, dtype=dtype).at[tg.asarray(many)].add(1), want))
    pairs.append((tg.asarray(x).at[tg.zeros(0, dtype="int32")].add(v[:0]), x))
    await same(pairs)


async def test_hz_63_adding_nan_and_infinities_ends() -> None:
    """HZ-63: a compare-and-exchange on bits must not wait for NaN to equal itself."""
    v = np.float32([np.nan, 1, np.inf, -np.inf, 1, 2, -0.0])
    i = np.array([0, 0, 1, 1, 2, 2, 3])
    want = np.zeros(4, np.float32)
    with np.errstate(invalid="ignore"):
        np.add.at(want, i, v)
    await same([(tg.zeros(4).at[tg.asarray(i)].add(v), want)])


@pytest.mark.parametrize("dtype", ("float32", "int32", "uint32", "float16"))
async def test_hz_81_index_add(dtype: str) -> None:
    """HZ-81: index_add(dim, index, source, alpha), which hanzo left out."""
    x = draw((4, 7, 5), dtype)
    pairs: list[tuple[tg.Array, Any]] = []
    for dim, n in enumerate(x.shape):
        ids = np.array([n - 1, 0, 0])
        source = draw(tuple(3 if k == dim else m for k, m in enumerate(x.shape)), dtype, 3) % 7
        for alpha in (1, 3):
            want = x.copy()
            np.add.at(want, (slice(None),) * dim + (ids,), (source * alpha).astype(dtype))
            pairs.append(
                (tg.index_add(tg.asarray(x), dim, tg.asarray(ids), tg.asarray(source), alpha=alpha), want)
            )
            view, back = (
                tg.asarray(x).swapaxes(0, 2)[::-1],
                (source * alpha).astype(dtype).swapaxes(0, 2)[::-1],
            )
            at = n - 1 - ids if dim == 2 else ids  # the view's first axis runs backwards
            made = tg.index_add(view, 2 - dim, at, tg.asarray(back[::-1] if dim == 2 else back))
            pairs.append((made[::-1].swapaxes(0, 2), want))
    await same(pairs)
    with pytest.raises(IndexError):
        tg.index_add(tg.asarray(x), 0, np.array([4]), x[:1])


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_64_contiguous(dtype: str) -> None:
    """HZ-64: any layout packed, of any rank (hanzo: 6), bits as they are, nothing read."""
    x = draw((2, 3, 2, 1, 2, 3, 2, 2), dtype)
    g, before = tg.asarray(x), reads()
    given = [
        (g.T, x.T), (g[:, ::-1, :, :, 1:, ::2].swapaxes(1, 5), x[:, ::-1, :, :, 1:, ::2].swapaxes(1, 5)),
        (tg.broadcast_to(g[0, 0], (4, 2, 1, 2, 3, 2, 2)), np.broadcast_to(x[0, 0], (4, 2, 1, 2, 3, 2, 2))),
        (g[:0], x[:0]), (g[(1,) * 3 + (0,) + (1,) * 4], x[(1,) * 3 + (0,) + (1,) * 4]),
    ]  # fmt: skip
    packed = [
        (tg.ascontiguousarray(a), np.ascontiguousarray(b) if b.ndim else b.reshape(1)) for a, b in given
    ]
    copies = [(tg.copy(a), b.copy()) for a, b in given]
    assert reads() == before
    await same(packed + copies)
    for made, want in packed:
        assert made.strides == want.strides or not want.size or 1 in want.shape


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_65_copy_strided_src(dtype: str) -> None:
    """HZ-65: a strided source into a part of a buffer; nothing else changes; an empty one is no work; sizes fit."""
    x, want = draw((7, 5, 2, 1, 2, 1, 2), dtype), draw((9, 6, 8), dtype, 1)
    g, out = tg.asarray(x), tg.asarray(want)
    want = want.copy()
    source, host = g[::-2, 1:4].reshape(4, 3, 8), x[::-2, 1:4].reshape(4, 3, 8)
    tg.copyto(out[2:6, ::2], source)
    want[2:6, ::2] = host
    tg.copyto(out[::3, 5:, 1::2], g[0, 0, 0, 0, :, 0, 0][:1])
    want[::3, 5:, 1::2] = x[0, 0, 0, 0, :, 0, 0][:1]
    launches = int(tg.memory()["launches"])
    tg.copyto(out[9:], source[:0, :1])
    assert int(tg.memory()["launches"]) == launches
    await same([(out, want)])
    with pytest.raises(ValueError, match="shape"):
        tg.copyto(out[:3, :3], source)


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ("uint32", "float32", "uint8", "float16"))
async def test_hz_66_copy2d(dtype: str) -> None:
    """HZ-66: blocks of rows with their own strides and offsets, bits as they are, words between them untouched."""
    size = np.dtype(dtype).itemsize
    bits = np.random.default_rng(66).integers(0, 2 ** (8 * size), (6, 40), dtype=np.uint64).astype(f"u{size}")
    x = bits.view(dtype)
    src = tg.asarray(bits)  # unsigned, so that NaN's bits are compared
    out, want = tg.zeros((8, 50), dtype=bits.dtype), np.zeros((8, 50), bits.dtype)
    out[1:7, 3:20] = src[:, 5:22]
    want[1:7, 3:20] = bits[:, 5:22]
    out[:, 30:31] = src[0, :8].reshape(8, 1)
    want[:, 30:31] = bits[0, :8].reshape(8, 1)
    await same(
        [
            (out, want),
            (tg.concat([src, src[:2, ::-1]], axis=0), np.concatenate([bits, bits[:2, ::-1]], axis=0)),
        ]
    )
    if dtype != "float32":  # NaN payloads of float32 arrays: test_bits_stay_as_they_are
        return
    cache, host = tg.zeros((2, 16, 4)), np.zeros((2, 16, 4), np.float32)
    for step in range(4):
        new = draw((2, 3, 4), seed=step)
        cache[:, 3 * step : 3 * step + 3] = tg.asarray(new)
        host[:, 3 * step : 3 * step + 3] = new
    await same([(cache, host), (tg.repeat(cache[:, :5], 3, axis=0), np.repeat(host[:, :5], 3, axis=0))])
    assert x.dtype == np.float32


@pytest.mark.limits
@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_67_const_set(dtype: str) -> None:
    """HZ-67: a scalar into all of a buffer or into any view of it, on the GPU: hanzo read and wrote back."""
    x = draw((6, 7), dtype)
    value = {"bool": True, "complex64": 2 - 3j, "uint32": 2**32 - 1, "float32": 0.1}.get(dtype, 7)
    before = reads()
    a, b, c = tg.asarray(x), tg.asarray(x), tg.full((3, 5), value, dtype=dtype)
    a[...] = value
    b[::2, 1:-1:3] = value
    b.T[6, :2] = value
    b[3:3] = value
    assert reads() == before
    want = x.copy()
    want[::2, 1:-1:3] = value
    want.T[6, :2] = value
    await same([(a, np.full((6, 7), value, dtype)), (b, want), (c, np.full((3, 5), value, dtype))])


async def test_hz_67_python_integers_have_the_destinations_dtype() -> None:
    """HZ-67: integers that int32 does not hold, into uint32 and floats, whole and in part, by each way of writing."""
    top, mask = 2**32 - 1, np.array([True, False, True])
    made = [tg.zeros(3, dtype="uint32") for _ in range(6)]
    made[0][...] = top
    made[1][1:] = top
    tg.put(made[2], [0], top)
    tg.putmask(made[3], mask, top)
    tg.place(made[4], mask, top)
    tg.copyto(made[5], top)
    wide = tg.zeros(2)
    wide[...] = 2**40
    want = [[top] * 3, [0, top, top], [top, 0, 0], [top, 0, top], [top, 0, top], [top] * 3]
    pairs = [(m, np.array(w, np.uint32)) for m, w in zip(made, want, strict=True)]
    inserted = np.array([0, top, 0], np.uint32)
    await same(
        [*pairs, (tg.insert(made[1][:2] * 0, 1, top), inserted), (wide, np.full(2, 2.0**40, np.float32))]
    )
    with pytest.raises(OverflowError, match="-1 out of bounds for uint32"):
        made[0][...] = -1


async def test_hz_68_try_clone() -> None:
    """HZ-68: a copy on the GPU that shares nothing and packs the layout; hanzo's went through the host."""
    x = draw((5, 6), "uint32")
    g, before = tg.asarray(x), reads()
    a, b = g[:, ::2].copy(), tg.copy(g.T)
    g[...] = 0
    assert reads() == before
    await same([(a, x[:, ::2]), (b, x.T)])


@pytest.mark.parametrize("dtype", DTYPES)
async def test_hz_69_hz_70_zeros_and_empty(dtype: str) -> None:
    """HZ-69, HZ-70: zeros and memory without values, in their own dtype; no bytes are uploaded."""
    before = int(tg.memory()["bytes_uploaded"])
    made = [tg.zeros(s, dtype=dtype) for s in ((3, 5), (0, 4), (), (70_001,))]
    empty = tg.empty((4, 3), dtype=dtype)
    assert int(tg.memory()["bytes_uploaded"]) == before
    assert empty.shape == (4, 3) and empty.dtype == dtype
    empty[...] = 1
    await same([*((m, np.zeros(m.shape, dtype)) for m in made), (empty, np.ones((4, 3), dtype))])


@pytest.mark.parametrize("dtype", (*DTYPES, "int8", "int16", "uint16"))
async def test_hz_71_hz_72_upload_and_download(dtype: str) -> None:
    """HZ-71, HZ-72: host memory of any layout, there and back in its own dtype: hanzo had float32 and uint32."""
    x = draw((5, 7), dtype)
    hosts = [x, x[::-1, ::2], x.T, np.asfortranarray(x), x[:0], x[2, 3], np.broadcast_to(x[0], (3, 7))]
    await same([(tg.asarray(h), h) for h in hosts])
    for n in range(1, 6):  # no multiple of a word
        await same([(tg.asarray(x.ravel()[:n]), x.ravel()[:n])])


async def test_hz_72_special_bits_come_back() -> None:
    """HZ-72: NaN payloads, denormals and -0 as they went; uint32 above 2^31 too."""
    bits = np.array([0x7FC12345, 1, 0x80000000, 0x7F800001, 0xFFFFFFFF, 0x80000001, 2**31 + 7], np.uint32)
    f, u = await tg.fetch(tg.asarray(bits.view(np.float32)), tg.asarray(bits))
    assert np.array_equal(f.view(np.uint32), bits) and np.array_equal(u, bits)


async def test_hz_76_device_queries() -> None:
    """HZ-76: synchronize waits for all work; a device describes its adapter; arrays know theirs."""
    x = tg.ones((64, 64))
    y = x @ x
    await tg.synchronize()
    assert int(tg.memory()["operations"]) > 0
    device = tg.device()
    assert (
        device.info["vendor"]
        and device.limits["maxBufferSize"] > 0
        and str(device.info["vendor"]) in repr(device)
    )
    assert x.device == y.device
    await same([(y, np.full((64, 64), 64, np.float32))])
