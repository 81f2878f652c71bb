"""tg.linalg.blas against NumPy in float64: transposes, leading dimensions, alpha, beta, epilogues; launches."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.linalg import blas

EPS = 2.0**-24
RNG = np.random.default_rng(5)
HALF = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": EPS}


def draw(*shape: int, kind: str = "f") -> Any:
    x = RNG.standard_normal(shape)
    if kind == "c":
        return (x + 1j * RNG.standard_normal(shape)).astype(np.complex64)
    return x.astype(np.float32)


def op(x: Any, trans: Any) -> Any:
    x = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return {0: x, "N": x, 1: np.swapaxes(x, -1, -2), "T": np.swapaxes(x, -1, -2)}.get(
        trans, np.swapaxes(x.conj(), -1, -2)
    )


def size_of(a: Any, b: Any) -> Any:
    """sum |a| |b|: what errors of a product are relative to."""
    return np.abs(a) @ np.abs(b)


def near(got: Any, want: Any, bound: Any, step: float = EPS) -> None:
    """Within a few roundings of `bound` (and one of the result's dtype)."""
    got = np.asarray(got)
    assert got.shape == want.shape, (got.shape, want.shape)
    off = np.abs(got - want)
    limit = 16 * EPS * np.asarray(bound) + 2 * step * np.abs(want) + 1e-30
    assert np.all(off <= limit), f"off by {off.max()} of {np.max(np.abs(want))}"


def launches() -> int:
    return int(tg.memory()["launches"])


async def counted(make: Any) -> tuple[int, Any]:
    """(launches, values) of what a function makes of operands that are there."""
    before = launches()
    got = await make().numpy()
    return launches() - before, got


# --- OX-01 ----------------------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("trans_a", [0, "N", 1, "T", 2, "C"])
async def test_ox_01_gemm(trans_a: Any) -> None:
    """OX-01: four transposes and conjugation, padded leading dimensions, alpha, beta, with NaN around all operands."""
    for trans_b, (m, n, k), pad in itertools.product(
        [0, "T", "C"], [(1, 1, 1), (5, 7, 3), (33, 17, 65)], [0, 3]
    ):
        a_shape = (m, k) if trans_a in (0, "N") else (k, m)
        b_shape = (k, n) if trans_b == 0 else (n, k)
        operands, views = [], []
        for shape in (a_shape, b_shape, (m, n)):
            x = draw(*shape)
            wide = np.full((shape[0] + 2, shape[1] + pad), np.nan, np.float32)
            wide[1 : 1 + shape[0], : shape[1]] = x
            operands.append(x.astype(np.float64))
            views.append(tg.asarray(wide)[1 : 1 + shape[0], : shape[1]])
        a, b, c = operands
        alpha, beta = float(RNG.choice([1.0, -0.5, 2.25])), float(RNG.choice([1.0, 0.75, -2.0]))
        got = await blas.gemm(alpha, views[0], views[1], beta, views[2], trans_a, trans_b).numpy()
        left, right = op(a, trans_a), op(b, trans_b)
        near(got, alpha * left @ right + beta * c, abs(alpha) * size_of(left, right) + np.abs(beta * c))
        bare = await blas.gemm(alpha, views[0], views[1], trans_a=trans_a, trans_b=trans_b).numpy()
        near(bare, alpha * left @ right, abs(alpha) * size_of(left, right))


async def test_ox_01_gemm_is_one_launch() -> None:
    """OX-01: transposes, slices, alpha and beta * c are read and done in the launch of the product."""
    a, b, c = (tg.asarray(draw(*s)) for s in [(40, 50), (30, 60), (24, 21)])
    await tg.fetch(a, b, c)
    for alpha, beta in [(1, 0), (2.5, 0), (2.5, 1), (0.5, -3.0)]:
        n, _ = await counted(
            lambda alpha=alpha, beta=beta: blas.gemm(
                alpha, a[:33, 2:22], b[:20, :33], beta, c[:20, 1:], 1, "T"
            )
        )
        assert n == 1, (alpha, beta)


async def test_ox_01_gemm_empty() -> None:
    """OX-01: k = 0 gives beta * c (BLAS, not untouched), m or n = 0 an empty result."""
    c = draw(3, 4)
    a, b = tg.zeros((3, 0)), tg.zeros((0, 4))
    assert np.array_equal(await blas.gemm(2.0, a, b, 3.0, c).numpy(), 3 * c)
    assert np.array_equal(await blas.gemm(2.0, a, b).numpy(), np.zeros((3, 4)))
    assert np.array_equal(await blas.gemm(2.0, a.T, b.T, 3.0, c, 1, 1).numpy(), 3 * c)
    for m, n in [(0, 4), (3, 0), (0, 0)]:
        got = blas.gemm(1.0, tg.zeros((m, 5)), tg.zeros((5, n)), 1.0, tg.zeros((m, n)))
        assert (await got.numpy()).shape == (m, n)


async def test_ox_01_beta_zero_does_not_read_c() -> None:
    """OX-01: NaN and inf in c stay there for beta = 0, as a number and as a 0-d array."""
    a, b = draw(4, 5), draw(5, 6)
    c = np.full((4, 6), np.nan, np.float32)
    want = a.astype(float) @ b
    near(await blas.gemm(1.0, a, b, 0, c).numpy(), want, size_of(a, b))
    near(await blas.gemm(1.0, a, b, 0.0, c).numpy(), want, size_of(a, b))
    near(await blas.gemm(1.0, a, b, tg.asarray(0.0), c).numpy(), want, size_of(a, b))
    c = draw(4, 6)
    got = await blas.gemm(tg.asarray(2.0), a, b, tg.asarray(3.0), c).numpy()
    near(got, 2 * want + 3.0 * c, 2 * size_of(a, b) + np.abs(3 * c))
    assert np.isnan(await blas.gemm(1.0, a, b, 1.0, np.full((4, 6), np.nan, np.float32)).numpy()).all()


async def test_ox_01_complex() -> None:
    """OX-01: conj-transpose of complex operands on either side, complex alpha and beta."""
    for ta, tb in itertools.product([0, 1, 2], [0, "T", "C"]):
        m, n, k = 5, 7, 9
        a = draw(*((m, k) if ta == 0 else (k, m)), kind="c")
        b = draw(*((k, n) if tb == 0 else (n, k)), kind="c")
        c = draw(m, n, kind="c")
        left, right = op(a, ta), op(b, tb)
        got = await blas.gemm(0.5 - 2j, a, b, 1j, c, ta, tb).numpy()
        near(got, (0.5 - 2j) * left @ right + 1j * c, 4 * size_of(left, right) + np.abs(c))
    real = draw(4, 9)
    mixed = await blas.gemm(1, real, draw(7, 9, kind="c")[:, :], trans_b="C").numpy()
    assert mixed.shape == (4, 7) and mixed.dtype == np.complex64


async def test_ox_01_scalars_of_every_kind() -> None:
    """OX-01: alpha and beta as Python, NumPy and GPU scalars; none changes the dtype; new ones compile nothing."""
    a = tg.asarray(draw(4, 4)).astype("float16")
    await a.numpy()
    made = []
    for alpha in (2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), tg.asarray(2.0)):
        made += [blas.gemm(alpha, a, a, alpha, a), blas.axpy(alpha, a[0], a[1]).reshape(1, 4)]
    assert {x.dtype.name for x in made} == {"float16"}
    got = await tg.fetch(*made)
    assert all(np.array_equal(x, got[k % 2]) for k, x in enumerate(got))
    step = tg.jit(lambda x, alpha, beta: blas.gemm(alpha, x, x, beta, x))
    x = tg.asarray(draw(5, 5))
    host = (await x.numpy()).astype(float)
    before = None
    for alpha, beta in [(1.5, 2.5), (3.0, -1.0), (0.25, 4.0), (1.0, 0.0), (2.0, 1.0)]:
        near(
            await step(x, alpha, beta).numpy(),
            alpha * host @ host + beta * host,
            4 * size_of(host, host) + 4 * np.abs(host),
        )
        if alpha == 3.0:
            before = tg.memory()["pipelines"]
        if alpha == 0.25:
            assert tg.memory()["pipelines"] == before


