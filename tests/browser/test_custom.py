"""ElementwiseKernel, ReductionKernel, RawKernel: values, fusion, what compiles, and errors that show the user's
line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, NUMBERS, host_dtype, launches, layouts, numbered, on_gpu, same

import tabgpu as tg
from tabgpu.errors import KernelError, LimitError

AXPY = tg.ElementwiseKernel("float32 a, T x, T y", "T z", "z = T(a) * x + y", "axpy")
DIVMOD = tg.ElementwiseKernel(
    "int32 x, int32 y", "int32 q, int32 r", "q = x / y;\nr = x % y;", "quotient_rest"
)
NORM = tg.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", 0, "norm")


def pipelines() -> int:
    return int(tg.memory()["pipelines"])


# --- elementwise ----------------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_values_over_dtypes_and_layouts() -> None:
    double = tg.ElementwiseKernel("T x, T y", "T z", "z = x + y", "both")
    for dtype in NUMBERS:
        made, wanted = [], []
        for (_, x, gx), (_, y, gy) in zip(layouts((4, 6), dtype), layouts((4, 6), dtype, 9), strict=True):
            made.append(double(gx, gy))
            kind = host_dtype(dtype)
            want = (x + y).astype(kind)
            wanted.append(np.asarray(tg.asarray(want).astype(tg.bfloat16)) if dtype == "bfloat16" else want)
        await same(made, wanted)


async def test_bools_and_fixed_dtypes() -> None:
    k = tg.ElementwiseKernel(
        "bool m, float32 x, int8 y", "bool z, float16 h", "z = !m && x > 0.0; h = x * f32(y);"
    )
    m, x, y = (
        np.array([True, False, False]),
        np.array([1.0, 2, -3], "float32"),
        np.array([2, -100, 7], "int8"),
    )
    z, h = k(tg.asarray(m), tg.asarray(x), tg.asarray(y))
    await same([z, h], [~m & (x > 0), (x * y).astype("float16")])


async def test_narrow_results_wrap_and_round() -> None:
    k = tg.ElementwiseKernel(
        "int32 x", "uint8 u, int16 s, bfloat16 b", "u = u32(x); s = x; b = f32(x) / 3.0;"
    )
    x = np.array([0, 255, 256, -1, 70000, 12345], "int32")
    u, s, b = k(tg.asarray(x))
    third = np.asarray(tg.asarray((x / 3).astype("float32")).astype(tg.bfloat16))
    await same([u, s, b], [x.astype("uint8"), x.astype("int16"), third])


@pytest.mark.limits
async def test_broadcasting_views_scalars_and_zero_dimensions() -> None:
    x, y = numbered((3, 1, 4), "float32"), numbered((5, 4), "float32")
    gx, gy = tg.asarray(x), tg.asarray(y)
    made = [
        AXPY(2.0, gx, gy),
        AXPY(0.5, gx[::-1, :, 1:3], gy[1::2, ::-2]),
        AXPY(1, gx.T, 1.5),
        AXPY(3.0, gx[0, 0, 1], 2),
    ]
    await same(
        made, [2 * x + y, 0.5 * x[::-1, :, 1:3] + y[1::2, ::-2], x.T + np.float32(1.5), 3 * x[0, 0, 1] + 2]
    )
    empty = AXPY(2.0, tg.zeros((0, 4)), tg.asarray(y[:1]))
    await same([empty, AXPY(2.0, 3.0, 4.0)], [np.zeros((0, 4), "float32"), np.float32(10)])


async def test_position_and_count() -> None:
    k = tg.ElementwiseKernel("", "uint32 at, float32 part", "at = i; part = f32(i) / f32(n);", "places")
    at, part = k(size=(3, 5))
    want = np.arange(15).reshape(3, 5)
    await same([at, part], [want.astype("uint32"), (want / 15).astype("float32")], tolerance=1e-6)
    seen = tg.ElementwiseKernel("T x", "int32 z", "z = i32(i) * 100 + i32(x);", "seen")
    x = numbered((3, 4), "int32")
    await same([seen(tg.asarray(x).T)], [np.arange(12, dtype="int32").reshape(4, 3) * 100 + x.T])


async def test_positions_are_the_kernel_s_own_however_its_result_is_seen() -> None:
    """`i` and `n` belong to the call: views, sums and broadcasts of the result that are fused with it keep them."""
    seen = tg.ElementwiseKernel("T x", "int32 z", "z = i32(i) * 100 + i32(x) + i32(n);", "seen")
    x = np.arange(12, dtype="int32").reshape(3, 4)
    want = np.arange(12, dtype="int32").reshape(3, 4) * 100 + x + 12
    g = tg.asarray(x)
    made = [
        seen(g)[1::2].T + 1,
        seen(g)[::-1, ::-2] * 2,
        seen(g).T.sum(axis=0),
        tg.broadcast_to(seen(g)[:1], (5, 4)) + g[0],
    ]
    await same(
        made,
        [
            want[1::2].T + 1,
            want[::-1, ::-2] * 2,
            want.T.sum(axis=0),
            np.broadcast_to(want[:1], (5, 4)) + x[0],
        ],
    )
    weighted = tg.ReductionKernel("T x", "T y", "T(i) * x", "a + b", "y = a", 0, "weighted")
    await same([weighted(g.T, axis=0)], [(np.arange(12).reshape(4, 3) * x.T).sum(axis=0).astype("int32")])


async def test_one_of_several_results_is_dropped_or_used() -> None:
    two = tg.ElementwiseKernel("T x", "T a, T b", "a = x + T(1);\nb = x * T(2);", "two")
    x = numbered((30,), "int32")
    g = tg.asarray(x)
    a, b = two(g)
    del a
    await same([b], [x * 2])
    a, b = two(g)
    await same([(a + b).sum(), b], [(x + 1 + x * 2).sum().astype("int32"), x * 2])


async def test_a_long_body_and_one_with_a_loop() -> None:
    steps = "\n".join(f"s = s * 1.0 + {k}.0;" for k in range(300))
    long = tg.ElementwiseKernel("float32 x", "float32 z", f"var s = x;\n{steps}\nz = s;", "long")
    loop = tg.ElementwiseKernel(
        "float32 x", "float32 z", "var s = 0.0;\nfor (var i = 0u; i < 10u; i++) { s += x; }\nz = s;", "loop"
    )
    x = np.arange(5, dtype="float32")
    await same([long(tg.asarray(x)) + 1, loop(tg.asarray(x))], [x + sum(range(300)) + 1, x * 10])


async def test_it_is_fused_with_what_stands_around() -> None:
    x = tg.asarray(numbered((64,), "float32"))
    await tg.synchronize()
    before = launches()
    out = tg.sqrt(tg.abs(AXPY(2.0, x * 2, x + 1)) + 1).sum()
    got = await out.item()
    assert launches() - before == 1
    host = numbered((64,), "float32").astype(float)
    assert abs(got - np.sqrt(np.abs(2 * host * 2 + host + 1) + 1).sum()) < 1e-2


async def test_several_results_are_one_launch() -> None:
    """Read together, or both pending at a flush."""
    x, y = numbered((40,), "int32"), np.full(40, 7, "int32")
    gx, gy = tg.asarray(x), tg.asarray(y)
    await tg.synchronize()
    for read in (lambda q, r: tg.fetch(q, r), lambda q, r: tg.synchronize()):
        before = launches()
        q, r = DIVMOD(gx, gy)
        await read(q, r)
        assert launches() - before == 1
        await same([q, r], [(x / 7).astype("int32"), np.fmod(x, 7)])


async def test_placeholders_follow_arrays_before_numbers() -> None:
    h = tg.asarray(np.ones(3), dtype="float16")
    assert AXPY(1.0, h, 2).dtype is tg.float16
    assert AXPY(1.0, 2.5, h).dtype is tg.float16
    assert AXPY(1.0, 1, 2).dtype is tg.int32
    with pytest.raises(TypeError, match=r"axpy: y is T = float16, not float32"):
        AXPY(1.0, h, tg.ones(3))
    with pytest.raises(TypeError, match=r"axpy: a is float32, not int32; use .astype"):
        AXPY(tg.asarray([1, 2, 3]), h, h)
    with pytest.raises(TypeError, match=r"nothing says what U of z is"):
        tg.ElementwiseKernel("T x", "U z", "z = U(x)")(h)
    out = tg.ElementwiseKernel("T x", "U z", "z = U(x)", "convert")(
        tg.asarray([1.5, -2.5]), tg.zeros(2, dtype="int32")
    )
    await same([out], [np.array([1, -2], "int32")])


async def test_raw_arguments() -> None:
    blur = tg.ElementwiseKernel(
        "raw T x, float32 s",
        "T z",
        "z = T(s) * (x[(i + n - 1u) % n] + x[i32(i)] + x[(i + 1u) % x.size]);",
        "blur",
    )
    for dtype in ("float32", "int32", "uint8", "float16", "bfloat16"):
        x = numbered((9,), dtype) % 50
        gx = on_gpu(x, dtype)
        wide = x.astype(float)
        want = (2 * (np.roll(wide, 1) + wide + np.roll(wide, -1))).astype(host_dtype(dtype))
        if dtype == "bfloat16":
            want = np.asarray(tg.asarray(want).astype(tg.bfloat16))
        before = launches()
        out = blur(gx, 2.0, size=9)
        await same([out], [want], [dtype])
        assert launches() - before <= 1 + (dtype == "bfloat16")
    look = tg.ElementwiseKernel(
        "int32 k, raw complex64 c, raw bool m", "complex64 z", "if (m[k]) { z = c[k]; }", "look"
    )
    c, m, k = numbered((7,), "complex64"), numbered((7,), "bool"), np.array([[6, 0, 3], [1, 2, 5]], "int32")
    out = look(tg.asarray(k)[:, ::-1], tg.asarray(np.stack([c, c]).T)[:, 1], tg.asarray(m))
    await same([out], [np.where(m[k], c[k], 0)[:, ::-1]])


async def test_raw_with_several_results_and_a_nested_index() -> None:
    k = tg.ElementwiseKernel(
        "T x, raw int32 at, raw T table",
        "T a, uint16 b",
        "a = x + table[at[i]];\nb = u32(table[\n  at[0]]);",
        "pick",
    )
    x, at, table = (
        numbered((5,), "int32"),
        np.array([4, 0, 1, 1, 2], "int32"),
        np.arange(10, 15, dtype="int32"),
    )
    a, b = k(tg.asarray(x), tg.asarray(at), tg.asarray(table))
    before = launches()
    await same([b], [np.full(5, 14, "uint16")])
    assert launches() - before == 1
    await same([a], [x + table[at]])
    assert launches() - before == 1


async def test_outputs_given_also_when_they_are_inputs() -> None:
    """B05: an operand that is also the result."""
    x = numbered((4, 4), "float32")
    gx, out = tg.asarray(x), tg.zeros((4, 4))
    assert AXPY(2.0, gx, 1.0, out) is out
    await same([out], [2 * x + 1])
    assert AXPY(2.0, gx, gx, gx) is gx
    await same([gx], [3 * x])
    AXPY(1.0, gx[1:], gx[:-1], gx[1:])
    want = 3 * x
    want[1:] = want[1:] + want[:-1].copy()
    await same([gx], [want])
    with pytest.raises(ValueError, match="shape"):
        AXPY(1.0, gx, gx, tg.zeros(4))
    with pytest.raises(TypeError, match="z is T = float32, not int32"):
        AXPY(1.0, gx, gx, tg.zeros((4, 4), dtype="int32"))


async def test_preambles_with_the_same_names_and_our_own_functions() -> None:
    twice = "fn helper(v: f32) -> f32 { return v * 2.0; }\nconst K = 3.0;"
    thrice = "struct Pair { a: f32 }\nfn helper(v: f32) -> Pair { return Pair(v * K); }\nconst K = 30.0;"
    a = tg.ElementwiseKernel("float32 x", "float32 z", "z = helper(x) + K;", "first", preamble=twice)
    b = tg.ElementwiseKernel("float32 x", "float32 z", "z = helper(x).a;", "second", preamble=thrice)
    erf = tg.ElementwiseKernel("float32 x", "float32 z", "z = erf_f32(x);", "third")
    x = np.linspace(-1, 1, 9, dtype="float32")
    gx = tg.asarray(x)
    await same([b(a(gx)), erf(gx)], [(2 * x + 3) * 30, np.asarray(tg.special.erf(gx))], tolerance=1e-6)


async def test_nothing_is_compiled_for_a_shape_or_a_scalar() -> None:
    raw = tg.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[i % y.size];", "ring")
    x = tg.asarray(numbered((600,), "float32"))

    async def one(n: int, s: float) -> None:
        await tg.fetch(AXPY(s, x[:n], x[:n]), AXPY(s, x[:n], 1.0), raw(x[:n], x[: n + 1]), NORM(x[:n]))

    for n in (8, 12, 13):
        await one(n, 1.0)
        await one(n, 2.0)
    before = pipelines()
    for n in range(1, 500):
        await one(n, n / 7)
    assert pipelines() - before <= 8


async def test_kernels_of_one_text_share_pipelines() -> None:
    x = tg.ones(5)
    counts = []
    for _ in range(4):
        k = tg.ElementwiseKernel("float32 x", "float32 z", "z = x * 1.25 + 0.125;", "same_text")
        await k(x).numpy()
        counts.append(pipelines())
    assert counts[1] == counts[3]


async def test_inside_a_jitted_function() -> None:
    @tg.jit
    def f(x: Any, s: float) -> Any:
        q, r = DIVMOD(x, x * 0 + 3)
        return AXPY(s, q.astype("float32"), 1.0), r

    x = numbered((6,), "int32")
    for s in (1.0, 2.5, -1.0):
        a, r = f(tg.asarray(x), s)
        await same([a, r], [(s * (x / 3).astype("int32") + 1).astype("float32"), np.fmod(x, 3)])


# --- errors ---------------------------------------------------------------------------------------------------------

WRONG = """let t = x * 2.0;  // fine
z = t + missing;"""


async def test_a_compile_error_shows_the_line_of_the_operation() -> None:
    k = tg.ElementwiseKernel("float32 x", "float32 z", WRONG, "wrong")
    out = k(tg.ones(3)) + 1
    with pytest.raises(
        KernelError, match=r"kernel wrong, line 2 of its WGSL: .*missing.* \| z = t \+ missing;"
    ):
        await out.numpy()
    found = await k.compile()
    assert [(d.kind, d.line, d.source) for d in found] == [("error", 2, "z = t + missing;")]
    typed = tg.ElementwiseKernel("T x", "T z", "let a = 1u;\nz = T(x) + a;", "typed")
    (one,) = await typed.compile(T="int32")
    assert one.line == 2 and one.source == "z = T(x) + a;"  # as it was written
    assert not await AXPY.compile() and not await AXPY.compile(T="uint8")


async def test_a_compile_error_in_a_preamble_or_a_reduction() -> None:
    k = tg.ElementwiseKernel(
        "float32 x", "float32 z", "z = f(x);", "pre", preamble="\nfn f(x: f32) -> f32 { return y; }"
    )
    with pytest.raises(KernelError, match=r"pre \(preamble\), line 2 of its WGSL.*return y"):
        await k(tg.ones(2)).numpy()
    r = tg.ReductionKernel("float32 x", "float32 y", "x", "a +\nwhat(b)", "y = a", 0, "red")
    with pytest.raises(KernelError, match=r"red \(reduce\), line 2 of its WGSL.*what"):
        await r(tg.ones(2)).numpy()
    (one,) = [d for d in await r.compile() if d.kind == "error"]
    assert one.line == 2 and one.part == "red (reduce)" and "what" in str(one)


async def test_comments_and_line_breaks_are_those_of_wgsl() -> None:
    """Comments nest, and any of WGSL's line breaks ends a line comment: `i` and raw reads behind one are seen."""
    x = tg.asarray([3.0, 5.0])
    k = tg.ElementwiseKernel("float32 x", "float32 z", "/* } /* { */ ) */ z = x; // /* }\n// */")
    assert (await k(x).numpy()).tolist() == [3, 5]
    for end in ("\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"):
        k = tg.ElementwiseKernel("float32 x", "float32 z", f"// z{end}z = x + f32(i);")
        r = tg.ElementwiseKernel("raw float32 x", "float32 z", f"// z{end}z = x[1u - i];")
        assert [(await v.numpy()).tolist() for v in (k(x), r(x, size=2))] == [[3, 6], [5, 3]], repr(end)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("float32 x", "float32 z", "z = x; }"), r"operation, line 1: '}' closes nothing"),
        (("float32 x", "float32 z", "if (x > 0) {\n z = x;"), r"line 1: '{' is not closed"),
        (("float32 x", "float32 z", "z = x;", "not a name"), "no WGSL identifier"),
        (("float32 while", "float32 z", "z = 1.0;"), "word of WGSL itself"),
        (("float32 x y", "float32 z", "z = x;"), "is written 'DTYPE NAME'"),
        (("float32 i", "float32 z", "z = i;"), "'i' is taken"),
        (("float32 x", "float32 x", "x = x;"), "an input and an output"),
        (("float32 x", "", ""), "at least one output"),
        (("float32 x", "raw float32 z", "z[i] = x"), "cannot be raw"),
        (("float32 x); fn evil(", "float32 z", "z = x"), "DTYPE NAME"),
        (("float32 x-y", "float32 z", "z = x"), "no WGSL identifier"),
        (("float32 x", "float32 z", "z = x; /* /* */ } fn evil() { */ }"), "'}' closes nothing"),
        (("float32 x", "float32 z", "z = x;\n/* /* */"), r"line 2: '/\*' is not closed"),
    ],
)
def test_a_bad_declaration_is_refused(args: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        tg.ElementwiseKernel(*args)


def test_bad_dtypes_and_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="no 64-bit types"):
        tg.ElementwiseKernel("float64 x", "float32 z", "z = f32(x)")
    with pytest.raises(TypeError, match="3 inputs .and 1 outputs. wanted, 1 given"):
        AXPY(1.0)
    with pytest.raises(ValueError, match=r"axpy: shapes do not broadcast: \(3,\) with \(4,\)"):
        AXPY(1.0, tg.ones(3), tg.ones(4))
    with pytest.raises(TypeError, match="x is int32, not float"):
        DIVMOD(1.5, tg.asarray([1, 2]))
    with pytest.raises(OverflowError):
        DIVMOD(1 << 40, tg.asarray([1, 2]))
    raw = tg.ElementwiseKernel("raw float32 x", "float32 z", "z = x[i]")
    with pytest.raises(ValueError, match="give size="):
        raw(tg.ones(3))
    with pytest.raises(TypeError, match="x is raw: it takes an array"):
        raw(1.0, size=3)


