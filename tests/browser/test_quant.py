"""tg.quant against NumPy: formats decoded bit for bit, products against float64 over decoded weights, views, banks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import ggml
import numpy as np
import pytest
from forms import form, taking  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import quant

# What a sum of k products may be off by, relative to the root mean square of all results.
BOUND = 1e-5


def bank(name: str, shape: tuple[int, ...], seed: int = 0) -> tuple[quant.QTensor, np.ndarray]:
    """(weights on the GPU, what they are)."""
    raw = ggml.random_bytes(name, shape, seed)
    return quant.from_bytes(raw, name, shape), ggml.decode(name, raw, shape)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, 9]).standard_normal(shape).astype(np.float32)


def same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape
    assert (got.view(np.uint32) == want.astype(np.float32).view(np.uint32)).all()


def near(got: np.ndarray, want: np.ndarray, bound: float = BOUND) -> None:
    """As the quantised matrices' systems measure: relative to the root mean square of the right results."""
    assert got.shape == want.shape and got.dtype == np.float32
    assert np.isfinite(got).all()
    size = np.sqrt((want**2).mean()) if want.size else 1.0
    off = np.abs(got - want).max(initial=0)
    assert off <= bound * size, off / size


def row(name: str, blocks: int) -> int:
    """Weights of a row of so many blocks."""
    return max(32, ggml.SIZES[name][0]) * blocks


@pytest.mark.limits
@pytest.mark.parametrize("name", ggml.SIZES)
async def test_dequantize_is_bit_exact(name: str) -> None:
    """Q05: also with odd numbers of blocks in a row."""
    for shape in ((1, row(name, 1)), (5, row(name, 3)), (2, 3, row(name, 1)), (row(name, 5),)):
        W, want = bank(name, shape, len(shape))
        assert W.format == name and W.shape == shape and W.nbytes == len(ggml.random_bytes(name, shape))
        same(await W.dequantize().numpy(), want)


async def test_golden_blocks() -> None:
    """Bytes and values as published for x_i = (i - 15.5) / 4."""
    q8 = bytes.fromhex("d0278189919aa2aab2bac3cbd3dbe3ecf4fc040c141d252d353d464e565e666f777f")
    got = await quant.from_bytes(q8, "Q8_0", (32,)).dequantize().numpy()
    assert got[0] == -3.875732421875 and got[1] == -3.631591796875 and got[31] == 3.875732421875
    q4 = bytes.fromhex("c037809191a2a2b3b3c4c4d5d5e6e6f7f7f8")
    got = await quant.from_bytes(q4, "q4_0", (32,)).dequantize().numpy()
    assert got[0] == -3.875 and got[1] == -3.390625 and got[31] == 3.390625
    k4 = bytes.fromhex("0038003401020345050607c821436587") + bytes(range(128))
    got = await quant.from_bytes(k4, "Q4_K", 256).dequantize().numpy()
    at = [0, 1, 31, 32, 33, 64, 96, 128, 160, 192, 224, 255]
    assert got[at].tolist() == [-1.25, -0.75, 6.25, -1.5, -1.5, -1.75, 3.0, -0.5, 5.0, -1.5, 55.0, 66.5]


async def matvec_is_right(name: str, n: int, k: int) -> None:
    W, want = bank(name, (n, k), n)
    x = draw(k, seed=n)
    near(await quant.matvec(W, x).numpy(), want.astype(np.float64) @ x)


@pytest.mark.limits
async def test_hz_03_matvec_q8_0(form: str) -> None:
    """HZ-03: y = W x, k a multiple of 32, raw bytes; an x of the wrong length and other k are errors."""
    for n, k in ((5, 64), (70, 96), (256, 512)):
        await matvec_is_right("Q8_0", n, k)
    W, _ = bank("Q8_0", (4, 64))
    with pytest.raises(ValueError, match=r"matvec: weights \(4, 64\) and a vector \(32,\)"):
        quant.matvec(W, draw(32))
    with pytest.raises(ValueError, match="rows of 48 weights are not whole Q8_0 blocks of 32"):
        quant.from_bytes(bytes(51), "Q8_0", (1, 48))


