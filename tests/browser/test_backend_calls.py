"""tg.backend: reductions, elementwise calls, rows over handles (OX-06 to OX-23, OX-37, OX-38); what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import launches
from handles import B, get, numbers, put, ready

import tabgpu as tg

# --- reductions and elementwise ---------------------------------------------------------------------------------------

REDUCTIONS = {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean}


@pytest.mark.limits
@pytest.mark.parametrize(
    ("row", "op"), [("OX-06", "sum"), ("OX-07", "max"), ("OX-08", "min"), ("OX-09", "mean")]
)
async def test_ox_06_ox_07_ox_08_ox_09_reduce(row: str, op: str) -> None:
    """OX-06, OX-07, OX-08, OX-09: sum, max, min, mean along any axis; infinities, empty axes, large rank 1."""
    backend = await ready()
    for shape in ((7,), (3, 5), (4, 1, 6), (2, 3, 4, 5)):
        x = numbers(*shape)
        for axis in range(len(shape)):
            want = REDUCTIONS[op](x.astype(float), axis=axis)
            hx, ho = put(backend, x), put(backend, np.zeros(want.size, "float32"), 1)
            backend.reduce(op, hx, ho, shape, axis)
            got = await get(backend, ho, want.size + 1)
            assert np.allclose(got[:-1], np.ravel(want), atol=1e-5) and got[-1] == 99, (row, shape, axis)
    extreme = np.float32([[-np.inf, -3e38], [np.inf, 3e38]])
    hx, ho = put(backend, extreme), backend.alloc(8)
    backend.reduce(op, hx, ho, (2, 2), 1)
    with np.errstate(over="ignore"):
        assert np.array_equal(await get(backend, ho, 2), REDUCTIONS[op](extreme, axis=1))
    backend.reduce(op, hx, ho, (2, 0), 1)  # identities, where oxicuda writes nothing
    want = {"sum": 0, "max": -np.inf, "min": np.inf, "mean": np.nan}[op]
    assert np.array_equal(await get(backend, ho, 2), np.full(2, want, "float32"), equal_nan=True)
    n = 1_000_000
    x = (np.arange(n) % 7).astype("float32")
    hx = put(backend, x)
    backend.reduce(op, hx, ho, (n,), 0)
    assert np.allclose(await get(backend, ho, 1), REDUCTIONS[op](x.astype(float)), rtol=1e-6)
    for bad, says in (
        (((), 0), "axis 0 of a shape"),
        (((2, 2), 2), "axis 2"),
        (((2, 2), -1), "axis = -1 is negative"),
    ):
        with pytest.raises(B.InvalidArgument, match=says):
            backend.reduce(op, hx, ho, *bad)
    with pytest.raises(B.InvalidArgument, match="op 'prod' is none of sum"):
        backend.reduce("prod", hx, ho, (2, 2), 0)


UNARY = {
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "exp": np.exp,
    "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "neg": np.negative,
}  # fmt: skip
ROWS = dict(zip(UNARY, ("OX-10", "OX-11", "OX-12", "OX-13", "OX-14", "OX-15", "OX-16", "OX-17"), strict=True))


@pytest.mark.parametrize("op", UNARY)
async def test_ox_10_ox_11_ox_12_ox_13_ox_14_ox_15_ox_16_ox_17_unary(op: str) -> None:
    """OX-10 to OX-17: relu, sigmoid, tanh, exp, log, sqrt, abs, neg of n elements, and of no others."""
    backend = await ready()
    x = np.concatenate([numbers(299), np.float32([0.0])])
    if op in ("log", "sqrt"):
        x = np.abs(x)
    hx, ho = put(backend, x, 4), put(backend, np.full(300, 99, "float32"), 4)
    for n in (300, 299, 1, 0):
        clean = np.full(304, 99, "float32")
        backend.copy_htod(ho, clean)
        backend.unary(op, hx, ho, n)
        with np.errstate(divide="ignore"):
            clean[:n] = UNARY[op](x[:n].astype(float))
        got = await get(backend, ho, 304)
        assert np.allclose(got, clean, rtol=2e-6, atol=1e-6), (ROWS[op], n)
    with pytest.raises(B.AliasedOutput, match=r"output and input are both handle"):
        backend.unary(op, hx, hx, 3)
    with pytest.raises(
        B.UndersizedBuffer, match=r"unary: input .* has 1,216 bytes, 305 of float32 take 1,220"
    ):
        backend.unary(op, hx, ho, 305)


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}
BROWS = dict(zip(BINARY, ("OX-18", "OX-19", "OX-20", "OX-21", "OX-22", "OX-23"), strict=True))


@pytest.mark.parametrize("op", BINARY)
async def test_ox_18_ox_19_ox_20_ox_21_ox_22_ox_23_binary(op: str) -> None:
    """OX-18 to OX-23: add, sub, mul, div, max, min of two handles or of one twice; the output is another."""
    backend = await ready()
    a, b = numbers(131), np.where(np.arange(131) % 5, numbers(131), np.float32(0))
    ha, hb, ho = put(backend, a), put(backend, b), put(backend, np.zeros(131, "float32"), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for n, x, y, hx, hy in (
            (131, a, b, ha, hb),
            (7, b, a, hb, ha),
            (130, a, a, ha, ha),
            (0, a, b, ha, hb),
        ):
            before = await get(backend, ho, 132)
            backend.binary(op, hx, hy, ho, n)
            before[:n] = BINARY[op](x[:n], y[:n])
            got = await get(backend, ho, 132)
            assert np.allclose(got, before, rtol=3e-7, equal_nan=True), (BROWS[op], n)
    with pytest.raises(B.AliasedOutput, match=r"output and b are both handle"):
        backend.binary(op, ha, hb, hb, 3)
    with pytest.raises(B.InvalidArgument, match="op 'pow' is none of add"):
        backend.binary("pow", ha, hb, ho, 3)


@pytest.mark.big
async def test_more_than_65535_workgroups() -> None:
    """G01 for handles: oxicuda's cap of 16,776,960 elements is none here."""
    backend = await ready()
    n = 16_776_961
    h, o = backend.alloc(4 * n), backend.alloc(4 * n)
    backend.copy_htod(h, np.arange(n, dtype="float32"))
    backend.unary("neg", h, o, n)
    assert np.frombuffer(await backend.map_read(o, 4 * n - 8), "float32").tolist() == [
        -float(n - 2),
        -float(n - 1),
    ]
    backend.reduce("max", h, o, (n,), 0)
    assert (await get(backend, o, 1))[0] == n - 1
    backend.free(h)
    backend.free(o)