@pytest.mark.limits
async def test_more_arrays_than_a_launch_can_bind() -> None:
    """Above what a fused kernel may bind it gets a launch of its own, above the device's limit LimitError."""
    most = tg.device().limits["maxStorageBuffersPerShaderStage"]
    for count in (most - 1, most):
        names = [f"v{k}" for k in range(count)]
        k = tg.ElementwiseKernel(
            ", ".join(f"float32 {n}" for n in names), "float32 z", f"z = {' + '.join(names)}"
        )
        arrays = [tg.asarray(np.full(5, j, "float32")) for j in range(count)]
        if count == most:
            with pytest.raises(
                LimitError, match=f"{count} arrays in and 1 out; a launch of this device binds {most}"
            ):
                k(*arrays)
        else:
            await same([k(*arrays)], [np.full(5, sum(range(count)), "float32")])


async def test_debug_runs_it_on_tiny_arguments() -> None:
    k = tg.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[i];", "tried", debug=True)
    before = launches()
    assert await k.compile() == []
    assert launches() > before
    r = tg.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", 0, "greatest", debug=True)
    assert await r.compile(T="int32") == []


# --- reductions -----------------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_reductions_over_axes() -> None:
    x = numbered((3, 4, 5), "float32")
    for axis in (None, 0, 1, -1, (0, 2), (0, 1, 2), ()):
        for keep in (False, True):
            for _, host, gpu in (("plain", x, tg.asarray(x)), ("turned", x.T, tg.asarray(x).T)):
                want = np.sqrt((host * host).sum(axis=axis, keepdims=keep, dtype="float64")).astype("float32")
                await same([NORM(gpu, axis=axis, keepdims=keep)], [want], [axis], tolerance=1e-5)