@pytest.mark.limits
async def test_hz_04_matvec_q4_0(form: str) -> None:
    """HZ-04: as HZ-03 for Q4_0."""
    for n, k in ((5, 64), (70, 96), (256, 512)):
        await matvec_is_right("Q4_0", n, k)
    with pytest.raises(ValueError, match="rows of 16 weights are not whole Q4_0 blocks of 32"):
        quant.from_bytes(bytes(9), "Q4_0", (1, 16))


@pytest.mark.limits
async def test_hz_05_matvec_q4k(form: str) -> None:
    """HZ-05: k is a multiple of 256; 384 is refused, naming what the format needs."""
    for n, k in ((5, 256), (70, 768), (33, 512)):
        await matvec_is_right("Q4_K", n, k)
    for name in ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"):
        with pytest.raises(ValueError, match=f"rows of 384 weights are not whole {name} blocks of 256"):
            quant.from_bytes(bytes(216), name, (1, 384))
        with pytest.raises(ValueError, match=f"quantize: shape .* {name} blocks of 256"):
            quant.quantize(tg.zeros((4, 384)), name)


@pytest.mark.limits
@pytest.mark.parametrize("name", [n for n in ggml.SIZES if n not in ("Q8_0", "Q4_0", "Q4_K")])
async def test_matvec_of_the_other_formats(name: str) -> None:
    for n, k in ((5, row(name, 1)), (37, row(name, 3))):
        await matvec_is_right(name, n, k)


async def test_hz_06_matvec_of_host_values() -> None:
    """HZ-06: a list, a NumPy vector of any real dtype, a GPU array of halves; of length exactly k."""
    W, want = bank("Q8_0", (9, 64))
    x = draw(64)
    right = want.astype(np.float64) @ x
    near(await quant.matvec(W, x.tolist()).numpy(), right)
    near(await quant.matvec(W, x.astype(np.float64)).numpy(), right)
    half = x.astype(np.float16)
    near(await quant.matvec(W, tg.asarray(half)).numpy(), want.astype(np.float64) @ half.astype(np.float64))
    whole = np.arange(64) - 30
    near(await quant.matvec(W, whole).numpy(), want.astype(np.float64) @ whole)
    near(await quant.matvec(W, tg.asarray(draw(128))[::2]).numpy(), want.astype(np.float64) @ draw(128)[::2])
    assert quant.matvec(W, x, dtype="float16").dtype == tg.float16
    with pytest.raises(TypeError, match="needs real numbers"):
        quant.matvec(W, x * 1j)


@pytest.mark.limits
async def test_q01_few_outputs() -> None:
    """Q01: fewer than 8 outputs, and 9."""
    for n in (1, 5, 7, 8, 9):
        for k in (32, 64, 96, 512):
            await matvec_is_right("Q4_0", n, k)
        W, want = bank("Q4_0", (n, 96))
        x = draw(20, 96)
        near(await quant.matmul(x, W).numpy(), x.astype(np.float64) @ want.T)


@pytest.fixture
def tiled() -> Iterator[None]:
    """The kernels for GPUs, also where the adapter is a CPU."""
    if not tg.device().software:
        yield
        return
    if sys.platform == "emscripten":
        pytest.skip("SwiftShader compiles such kernels for half a minute; the slow tests do it")
    with taking("portable"):
        yield


@pytest.mark.limits
@pytest.mark.parametrize("name,k", [("Q4_0", 96), ("Q4_K", 256)], ids=str)
async def test_tiles_are_decoded_in_the_product(name: str, k: int, tiled: None) -> None:
    """Prefill on GPUs: one launch, which reads the quantised bytes."""
    W, want = bank(name, (40, k))
    x = draw(21, k)
    g = tg.asarray(x)
    await tg.synchronize()
    before = tg.device().counters.launches
    y = await quant.linear(g, W, 1.0).numpy()
    assert tg.device().counters.launches - before == 1
    near(y, x.astype(np.float64) @ want.T + 1)
    near(await quant.matmul(draw(21, 40), W.T).numpy(), draw(21, 40).astype(np.float64) @ want)


MATRICES = [("Q8_0", 96), ("Q4_K", 256), ("F16", 40), pytest.param("BF16", 33, marks=pytest.mark.slow)]