# --- rows ------------------------------------------------------------------------------------------------------------


async def test_ox_37_gather() -> None:
    """OX-37: rows that indices on the host or on the GPU name; one that is no row raises at the read."""
    backend = await ready()
    table, at = numbers(9, 4), [3, 0, 8, 3]
    ht, ho = put(backend, table), put(backend, np.zeros(16, "float32"), 1)
    hi = put(backend, np.uint32(at))
    for indices, count in ((at, None), (np.array(at), 4), (hi, 4), (hi, 2)):
        backend.copy_htod(ho, np.full(17, 99, "float32"))
        backend.gather(ht, 9, 4, indices, ho, count)
        n = 4 if count is None else count
        got = await get(backend, ho, 17)
        assert np.array_equal(got[: 4 * n].reshape(n, 4), table[at[:n]]) and (got[4 * n :] == 99).all()
    with pytest.raises(B.InvalidArgument, match="index 9 is no row of 9"):
        backend.gather(ht, 9, 4, [0, 9], ho)
    with pytest.raises(B.InvalidArgument, match="index -1 is no row of 9"):
        backend.gather(ht, 9, 4, [-1], ho)
    with pytest.raises(B.InvalidArgument, match="count is missing"):
        backend.gather(ht, 9, 4, hi, ho)
    for wrong in (9, 0xFFFFFFFF):
        bad, out = put(backend, np.uint32([1, wrong])), backend.alloc(32)
        backend.gather(ht, 9, 4, bad, out, 2)
        with pytest.raises(IndexError, match="out of bounds"):
            await get(backend, out, 8)


async def test_ox_38_scatter() -> None:
    """OX-38: rows written, others preserved; the last of equal indices stands."""
    backend = await ready()
    matrix, new, at = numbers(6, 3), numbers(4, 3), [5, 1, 2, 1]
    for on_gpu in (False, True):
        hm, hn = put(backend, matrix, 2), put(backend, new)
        backend.scatter(hm, 6, 3, put(backend, np.uint32(at)) if on_gpu else at, hn, 4)
        want = matrix.copy()
        for row, k in zip(new, at, strict=True):
            want[k] = row
        got = await get(backend, hm, 20)
        assert np.array_equal(got[:18].reshape(6, 3), want) and got[18:].tolist() == [99, 99]
    with pytest.raises(B.AliasedOutput):
        backend.scatter(hm, 6, 3, at, hm)