async def test_ox_01_integers_wrap() -> None:
    """OX-01 beyond floats: int32 and uint32 are exact modulo 2^32; a float alpha is refused."""
    a = RNG.integers(-(2**31), 2**31, (6, 5)).astype(np.int32)
    b = RNG.integers(-(2**31), 2**31, (5, 4)).astype(np.int32)
    want = (3 * (a.astype(object) @ b.astype(object)) & 0xFFFFFFFF).astype(np.uint64).astype(np.uint32)
    got = await blas.gemm(3, a, b).numpy()
    assert np.array_equal(got.view(np.uint32), want)
    with pytest.raises(TypeError, match=r"0\.5 is a float"):
        blas.gemm(0.5, a, b)


async def test_ox_01_refusals() -> None:
    a, b = tg.zeros((3, 4)), tg.zeros((5, 6))
    with pytest.raises(ValueError, match=r"op\(a\) \(3, 4\) @ op\(b\) \(5, 6\): inner sizes 4 and 5"):
        blas.gemm(1, a, b)
    with pytest.raises(ValueError, match=r"c of shape \(2, 2\) does not broadcast to \(3, 6\)"):
        blas.gemm(1, a, b[:4], 1, tg.zeros((2, 2)))
    with pytest.raises(ValueError, match="trans is 0, 1, 2"):
        blas.gemm(1, a, b, trans_a="X")
    with pytest.raises(ValueError, match="takes matrices"):
        blas.gemm(1, a[None], b)
    with pytest.raises(ValueError, match="a factor is a number or a 0-d array"):
        blas.gemm(tg.ones(2), a, b[:4])
    with pytest.raises(TypeError, match="cannot hold a product of complex64"):
        blas.gemm(1, a.astype(tg.complex64), b[:4], out_dtype=tg.float32)