@pytest.mark.limits
@pytest.mark.parametrize("name,k", MATRICES, ids=str)
async def test_matmul(name: str, k: int) -> None:
    """y = x @ W.T for one row to many, odd sizes, batches, halves; with what follows in the same launch."""
    for m, n in ((1, 40), (3, 20), (37, 29), (70, 64)):
        W, want = bank(name, (n, k), m)
        x = draw(m, k, seed=m)
        near(await quant.matmul(x, W).numpy(), x.astype(np.float64) @ want.T)
    x3 = draw(2, 35, k)
    b = draw(64)
    counters = tg.device().counters
    g, gb = tg.asarray(x3), tg.asarray(b)
    await tg.synchronize()
    before = counters.launches
    got = await tg.maximum(quant.linear(g, W, gb), 0).numpy()
    assert counters.launches - before == (2 if tg.device().software and name[0] == "Q" else 1)
    near(got, np.maximum(x3.astype(np.float64) @ want.T + b, 0))
    half = x3.astype(np.float16)
    near(await quant.matmul(tg.asarray(half), W).numpy(), half.astype(np.float64) @ want.T)


@pytest.mark.slow
@pytest.mark.parametrize("name", ggml.QUANTISED)
async def test_matmul_of_every_format_and_plan(name: str, form: str) -> None:
    for m, n in ((1, 9), (2, 64), (5, 40), (8, 33), (20, 130), (64, 256), (130, 70)):
        k = row(name, 2 if m < 60 else 1)
        W, want = bank(name, (n, k), m)
        x = draw(m, k, seed=m)
        near(await quant.matmul(x, W).numpy(), x.astype(np.float64) @ want.T)
        x = draw(m, n, seed=m)
        near(await quant.matmul(x, W.T).numpy(), x.astype(np.float64) @ want)


@pytest.mark.limits
async def test_q02_transposed_and_reshaped() -> None:
    """Q02: a transposed or reshaped tensor decodes to the transposed or reshaped weights, and back."""
    for name in ("Q8_0", "Q4_0", "Q4_K"):
        W, want = bank(name, (6, 512))
        same(await W.T.dequantize().numpy(), want.T)
        same(await W.T.T.dequantize().numpy(), want)
        assert W.T.shape == (512, 6) and await W.T.T.tobytes() == await W.tobytes()
        same(await W.reshape(3, 1024).dequantize().numpy(), want.reshape(3, 1024))
        same(await W.reshape(2, -1, 256).mT.dequantize().numpy(), want.reshape(2, 6, 256).swapaxes(1, 2))
        x = draw(6)
        near(await quant.matvec(W.T, x).numpy(), want.T.astype(np.float64) @ x)
        xs = draw(20, 6)
        near(await quant.matmul(xs, W.T).numpy(), xs.astype(np.float64) @ want)
        with pytest.raises(ValueError, match="transposed"):
            W.T.reshape(3, 1024)
    with pytest.raises(ValueError, match="rows of 128 weights are not whole Q4_K blocks of 256"):
        W.reshape(24, 128)
    with pytest.raises(ValueError, match="3072 weights"):
        W.reshape(5, 512)
    with pytest.raises(ValueError, match="at least 2 axes"):
        _ = W.reshape(3072).mT


async def test_q04_a_tensor_knows_its_format() -> None:
    """Q04: tensors of several formats side by side; bytes of one are never read as another's."""
    W = {name: bank(name, (4, 256), 3) for name in ("Q6_K", "Q4_K", "Q5_K", "Q8_0")}
    got = await tg.fetch(*[w.dequantize() for w, _ in W.values()])
    for one, (_, want) in zip(got, W.values(), strict=True):
        same(one, want)
    raw = ggml.random_bytes("Q6_K", (4, 256))
    with pytest.raises(ValueError, match=r"Q4_K of shape \(4, 256\) has 576 bytes, not 840"):
        quant.from_bytes(raw, "Q4_K", (4, 256))
    with pytest.raises(ValueError, match="format 'Q4_X' is not known; there are F32"):
        quant.from_bytes(raw, "Q4_X", (4, 256))