async def test_bad_numbers_are_refused_before_any_work() -> None:
    """u32s, leading dimensions, shapes that are no convolution; nothing runs."""
    backend = await ready()
    a, b, c = (backend.alloc(64) for _ in range(3))
    await backend.synchronize()
    before = launches()

    def gemm(*sizes: Any, ta: Any = "N", alpha: Any = 1.0, out: int = 0) -> None:
        m, n, k, lda, ldb, ldc = sizes
        backend.gemm(ta, "N", m, n, k, alpha, a, lda, b, ldb, 0.0, out or c, ldc)

    def batched(stride: int) -> None:
        backend.batched_gemm("N", "N", 1, 1, 1, 1.0, a, 1, stride, b, 1, 1, 0.0, c, 1, 1, 2)

    def conv(x: Any, out: Any, stride: Any = (1, 1), to: int = 0) -> None:
        backend.conv2d_forward(a, x, b, (1, 1, 3, 3), to or c, out, stride, (0, 0))

    def reduce(*shape: int, out: int = 0) -> None:
        backend.reduce("sum", a, out or c, shape, 0)

    for call, kind, says in (
        (lambda: gemm(1 << 32, 1, 1, 1, 1, 1), B.Overflow, "m = 4294967296 does not fit u32"),
        (lambda: gemm(-1, 1, 1, 1, 1, 1), B.InvalidArgument, "m = -1 is negative"),
        (lambda: gemm(2.0, 1, 1, 1, 1, 1), B.InvalidArgument, "m is an integer, not 2.0"),
        (lambda: gemm(1, 1, 1, 1, 1, 1, ta="X"), B.InvalidArgument, "trans is 'N', 'T' or 'C'"),
        (lambda: gemm(2, 2, 3, 2, 2, 2), B.InvalidArgument, "lda = 2 is less than a row of a, 3"),
        (lambda: gemm(2, 2, 3, 3, 2, 2, alpha="1"), B.InvalidArgument, "alpha is a number"),
        (lambda: gemm(2, 2, 3, 3, 2, 2, out=a), B.AliasedOutput, "c and a are both handle"),
        (lambda: gemm(5, 5, 1, 1, 5, 5), B.UndersizedBuffer, "c .handle .* 5 x 5 with ldc 5"),
        (lambda: batched(1 << 33), B.Overflow, "stride_a"),
        (lambda: batched(16), B.UndersizedBuffer, "2 of them 16 apart"),
        (lambda: reduce(1 << 20, 1 << 20), B.Overflow, "elements, which do not fit u32"),
        (lambda: reduce(2, 2, out=a), B.AliasedOutput, "output and input"),
        (lambda: reduce(5, 4), B.UndersizedBuffer, "reduce: input"),
        (lambda: conv((1, 1, 4), (1, 1, 2, 2)), B.InvalidArgument, "input_shape has 4 numbers"),
        (lambda: conv((1, 2, 4, 2), (1, 1, 2, 2)), B.InvalidArgument, "has 2 channels, filter"),
        (lambda: conv((1, 1, 4, 4), (1, 1, 3, 2)), B.InvalidArgument, r"output_shape is \(1, 1, 2, 2\)"),
        (lambda: conv((1, 1, 4, 4), (1, 1, 2, 2), (0, 1)), B.InvalidArgument, "stride .* has a 0"),
        (lambda: conv((1, 1, 2, 2), (1, 1, 1, 1)), B.InvalidArgument, "does not fit"),
        (lambda: conv((1, 1, 4, 4), (1, 1, 2, 2), to=a), B.AliasedOutput, "output and input"),
        (lambda: backend.unary("gelu", a, c, 1), B.InvalidArgument, "op 'gelu' is none of relu"),
    ):
        with pytest.raises(kind, match=says):
            call()
    assert launches() == before


async def test_shapes_compile_nothing() -> None:
    """Sweeps shapes of every call; pipelines stay bounded."""
    backend = await ready()
    a, b, c = (put(backend, numbers(4096)) for _ in range(3))

    async def sweep(sizes: Any) -> None:
        for n in sizes:
            backend.unary("exp", a, c, n)
            backend.binary("add", a, b, c, n)
            backend.reduce("sum", a, c, (n, 3, 5), n % 3)
            backend.gather(a, n, 4, [0, n - 1], c)
            await backend.synchronize()

    await sweep((3, 4, 5, 8, 13, 16, 21))
    before = tg.memory()["pipelines"]
    await sweep(range(2, 64))
    assert tg.memory()["pipelines"] - before <= 12