# --- OX-02 ----------------------------------------------------------------------------------------------------


async def test_ox_02_batched_gemm() -> None:
    """OX-02: strides between batches, also 0 and overlapping, transposes, alpha and beta; one launch."""
    m, n, k, batch = 6, 5, 7, 9
    line = draw(2000)
    buffer = tg.asarray(line)
    await buffer.numpy()
    for stride_a, stride_b, (ta, tb) in itertools.product(
        (60, 0, 11), (40, 0), itertools.product((0, 1), (0, 1))
    ):
        ra, ca = (m, k) if not ta else (k, m)
        rb, cb = (k, n) if not tb else (n, k)
        a = blas.matrix(buffer, ra, ca, ca + 1, offset=3, batch=batch, stride=stride_a)
        b = blas.matrix(buffer, rb, cb, cb + 2, offset=700, batch=batch, stride=stride_b)
        c = blas.matrix(buffer, m, n, n, offset=1200, batch=batch, stride=m * n)
        pick = np.lib.stride_tricks.as_strided
        ha = pick(line[3:], (batch, ra, ca), (4 * stride_a, 4 * (ca + 1), 4)).astype(float)
        hb = pick(line[700:], (batch, rb, cb), (4 * stride_b, 4 * (cb + 2), 4)).astype(float)
        hc = line[1200 : 1200 + batch * m * n].reshape(batch, m, n).astype(float)
        count, got = await counted(
            lambda a=a, b=b, c=c, ta=ta, tb=tb: blas.batched_gemm(1.5, a, b, -1.0, c, ta, tb)
        )
        near(got, 1.5 * op(ha, ta) @ op(hb, tb) - hc, 1.5 * size_of(op(ha, ta), op(hb, tb)) + np.abs(hc))
        assert count == 1, (stride_a, stride_b, ta, tb)


@pytest.mark.limits
async def test_ox_02_batches_beyond_65535() -> None:
    """OX-02 and issue bank L07: 70,000 matrices, where a grid of 65,535 ends; and none."""
    a, b = draw(70000, 1, 8), draw(8, 4)
    got = await blas.batched_gemm(2.0, a, b).numpy()
    near(got, 2 * a.astype(float) @ b, 2 * size_of(a, b))
    b = draw(70000, 8, 2)
    got = await blas.batched_gemm(1.0, a, b, 1.0, np.float32(1)).numpy()
    near(got, a.astype(float) @ b + 1, size_of(a, b) + 1)
    assert blas.batched_gemm(1.0, tg.zeros((0, 2, 3)), tg.zeros((0, 3, 4))).shape == (0, 2, 4)


async def test_ox_02_refusals() -> None:
    buffer = tg.zeros(100)
    with pytest.raises(ValueError, match=r"ends at element 104, the buffer has 100"):
        blas.matrix(buffer, 4, 5, 6, batch=5, stride=20, offset=1)
    with pytest.raises(ValueError, match="ld not less than a row"):
        blas.matrix(buffer, 4, 5, 4)
    with pytest.raises(ValueError, match="leading axes do not broadcast"):
        blas.batched_gemm(1, tg.zeros((2, 3, 4)), tg.zeros((3, 4, 5)))
    assert blas.matrix(buffer, 0, 5).shape == (0, 5)