async def test_reductions_of_other_dtypes() -> None:
    most = tg.ReductionKernel("T x, float32 s", "T y", "x * T(s)", "max(a, b)", "y = a", -(2**31), "most")
    x = numbered((6, 7), "int32")
    await same([most(tg.asarray(x), 2.0, axis=1)], [(2 * x).max(axis=1)])
    parity = tg.ReductionKernel("T x", "bool y", "x > T(0)", "a != b", "y = a", False, "parity")
    for dtype in ("float32", "int8", "float16", "uint32"):
        v = numbered((5, 9), dtype)
        await same([parity(on_gpu(v, dtype), axis=0)], [(v > 0).sum(axis=0) % 2 == 1], [dtype])
    bits = tg.ReductionKernel("T x", "T y", "x", "a ^ b", "y = a", 0, "bits")
    v = numbered((4, 33), "uint8")
    await same([bits(tg.asarray(v), axis=1)], [np.bitwise_xor.reduce(v, axis=1)])
    mean = tg.ReductionKernel("T x", "T y, float32 w", "f32(x) / f32(n)", "a + b", "y = T(a); w = a;", 0, "mean",
                              reduce_type="float32")  # fmt: skip
    h = on_gpu(numbered((50,), "float16"), "float16")
    y, w = mean(h)
    want = numbered((50,), "float16").astype(float).mean()
    await same([y, w], [np.float16(want), np.float32(want)], tolerance=2e-3)