@pytest.mark.limits
@pytest.mark.parametrize("name", ["Q8_0", "Q4_0", "Q5_0", "Q3_K", "Q6_K", "BF16"])
async def test_q07_slices_begin_anywhere(name: str) -> None:
    """Q07: rows from an address that is no multiple of 4, and bytes from a view that begins at 1, 2, 3."""
    k = row(name, 1)
    W, want = bank(name, (9, k))
    for part in (slice(1, 4), slice(3, 9), slice(-1, None), slice(5, 5), slice(2, 100)):
        same(await W[part].dequantize().numpy(), want[part])
    same(await W[3].dequantize().numpy(), want[3])
    x = draw(k)
    near(await quant.matvec(W[1:4], x).numpy(), want[1:4].astype(np.float64) @ x)
    near(await quant.matmul(draw(12, k), W[1:8]).numpy(), draw(12, k).astype(np.float64) @ want[1:8].T)
    assert await W[1:3].tobytes() == ggml.random_bytes(name, (9, k))[W.nbytes // 9 : W.nbytes // 3]
    E, bank3 = bank(name, (3, 5, k), 7)
    near(await quant.matvec(E[1], x).numpy(), bank3[1].astype(np.float64) @ x)
    near(
        await quant.moe_matvec(E[1:], draw(4, k), [0, 1, 1, 0]).numpy(),
        slots(bank3[1:], draw(4, k), [0, 1, 1, 0]),
    )
    raw = ggml.random_bytes(name, (9, k))
    for at in (1, 2, 3, 4):
        held = tg.asarray(np.frombuffer(bytes(at) + raw, np.uint8))
        same(await quant.from_bytes(held[at:], name, (9, k)).dequantize().numpy(), want)


async def test_keys_that_cut_blocks_are_refused() -> None:
    W, _ = bank("Q4_K", (4, 512))
    for key in (slice(None, None, 2), (slice(0, 2), 3)):
        with pytest.raises(IndexError):
            W[key]
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 4"):
        W[4]
    with pytest.raises(IndexError, match="cuts a block of 256"):
        W[0][3:259]
    same(await W[0][256:].dequantize().numpy(), (await W.dequantize().numpy())[0, 256:])


def test_plain_arrays_are_refused_as_weights() -> None:
    W, x, ids = tg.ones((2, 4, 64)), tg.ones((2, 64)), [0, 1]
    for name, call in (
        ("matmul", lambda: quant.matmul(x, W[0])),
        ("matvec", lambda: quant.matvec(W[0], x[0])),
        ("take_rows", lambda: quant.take_rows(W[0], ids)),
        ("moe_matvec", lambda: quant.moe_matvec(W, x, ids)),
        ("moe_matmul", lambda: quant.moe_matmul(W, x, ids)),
    ):
        with pytest.raises(TypeError, match=f"{name}: needs quantised weights .*, not Array"):
            call()


def slots(bank: np.ndarray, x: np.ndarray, ids: Any) -> np.ndarray:
    return np.einsum("snk,sk->sn", bank[np.asarray(ids)].astype(np.float64), x.astype(np.float64))


@pytest.mark.limits
@pytest.mark.parametrize("name", ["Q4_0", "Q8_0", "Q4_K"])
async def test_hz_07_moe_matvec(name: str) -> None:
    """HZ-07: y[s] = W[ids[s]] x[s]; k, the lengths of x and ids and the ids themselves are checked."""
    E, n, k, S = 5, 37, 256, 9
    W, want = bank(name, (E, n, k))
    x, ids = draw(S, k), np.array([4, 0, 2, 2, 1, 3, 4, 4, 0], np.uint32)
    near(await quant.moe_matvec(W, x, ids).numpy(), slots(want, x, ids))
    near(await quant.moe_matvec(W, x, tg.asarray(ids)).numpy(), slots(want, x, ids))
    shared = draw(k)
    near(await quant.moe_matvec(W, shared, ids).numpy(), slots(want, np.broadcast_to(shared, (S, k)), ids))
    near(await quant.moe_matvec(W, x, tg.asarray(ids.astype(np.int32) - E)).numpy(), slots(want, x, ids))
    for wrong in (draw(S - 1, k), draw(S, k - 32)):
        with pytest.raises(ValueError, match="moe_matvec: "):
            quant.moe_matvec(W, wrong, ids)
    for run in (quant.moe_matvec, quant.moe_matmul):
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
            run(W, x, [0, 1, 2, 3, 4, 5, 0, 0, 0])
        bad = run(W, x, tg.asarray(np.array([0, 1, 2, 3, 4, 7, 0, 0, 0], np.uint32)))
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
            await (bad + 1).numpy()
    with pytest.raises(TypeError, match="ids are integers"):
        quant.moe_matvec(W, x, tg.zeros(S))


async def test_hz_07_sizes_of_the_models() -> None:
    """HZ-07: (experts, n, k, tokens, chosen) of small mixtures of experts."""
    for E, n, k, t, top in ((8, 256, 256, 2, 2), (4, 96, 512, 1, 2)):
        W, want = bank("Q4_K", (E, n, k))
        ids = np.random.default_rng(1).integers(0, E, t * top)
        x = draw(t * top, k)
        near(await quant.moe_matvec(W, x, ids).numpy(), slots(want, x, ids))


@pytest.mark.limits
async def test_moe_matmul_shares_tiles(tiled: None) -> None:
    """Many slots: sorted by expert on the GPU; experts without any, all slots of one, ids counted from the end."""
    for name, E, n, k, S in (("Q8_0", 4, 40, 64, 50), ("Q4_K", 3, 20, 256, 100), ("F16", 4, 5, 32, 33)):
        W, want = bank(name, (E, n, k))
        x = draw(S, k)
        for ids in (
            np.random.default_rng(2).integers(0, E, S),
            np.full(S, E - 1),
            np.arange(S) % 2 * (E - 1) - E,
        ):
            got = await quant.moe_matmul(W, x, tg.asarray(ids.astype(np.int32))).numpy()
            near(got, slots(want, x, ids))


async def test_hz_08_upload_qweight() -> None:
    """HZ-08: the bytes are kept as they are, from any kind of buffer, whatever their number modulo 4."""
    for name, blocks in (("Q8_0", 1), ("Q8_0", 3), ("Q6_K", 1), ("Q3_K", 3), ("Q4_0", 5)):
        shape = (blocks, ggml.SIZES[name][0])
        raw = ggml.random_bytes(name, shape)
        for held in (raw, bytearray(raw), memoryview(raw), np.frombuffer(raw, np.uint8).reshape(blocks, -1)):
            assert await quant.from_bytes(held, name, shape).tobytes() == raw
        assert await quant.from_bytes(tg.asarray(np.frombuffer(raw, np.uint8)), name, shape).tobytes() == raw
    with pytest.raises(TypeError, match="dtype uint8, not float32"):
        quant.from_bytes(tg.zeros(34), "Q8_0", (32,))


async def test_hz_09_upload_ids() -> None:
    """HZ-09: ids are plain arrays of unsigned or signed integers; also the embedding's, of any shape."""
    W, want = bank("Q5_0", (11, 64))
    ids = np.array([[3, 0], [10, 3]], np.uint32)
    same(await W[ids].numpy(), want[ids])
    same(await quant.take_rows(W, tg.asarray(ids)).numpy(), want[ids])
    same(await W[tg.asarray(np.array([-1, -11], np.int8))].numpy(), want[[-1, -11]])
    assert (await W[[]].numpy()).shape == (0, 64)
    bad = quant.take_rows(W, tg.asarray(np.array([2, 11], np.uint32)), dtype="float16")
    with pytest.raises(IndexError, match="index 11 is out of bounds for axis 0 with size 11"):
        await bad.numpy()
    with pytest.raises(IndexError, match="index -12 is out of bounds"):
        W[[0, -12]]


@pytest.mark.limits
@pytest.mark.parametrize("name", ggml.QUANTISED)
async def test_f14_large_activations_and_tiny_scales(name: str) -> None:
    """F14: activations of 1e4, scales that are 0, denormal or small: results are finite, sums are float32."""
    k = row(name, 1)
    raw = ggml.random_bytes(name, (12, k), scale=3e-6)
    W, want = quant.from_bytes(raw, name, (12, k)), ggml.decode(name, raw, (12, k)).astype(np.float64)
    x = np.where(draw(k) > 0, np.float32(1e4), np.float32(-1e4))
    near(await quant.matvec(W, x).numpy(), want @ x)
    near(await quant.matvec(W, tg.asarray(x.astype(np.float16))).numpy(), want @ x)
    W, want = bank(name, (5, k))
    near(await quant.matvec(W, x).numpy(), want.astype(np.float64) @ x)
    zero = quant.from_bytes(bytes(len(raw)), name, (12, k))
    assert not (await quant.matvec(zero, x).numpy()).any()


async def test_empty_sizes() -> None:
    for shape in ((0, 64), (3, 0)):
        W = quant.from_bytes(b"", "Q8_0", shape)
        assert (await W.dequantize().numpy()).shape == shape
        assert not (await quant.matvec(W, np.zeros(shape[1], np.float32)).numpy()).any()
        assert (await quant.matmul(np.zeros((2, shape[1]), np.float32), W).numpy()).tolist() == [
            [0.0] * shape[0]
        ] * 2
    W, _ = bank("Q8_0", (3, 64))
    assert (await quant.matmul(tg.zeros((0, 64)), W).numpy()).shape == (0, 3)
    E, _ = bank("Q8_0", (2, 3, 64))
    assert (await quant.moe_matvec(E, tg.zeros((0, 64)), []).numpy()).shape == (0, 3)


async def test_a_matvec_is_one_launch_without_a_read() -> None:
    """Decode: many in a row are one launch each and nothing else; the weights' bytes are all that is stored."""
    W, _ = bank("Q4_K", (64, 256))
    x = tg.asarray(draw(256))
    await quant.matvec(W, x).numpy()
    counters = tg.device().counters
    await tg.synchronize()
    before = counters.launches, counters.reads
    ys = [quant.matvec(W, x * float(k)) for k in range(4)]
    await tg.synchronize()
    assert counters.launches - before[0] <= 8 and counters.reads == before[1]
    assert ys[0].shape == (64,)


async def test_new_shapes_compile_nothing() -> None:
    """500 shapes: rows, columns, batches and offsets are parameters."""
    W, _ = bank("Q8_0", (600, 512))
    flat = W.reshape(600 * 512)

    def some(n: int, blocks: int) -> quant.QTensor:
        return flat[: n * 32 * blocks].reshape(n, 32 * blocks)

    async def run(n: int, blocks: int) -> None:
        one = some(n, blocks)
        x = tg.zeros(32 * blocks) + 1.0
        y, z = quant.matvec(one, x), quant.matmul(tg.zeros((n % 40 + 1, 32 * blocks)) + 0.5, one)
        await tg.fetch(y, z, one[n // 2 :].dequantize())

    for n, blocks in ((1, 1), (3, 2), (12, 16), (40, 16), (500, 16), (600, 1), (33, 9), (300, 5), (100, 3)):
        await run(n, blocks)
    before = tg.device().counters.pipelines
    rng = np.random.default_rng(0)
    slow = tg.device().software and sys.platform == "emscripten"
    for _ in range(170 if slow else 500):
        await run(int(rng.integers(1, 600)), int(rng.integers(1, 17)))
    # plans of products by size (5 to 10 measured); none of the other kernels
    assert tg.device().counters.pipelines - before <= 20


async def test_jit_of_a_layer() -> None:
    """A jitted layer with quantised weights plays again for other activations."""
    W, want = bank("Q4_0", (24, 64))

    @tg.jit
    def layer(x: tg.Array) -> tg.Array:
        return tg.tanh(quant.linear(x, W))

    for seed in range(3):
        x = draw(10, 64, seed=seed)
        near(await layer(tg.asarray(x)).numpy(), np.tanh(x.astype(np.float64) @ want.T))


async def test_linear_takes_plain_weights_too() -> None:
    W, b, x = draw(7, 20), draw(7, seed=1), draw(3, 20, seed=2)
    near(await quant.linear(x, tg.asarray(W), b).numpy(), x.astype(np.float64) @ W.T + b)
    half = W.astype(np.float16)
    gx, gw = tg.asarray(x), tg.asarray(half)
    await tg.synchronize()
    before = tg.device().counters.launches
    y = await quant.linear(gx, gw).numpy()
    assert tg.device().counters.launches - before == 1  # no copy of the weights
    near(y, x.astype(np.float64) @ half.T.astype(np.float64))
    assert quant.linear(tg.asarray(x.astype(np.float16)), gw).dtype == tg.float16
    Q, want = bank("Q8_0", (7, 64))
    one = draw(1, 64)
    near(await quant.linear(one, Q, b).numpy(), one.astype(np.float64) @ want.T + b)
    near(await quant.linear(one[0], Q).numpy(), want.astype(np.float64) @ one[0])
    assert "Q8_0 (7, 64)" in repr(Q) and len(Q) == 7 and Q.size == 448