# --- OX-03 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_ox_03_gemm_16_bits(name: str) -> None:
    """OX-03: 16-bit operands, sums and alpha, beta in float32, rounded once; or float32 out; ld, trans, k = 0."""
    for ta, tb in itertools.product((0, 1), (0, "C")):
        m, n, k = 9, 12, 200
        a, b, c = draw(*((m, k) if not ta else (k, m))), draw(*((k, n) if not tb else (n, k))), draw(m, n)
        x, y, z = (tg.asarray(v).astype(name) for v in (a, b, c))
        a, b, c = (v.astype(float) for v in await tg.fetch(*(v.astype(tg.float32) for v in (x, y, z))))
        left, right = op(a, ta), op(b, tb)
        want, bound = 0.5 * left @ right - 2 * c, 0.5 * size_of(left, right) + np.abs(2 * c)
        count, got = await counted(
            lambda x=x, y=y, z=z, ta=ta, tb=tb: blas.gemm(0.5, x, y, -2.0, z, ta, tb, out_dtype="float32")
        )
        assert got.dtype == np.float32 and count == 1
        near(got, want, bound)
        made = blas.gemm(0.5, x, y, -2.0, z, ta, tb)
        assert made.dtype == name
        near((await made.astype(tg.float32).numpy()), want, bound, HALF[name])
    big = tg.full((3, 40), 300.0, dtype=name)  # sums beyond float16
    assert np.array_equal(
        await blas.gemm(1, big, big, trans_b=1, out_dtype="float32").numpy(), np.full((3, 3), 3.6e6)
    )
    none = blas.gemm(1, big[:, :0], big[:, :0], 2.0, np.float32(4), 0, 1)
    assert none.dtype == name and np.all(np.asarray(await none.astype(tg.float32).numpy()) == 8)


# --- runmat matmul_epilogue -----------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", None])
async def test_runmat_matmul_epilogue(activation: str | None) -> None:
    """runmat matmul_epilogue: alpha, beta, rows and columns scaled or divided, limits, power, and ours: one launch."""
    a, b = draw(12, 20), draw(20, 8)
    rows, columns, bias = np.abs(draw(12)) + 1, np.abs(draw(8)) + 1, draw(8)
    held = [tg.asarray(v) for v in (a, b, rows, columns, bias)]
    await tg.fetch(*held)
    x, y, r, c, d = held
    functions: dict[str | None, Any] = {
        "relu": lambda v: np.maximum(v, 0),
        "tanh": np.tanh,
        "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
        "silu": lambda v: v / (1 + np.exp(-v)),
        "gelu": None,
        "gelu_tanh": lambda v: v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))),
        None: lambda v: v,
    }
    for row_op, column_op in itertools.product(("multiply", "divide"), ("multiply", "divide")):
        count, got = await counted(
            lambda row_op=row_op, column_op=column_op: blas.matmul_epilogue(
                x, y, 0.5, 0.25, bias=d, row_scale=r, row_op=row_op, column_scale=c, column_op=column_op,
                clamp=(-1.5, 1.5), power=3, activation=activation,
            )
        )  # fmt: skip
        v = 0.5 * a.astype(float) @ b + 0.25 + bias
        v = v * rows[:, None] if row_op == "multiply" else v / rows[:, None]
        v = np.clip(v * columns if column_op == "multiply" else v / columns, -1.5, 1.5) ** 3
        if activation == "gelu":
            from math import erf

            want = v / 2 * (1 + np.vectorize(erf)(v / np.sqrt(2)))
        else:
            want = functions[activation](v)
        assert count == 1
        assert np.allclose(got, want, rtol=2e-4, atol=3e-4), np.abs(got - want).max()


async def test_runmat_matmul_epilogue_in_stacks_and_bias_of_rows() -> None:
    """runmat matmul_epilogue of stacks, with a bias for each row, limits on one side, functions as activations."""
    a, b, bias = draw(3, 4, 5), draw(5, 6), draw(4)
    x, y, d = tg.asarray(a), tg.asarray(b), tg.asarray(bias)
    await tg.fetch(x, y, d)
    count, got = await counted(
        lambda: blas.matmul_epilogue(x, y, bias=d, bias_axis=-2, clamp=(0, None), activation=lambda v: v * 2)
    )
    want = np.maximum(a.astype(float) @ b + bias[:, None], 0) * 2
    near(got, want, 2 * size_of(a, b) + 4)
    assert count == 1
    count, got = await counted(lambda: blas.gemm(2.0, x[0], y, bias=np.float32([1.0]), activation="relu"))
    near(got, np.maximum(2 * a[0].astype(float) @ b + 1, 0), 2 * size_of(a[0], b) + 1)
    assert count == 1
    with pytest.raises(ValueError, match=r"row_scale of shape \(6,\) needs 4 values"):
        blas.matmul_epilogue(x, y, row_scale=tg.ones(6))
    with pytest.raises(ValueError, match="row_op is 'multiply' or 'divide'"):
        blas.matmul_epilogue(x, y, row_scale=tg.ones(4), row_op="add")
    with pytest.raises(ValueError, match="activation 'swoosh' is none of"):
        blas.gemm(1, x[0], y, activation="swoosh")


