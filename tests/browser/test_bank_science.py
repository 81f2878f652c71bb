"""Entries of the issue bank's sections 8 (products, linear algebra, FFT) and 13 (random numbers, interoperation) at
their own sizes, through the public operators; tests/unit/test_issue_bank.py says which tests exercise which entry. Of
the runmat checklist's section 4 the defects that have no number."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

EPS = 2.0**-24
SIZES = (1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65)


def draw(*shape: int) -> Any:
    return np.random.default_rng([*shape, 8]).normal(size=shape).astype(np.float32)


def close(got: Any, a: Any, b: Any) -> None:
    """Within 4 k eps of the sum of sizes, the bound of docs/numerics.md; a product of zeros is far outside."""
    a, b = a.astype(float), b.astype(float)
    assert (np.abs(got - a @ b) <= 4 * max(a.shape[-1], 1) * EPS * (np.abs(a) @ np.abs(b))).all(), (
        a.shape,
        b.shape,
    )


@pytest.mark.limits
async def test_l01_rows_around_500() -> None:
    """L01: products of M rows were near zero from about 500 on; plain, batched, and (1, 8, 512, 512) by 32 columns."""
    pairs = [(draw(m, 33), draw(33, 17)) for m in (1, 7, 31, 32, 33, 64, 65, 499, 500, 513)]
    pairs += [(draw(2, m, 20), draw(20, 9)) for m in (1, 65, 500, 513)]
    pairs += [(draw(1, 8, 512, 512), draw(1, 8, 512, 32))]
    for got, (a, b) in zip(await tg.fetch(*[tg.asarray(a) @ b for a, b in pairs]), pairs, strict=True):
        close(got, a, b)


@pytest.mark.parametrize("m", SIZES)
async def test_l02_all_sizes_off_the_tiles(m: int) -> None:
    """L02: every (m, n, k) of the list; b beside its transposed copy, alternately."""
    line = draw(10_000)
    there = tg.asarray(line)
    made, wanted = [], []
    for i, (n, k) in enumerate(itertools.product(SIZES, SIZES)):
        shape = (k, n) if i % 2 else (n, k)
        a, b = line[: m * k].reshape(m, k), line[5000 : 5000 + k * n].reshape(shape)
        x, y = there[: m * k].reshape(m, k), there[5000 : 5000 + k * n].reshape(shape)
        made.append(x @ (y if i % 2 else y.T))
        wanted.append((a, b if i % 2 else b.T))
    for got, (a, b) in zip(await tg.fetch(*made), wanted, strict=True):
        close(got, a, b)


@pytest.mark.limits
async def test_l07_more_than_65535_batches() -> None:
    """L07: (70000, 1, 8) @ (8, 4); a matrix for each; vectors."""
    a = draw(70_000, 1, 8)
    for b in (draw(8, 4), draw(70_000, 8, 2), draw(8)):
        close(await (tg.asarray(a) @ tg.asarray(b)).numpy(), a, b)


async def test_l11_ill_conditioned_tall_systems() -> None:
    """L11: lstsq and pinv do not square the condition number, 1e4 here: errors stay near eps times it."""
    rng = np.random.default_rng(11)
    u, _ = np.linalg.qr(rng.normal(size=(80, 12)))
    v, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    a = ((u * np.geomspace(1, 1e-4, 12)) @ v).astype(np.float32)
    wide, x = a.astype(float), rng.normal(size=12)
    b = (wide @ x).astype(np.float32)
    found, inverse = await tg.fetch(
        tg.linalg.lstsq(tg.asarray(a), tg.asarray(b)).x, tg.linalg.pinv(tg.asarray(a))
    )
    want = np.linalg.lstsq(wide, b.astype(float), rcond=None)[0]
    assert np.linalg.norm(found - want) <= 20 * EPS * 1e4 * np.linalg.norm(
        want
    )  # by squares: of the order of 1
    assert np.linalg.norm(inverse @ wide - np.eye(12)) <= 20 * 12 * EPS * 1e4


@pytest.mark.parametrize("n", [1009, 3 * 5 * 7 * 11, 65_537, 1 << 20])
async def test_l13_long_transforms(n: int) -> None:
    """L13: wrong above 2^20, or O(n^2) for primes (L14): there and back, within 4 eps log2 n."""
    rng = np.random.default_rng(n)
    x = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(np.complex64)
    there = tg.fft.fft(tg.asarray(x))
    got, back = await tg.fetch(there, tg.fft.ifft(there))
    for found, want in ((got, np.fft.fft(x.astype(complex))), (back, x)):
        error = np.linalg.norm(found - want) / np.linalg.norm(want)
        assert error <= 8 * EPS * np.log2(n), error


async def test_r17_infinite_norms_along_negative_axes() -> None:
    """R17: norm(x, inf, axis=-1) of two and three axes, pairs of negative axes, and -inf."""
    made, wanted = [], []
    for x in (draw(5, 7), draw(3, 5, 4), draw(2, 1, 1)):
        for order in (np.inf, -np.inf):
            for axis in (-1, -2, (-1, -2), (-2, -1), (0, -1)):
                for keep in (False, True):
                    made.append(tg.linalg.norm(tg.asarray(x), order, axis=axis, keepdims=keep))
                    wanted.append(np.linalg.norm(x.astype(float), order, axis=axis, keepdims=keep))
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-6)


async def test_x05_copy_and_device_of_asarray() -> None:
    """X05: asarray(copy=, device=) and from_dlpack(device=) of devices that are not there."""
    a = tg.asarray(np.float32([1, 2]), device="webgpu")
    assert tg.asarray(a, copy=False) is a and tg.asarray(a) is a
    other = tg.asarray(a, copy=True)
    other[0] = 9
    assert (await a.numpy()).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        tg.asarray(np.float32([1, 2]), copy=False)
    for call in (tg.asarray, tg.from_dlpack, tg.zeros_like):
        with pytest.raises(ValueError, match="cuda"):
            call(np.float32([1, 2]) if call is tg.from_dlpack else a, device="cuda:0")


# --- defects without a number ---
A = draw(9, 7)
B = (draw(8, 8) @ draw(8, 8).T + 8 * np.eye(8)).astype(np.float32)
linalg, signal, image = tg.linalg, tg.signal, tg.image
CALLS: dict[str, Any] = {
    "eye": lambda x: tg.eye(13, 17, k=2),
    "diag": lambda x: tg.diag(x[0], 1),
    "triangles": lambda x: tg.tril(x) + tg.triu(x, 3),
    "cholesky": lambda x: linalg.cholesky(tg.asarray(B)),
    "cholesky, upper": lambda x: linalg.cholesky(tg.asarray(B), upper=True),
    "lu": lambda x: linalg.lu(x)[2],
    "qr": lambda x: linalg.qr(x, "complete")[0],
    "r": lambda x: linalg.qr(x)[1],
    "eigh": lambda x: linalg.eigvalsh(tg.asarray(B)),
    "svd": lambda x: linalg.svdvals(x),
    "solve": lambda x: linalg.solve(tg.asarray(B), x[:8]),
    "padded transform": lambda x: tg.fft.fft(x, 16).real,
    "half a spectrum": lambda x: tg.fft.irfft(x, 20),
    "final states": lambda x: signal.lfilter([1.0, 0.5], [1.0, -0.5, 0.2], x, zi=tg.zeros((9, 2)))[1],
    "resampled": lambda x: signal.resample(x, 16, axis=1),
    "convolution": lambda x: signal.convolve2d(x, x[:3, :2]),
    "no overlap": lambda x: signal.stft(x, nperseg=4, noverlap=0)[2].real,
    "image": lambda x: image.gaussian_filter(x, 1.5, mode="constant"),
    "components": lambda x: image.label(x > 0)[0],
    "distances": lambda x: image.distance_transform_edt(x > 0),
    "counts": lambda x: tg.histogram(x, 7, (-3, 3))[0],
    "weighted counts": lambda x: tg.bincount(tg.asarray([1, 5, 5]), x[0, :3], length=9),
    "integral": lambda x: tg.polyint(x[0], 3),
}


@pytest.mark.limits
@pytest.mark.parametrize("name", CALLS)
async def test_recycled_memory_does_not_show(name: str) -> None:
    """Zeros beside what is computed were left to the pool: eye, diag_from_vector, the filter's state."""
    want = await CALLS[name](tg.asarray(A)).numpy()
    await tg.synchronize()
    for n in (
        1,
        2,
        9,
        16,
        32,
        63,
        64,
        81,
        100,
        144,
        221,
        300,
        700,
        1500,
    ):  # the size classes that the call may take
        for _ in range(3):
            await (tg.zeros(n) + np.float32(np.nan)).numpy()
    np.testing.assert_array_equal(await CALLS[name](tg.asarray(A)).numpy(), want)