async def test_a_reduction_is_one_launch_with_what_is_around_it() -> None:
    x = tg.asarray(numbered((32, 8), "float32"))
    await tg.synchronize()
    before = launches()
    await (NORM(x * 2 + 1, axis=1) * 3).numpy()
    assert launches() - before == 1


async def test_empty_reductions_and_out() -> None:
    await same(
        [NORM(tg.zeros((3, 0)), axis=1), NORM(tg.zeros((0,)))], [np.zeros(3, "float32"), np.float32(0)]
    )
    out = tg.zeros(3)
    assert NORM(tg.ones((3, 4)), axis=1, out=out) is out
    await same([out], [np.full(3, 2, "float32")])
    with pytest.raises(TypeError, match="complex64 is not reduced"):
        NORM(tg.zeros(3, dtype="complex64"))
    with pytest.raises(TypeError, match="identity is a number"):
        tg.ReductionKernel("T x", "T y", "x", "a + b", "y = a", None)
    with pytest.raises(ValueError, match="'a' and 'b' are taken"):
        tg.ReductionKernel("T a", "T y", "a", "a + b", "y = a", 0)


def test_every_dtype_is_walked() -> None:
    assert {"bool", *NUMBERS} == set(DTYPES)


def test_an_identity_that_its_dtype_does_not_hold_is_refused() -> None:
    for identity, dtype, error in (
        (1 << 40, "int32", OverflowError),
        (-1, "uint32", OverflowError),
        (1 << 32, "uint32", OverflowError),
        (float("inf"), "int32", TypeError),
        ("nan", "int32", TypeError),
    ):
        k = tg.ReductionKernel(f"{dtype} x", f"{dtype} y", "x", "max(a, b)", "y = a;", identity, "top")
        with pytest.raises(error, match="top: the identity .* (is no|is out of bounds of) u?int32"):
            k(tg.ones(3, dtype=dtype))