# --- levels 1 and 2, rank-k updates ---------------------------------------------------------------------------


async def test_gemv() -> None:
    for trans, kind in itertools.product((0, 1, "C"), "fc"):
        a = draw(7, 9, kind=kind)
        left = op(a, trans)
        x, y = draw(left.shape[1], kind=kind), draw(left.shape[0], kind=kind)
        got = await blas.gemv(2.0, a, x, -1.0, y, trans).numpy()
        near(got, 2.0 * left @ x - y, 4 * np.abs(left) @ np.abs(x) + np.abs(y))
    assert np.array_equal(
        await blas.gemv(1, tg.zeros((3, 0)), tg.zeros(0), 2.0, np.ones(3, "f")).numpy(), [2, 2, 2]
    )
    got = await blas.gemv(
        1, a, x[: a.shape[1]] if trans == 0 else draw(9, kind="c"), 0, np.full(7, np.nan)
    ).numpy()
    assert np.isfinite(got).all()
    with pytest.raises(ValueError, match=r"op\(a\) \(7, 9\) and x \(7,\)"):
        blas.gemv(1, tg.zeros((7, 9)), tg.zeros(7))


@pytest.mark.parametrize("lower", [None, 0, 1])
async def test_syrk_and_herk(lower: int | None) -> None:
    for trans, kind, name in itertools.product((0, "T"), "fc", ("syrk", "herk")):
        a = draw(5, 8, kind=kind)
        x = a.astype(complex if kind == "c" else float)
        left = x if trans == 0 else x.T
        right = left.T
        if name == "herk":
            left, right = (left, right.conj()) if trans == 0 else (left.conj(), right)
        n = left.shape[0]
        c = draw(n, n, kind=kind)
        want = 0.5 * left @ right + 2.0 * c
        if lower is not None:
            keep = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
            want = np.where(keep, want, c)
        count, got = await counted(lambda a=tg.asarray(a), c=tg.asarray(c), name=name, trans=trans: getattr(blas, name)(
            0.5, a, 2.0, c, trans, lower))  # fmt: skip
        near(got, want, size_of(left, right) + 2 * np.abs(c))
        assert count == (4 if kind == "c" else 1)
    bare = await blas.syrk(1.0, draw(4, 3), lower=1).numpy()
    assert np.array_equal(bare, np.tril(bare))


async def test_vectors() -> None:
    x, y, a = draw(100), draw(100), draw(100, 30)
    z, w = draw(100, kind="c"), draw(100, kind="c")
    near(await blas.axpy(2.5, x, y).numpy(), 2.5 * x.astype(float) + y, np.abs(2.5 * x) + np.abs(y))
    near(await blas.scal(1 - 2j, z).numpy(), (1 - 2j) * z.astype(complex), 3 * np.abs(z))
    near(await blas.dot(x[::-1], y).numpy(), x[::-1].astype(float) @ y, np.abs(x[::-1]) @ np.abs(y))
    near(await blas.dotu(z, w).numpy(), z.astype(complex) @ w, 2 * np.abs(z) @ np.abs(w))
    near(await blas.dotc(z, w).numpy(), z.astype(complex).conj() @ w, 2 * np.abs(z) @ np.abs(w))
    near(await blas.asum(z).numpy(), (np.abs(z.real.astype(float)) + np.abs(z.imag)).sum(), 200)
    near(await blas.ger(2.0, x, a[0], a).numpy(), 2.0 * np.outer(x.astype(float), a[0]) + a, 10)
    near(await blas.gerc(1j, z, w).numpy(), 1j * np.outer(z.astype(complex), w.conj()), 10)
    assert int(await blas.iamax(z).item()) == np.argmax(np.abs(z.real) + np.abs(z.imag))
    for scale in (1.0, 1e-30, 1e30):
        got = await blas.nrm2(tg.asarray(x) * scale).numpy()
        near(got, np.linalg.norm((x * np.float32(scale)).astype(float)), scale * 10)
    near(await blas.nrm2(z).numpy(), np.linalg.norm(z.astype(complex)), 15)
    assert float(await blas.nrm2(tg.zeros(0)).item()) == 0 == float(await blas.nrm2(tg.zeros(3)).item())
    assert float(await blas.nrm2(tg.asarray([1.0, np.inf])).item()) == np.inf
    with pytest.raises(ValueError, match=r"vectors of one length, not \(2,\), \(3,\)"):
        blas.dot(tg.zeros(2), tg.zeros(3))