async def test_results_are_no_scratch() -> None:
    """Products A.T @ A and triangles R lived in shared scratch buffers, which the next call wrote to."""
    matrices = [draw(6, 6) * (k + 1) for k in range(4)]
    made = [(x.T @ x, *linalg.qr(x), *linalg.lu_factor(x), linalg.inv(x)) for x in map(tg.asarray, matrices)]
    for results in made:
        await tg.synchronize()  # one launch after the other, with all results alive
        for got in results:
            await got.numpy()
    for x, (gram, q, r, packed, _, inverse) in zip(matrices, made, strict=True):
        g, q, r, packed, inverse = await tg.fetch(gram, q, r, packed, inverse)
        np.testing.assert_allclose(g, x.T @ x, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(q @ r, x, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(inverse @ x, np.eye(6), atol=1e-2)


async def test_operands_that_are_one_another() -> None:
    """scatter_linear with target = values, and image_normalize, bound one buffer twice."""
    x = tg.asarray(np.float32([1, 2, 3, 4]))
    tg.put(x, [3, 2, 1, 0], x)
    host = np.float32([1, 2, 3, 4])
    np.put(host, [3, 2, 1, 0], host.copy())
    assert (await x.numpy() == host).all()
    x[1:] = x[:-1]
    x[::-1] = x
    host[1:] = host[:-1].copy()
    host[::-1] = host.copy()
    assert (await x.numpy() == host).all()
    p = tg.asarray(draw(2, 3, 5))
    want = await image.image_normalize(p).numpy()
    p[...] = image.image_normalize(p)
    assert (await p.numpy() == want).all()
    a = tg.asarray(B)
    square, solved, both = await tg.fetch(a @ a, linalg.solve(a, a), signal.convolve2d(a, a, "same"))
    np.testing.assert_allclose(square, B @ B, rtol=1e-5)
    np.testing.assert_allclose(solved, np.eye(8), atol=1e-4)
    assert both.shape == (8, 8)