# --- issue bank -----------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_l01_tall_products_are_not_zero() -> None:
    """Issue bank L01: M just below and above powers and 500, plain and in a batch of (1, 8)."""
    for m in (1, 7, 31, 32, 33, 64, 65, 499, 500, 513):
        a, b = draw(m, 40), draw(40, 32)
        near(await blas.gemm(1, a, b).numpy(), a.astype(float) @ b, size_of(a, b))
    a, b = draw(1, 8, 512, 512), draw(1, 8, 512, 32)
    near(await blas.batched_gemm(1, a, b).numpy(), a.astype(float) @ b, size_of(a, b))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65])
async def test_l02_sizes_off_the_tiles(m: int) -> None:
    """Issue bank L02: (m, n, k) off every tile; n and k from the same list, thinned out."""
    sizes = [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65]
    made, wanted = [], []
    for i, (n, k) in enumerate(itertools.product(sizes, sizes)):
        if (i + m) % 5 == 0:
            a, b = draw(m, k), draw(k, n)
            made.append(blas.gemm(1, a, b))
            wanted.append((a, b))
    for got, (a, b) in zip(await tg.fetch(*made), wanted, strict=True):
        near(got, a.astype(float) @ b, size_of(a, b))


async def test_l04_vectors_and_no_inner_size() -> None:
    """Issue bank L04: 1-D with 2-D operands, and K = 0 gives zeros."""
    a, v, w = draw(3, 4), draw(4), draw(3)
    near(await tg.matmul(tg.asarray(a), v).numpy(), a.astype(float) @ v, np.abs(a) @ np.abs(v))
    near(await tg.matmul(tg.asarray(w), a).numpy(), w.astype(float) @ a, np.abs(w) @ np.abs(a))
    assert np.array_equal(await (tg.zeros((3, 0)) @ tg.zeros((0, 4))).numpy(), np.zeros((3, 4)))
    assert np.array_equal(await blas.gemv(1, tg.zeros((3, 0)), tg.zeros(0)).numpy(), np.zeros(3))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3), (3, 0)])
async def test_l05_addmm_with_empties(shape: tuple[int, ...]) -> None:
    """Issue bank L05: beta * c + a @ b where sizes are 0."""
    m, n = shape[-2:]
    for k in (0, 2):
        got = blas.batched_gemm(
            1, tg.zeros((*shape[:-2], m, k)), tg.zeros((*shape[:-2], k, n)), 1, tg.zeros(shape)
        )
        assert (await got.numpy()).shape == shape


async def test_l08_int32_products() -> None:
    """Issue bank L08: int32 @ int32 is exact and wraps."""
    a, b = (RNG.integers(-(2**31), 2**31, s).astype(np.int32) for s in ((17, 33), (33, 9)))
    want = (
        (a.astype(object) @ b.astype(object) & 0xFFFFFFFF).astype(np.uint64).astype(np.uint32).view(np.int32)
    )
    assert np.array_equal(await (tg.asarray(a) @ tg.asarray(b)).numpy(), want)


async def test_many_shapes_few_pipelines() -> None:
    """Sizes, leading dimensions, scalars and strides are parameters: 300 shapes compile a bounded set of kernels."""
    buffer = tg.asarray(draw(4000))
    rng = np.random.default_rng(0)
    before = int(tg.memory()["pipelines"])
    for _ in range(300):
        m, n, k = (int(v) for v in rng.integers(1, 40, 3))
        a = blas.matrix(buffer, m, k, k + int(rng.integers(0, 5)), offset=int(rng.integers(0, 9)))
        b = blas.matrix(buffer, k, n, n + int(rng.integers(0, 5)), offset=int(rng.integers(0, 9)))
        await blas.gemm(float(rng.random()), a, b, float(rng.random()) + 1, np.float32(rng.random())).numpy()
    assert int(tg.memory()["pipelines"]) - before <= 60
