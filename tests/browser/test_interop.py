"""NumPy's functions and others' protocols on GPU arrays: dispatch, DLPack, pickle, the array API's namespace."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from tab import IN_TAB

import tabgpu as tg
from tabgpu import engine

can_wait = pytest.mark.skipif(not engine.can_suspend(), reason="no JSPI")
NEW = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
H = np.arange(6, dtype=np.float32).reshape(2, 3)
DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64")


def host(dtype: str) -> Any:
    return (np.arange(6).reshape(2, 3) % (2 if dtype == "bool" else 7)).astype(dtype)


class NoReads:
    """A block in which nothing is read back."""

    def __enter__(self) -> None:
        self.before = tg.memory()["bytes_read"]

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            assert tg.memory()["bytes_read"] == self.before, "something was read back"


async def same(got: Any, want: Any) -> None:
    """got is on the GPU and equals want but for 64 bits."""
    assert type(got) is tg.Array, type(got)
    value, want = await got.numpy(), np.asarray(want)
    assert value.shape == want.shape and value.dtype.kind == want.dtype.kind, (value.dtype, want.dtype)
    np.testing.assert_allclose(value, want, rtol=2e-6, atol=1e-6)


# --- ufuncs -------------------------------------------------------------------------------------------------

UFUNCS = {
    n: f for n, f in vars(np).items() if isinstance(f, np.ufunc) and f.__name__ == n and not f.signature
}
OURS = [n for n in UFUNCS if hasattr(tg, n)]
NOT_OURS = [n for n in UFUNCS if not hasattr(tg, n)]


def operands(f: Any) -> tuple[list[Any], list[Any]]:
    """Host operands that f takes, and the same on the GPU."""
    for kind in ("float32", "int32", "bool", "complex64"):
        xs = [
            (np.arange(1, 7).reshape(2, 3) + k).astype(kind) % (7 if kind == "int32" else 100)
            for k in range(f.nin)
        ]
        if f.__name__ == "ldexp":
            xs[1] = xs[1].astype(np.int32)
        try:
            with np.errstate(all="ignore"):
                f(*xs)
        except TypeError:
            continue
        return xs, [tg.asarray(x) for x in xs]
    raise AssertionError(f.__name__)


@pytest.mark.parametrize("name", OURS)
async def test_a_ufunc_is_our_function(name: str) -> None:
    """np.f(a) is tg.f(a): on the GPU, and nothing is read."""
    f = UFUNCS[name]
    xs, gs = operands(f)
    with NoReads():
        got, ours = f(*gs), getattr(tg, name)(*gs)
        mixed = f(xs[0], *gs[1:]) if f.nin > 1 else got
    got, ours, mixed = (x if isinstance(x, tuple) else (x,) for x in (got, ours, mixed))
    assert len(got) == f.nout
    for a, b, c in zip(got, ours, mixed, strict=True):
        assert type(a) is tg.Array and a.dtype is b.dtype is c.dtype
        assert a._cell.op.fn is b._cell.op.fn is c._cell.op.fn
        if IN_TAB:  # the same function: its values are tested elsewhere, and a kernel less is compiled
            continue
        x, y, z = await tg.fetch(a, b, c)
        assert x.tobytes() == y.tobytes() == z.tobytes()
    if IN_TAB:
        return
    with np.errstate(all="ignore"):
        want = f(*xs)
    for a, w in zip(got, want if f.nout > 1 else (want,), strict=True):
        np.testing.assert_allclose(await a.numpy(), w, rtol=1e-5, atol=1e-6)


def test_ufuncs_that_we_have_not_are_refused_by_name() -> None:
    g = tg.asarray(H)
    for name in NOT_OURS:
        f = UFUNCS[name]
        with NoReads(), pytest.raises(TypeError, match=rf"numpy\.{name} "):
            f(*[g] * f.nin)
    with NoReads(), pytest.raises(TypeError, match="vectorized"):
        np.frompyfunc(lambda x: x, 1, 1)(g)
    assert len(OURS) > 70, sorted(NOT_OURS)


async def test_ufuncs_with_out_where_and_dtype() -> None:
    g, out = tg.asarray(H), tg.zeros((2, 3))
    with NoReads():
        got = np.sin(g, out=out)
        part = np.add(g, 1, out=tg.full((2, 3), -1.0), where=tg.asarray(H > 2))
        whole, rest = np.modf(g * 0.5, out=(tg.zeros((2, 3)), None))
        small = np.add(g, g, dtype=np.float16)
    assert got is out
    await same(out, np.sin(H))
    await same(part, np.where(H > 2, H + 1, -1))
    await same(whole, np.modf(H * 0.5)[0])
    await same(rest, np.modf(H * 0.5)[1])
    assert small.dtype is tg.float16
    with NoReads():
        with pytest.raises(TypeError, match="ndarray"):
            np.sin(g, out=np.zeros((2, 3), np.float32))
        with pytest.raises(TypeError, match=r"float32.*int32|int32.*float32"):
            np.sin(g, out=tg.zeros((2, 3), dtype=tg.int32))
        with pytest.raises(ValueError, match=r"\(3,\)"):
            np.sin(g, out=tg.zeros(3))
    np.add(g, g, out=g)
    await same(g, H + H)


async def test_ufunc_methods() -> None:
    g = tg.asarray(H)
    with NoReads():
        cases = [
            (np.add.reduce(g), np.add.reduce(H)), (np.add.reduce(g, axis=None), np.add.reduce(H, axis=None)),
            (np.multiply.reduce(g, axis=1, keepdims=True), np.multiply.reduce(H, axis=1, keepdims=True)),
            (np.maximum.reduce(g, axis=-1), np.maximum.reduce(H, axis=-1)),
            (np.minimum.reduce(g, axis=(0, 1)), np.minimum.reduce(H, axis=(0, 1))),
            (np.logical_and.reduce(g), np.logical_and.reduce(H)), (np.logical_or.reduce(g), np.logical_or.reduce(H)),
            (np.add.reduce(g, where=tg.asarray(H > 1), initial=2.0), np.add.reduce(H, where=H > 1, initial=2.0)),
            (np.add.accumulate(g, axis=1), np.add.accumulate(H, axis=1)),
            (np.maximum.accumulate(g), np.maximum.accumulate(H)),
            (np.subtract.outer(g[0], g), np.subtract.outer(H[0], H)),
            (np.hypot.outer(H, g[1]), np.hypot.outer(H, H[1])),
        ]  # fmt: skip
    for got, want in cases:
        await same(got, want)
    for call in (
        lambda: np.arctan2.reduce(g), lambda: np.sin.at(g, [0]), lambda: np.add.reduceat(g, [0]),
        lambda: np.hypot.accumulate(g),
    ):  # fmt: skip
        with NoReads(), pytest.raises((TypeError, ValueError), match=r"arctan2|sin|reduceat|hypot"):
            call()


async def test_ufunc_at_counts_repeated_indices() -> None:
    g = tg.zeros(4)
    np.add.at(g, tg.asarray([1, 1, 3]), tg.asarray([1.0, 2.0, 5.0]))
    await same(g, np.float32([0, 3, 0, 5]))
    with pytest.raises(TypeError, match="ndarray"):
        np.add.at(np.zeros(4, np.float32), [0], tg.ones(1))


# --- operators of NumPy's arrays and scalars (I16) ----------------------------------------------------------

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("op", OPERATORS, ids=lambda f: f.__name__)
async def test_operators_beside_numpy(op: Any) -> None:
    """I16: each reflected operator keeps its order; results are on the GPU, none is an array of objects."""
    g = tg.asarray(H + 1)
    sides = [H + 2, 2, 2.5, np.float32(3), np.float32([3, 1, 2]), [1.0, 2.0, 3.0], np.int32(2), True]
    with NoReads():
        pairs = [(op(x, g), op(g, x)) for x in sides]
    if IN_TAB and op.__name__ not in ("sub", "truediv", "pow", "lt"):
        return  # the native host compares the values of the others
    for x, (left, right) in zip(sides, pairs, strict=True):
        h = np.asarray(x) if isinstance(x, (list, bool)) else x
        h = np.asarray(h, np.float32) if np.asarray(h).dtype.kind == "f" else h
        await same(left, op(h, H + 1))
        await same(right, op(H + 1, h))


async def test_integer_operators_beside_numpy() -> None:
    """I16."""
    h = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
    g = tg.asarray(h)
    for op in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
        for x in (h[::-1], np.int32(2), 3):
            await same(op(x, g), op(x, h))
            await same(op(g, x), op(h, x))
    await same(np.arange(3, dtype=np.float64) * tg.ones(3), np.arange(3.0))
    await same(H @ tg.asarray(H.T), H @ H.T)
    await same(tg.asarray(H) @ H.T, H @ H.T)
    got = divmod(h, tg.asarray(h[:, ::-1].copy()))
    for a, b in zip(got, divmod(h, h[:, ::-1]), strict=True):
        await same(a, b)


def test_numpy_arrays_are_not_written_to_from_the_gpu() -> None:
    h = H.copy()
    with NoReads(), pytest.raises(TypeError, match="ndarray"):
        h += tg.asarray(H)
    with pytest.raises(TypeError, match="object"):
        np.asarray([None, 1]) * tg.ones(2)
    assert (h == H).all()


# --- functions ----------------------------------------------------------------------------------------------

FUNCTIONS: list[Any] = [
    lambda a: np.sum(a), lambda a: np.sum(a, 1), lambda a: np.sum(a, axis=(0, 1), keepdims=True),
    lambda a: np.mean(a, axis=-1), lambda a: np.prod(a, 0), lambda a: np.max(a, axis=1), lambda a: np.amin(a, 0),
    lambda a: np.all(a), lambda a: np.any(a, axis=0), lambda a: np.argmax(a, 1), lambda a: np.argmin(a, axis=0),
    lambda a: np.concatenate([a, a]), lambda a: np.concatenate((a, a), 1), lambda a: np.concatenate([a, a], axis=None),
    lambda a: np.stack([a, a], axis=1), lambda a: np.where(a > 2, a, -a), lambda a: np.clip(a, 1, 3),
    lambda a: np.clip(a, None, 3), lambda a: np.round(a * 0.37, 1),
    lambda a: np.transpose(a), lambda a: np.transpose(a, (1, 0)), lambda a: np.swapaxes(a, 0, 1),
    lambda a: np.moveaxis(a, 0, -1), lambda a: np.reshape(a, (3, 2)), lambda a: np.reshape(a, -1, order="F"),
    lambda a: np.ravel(a), lambda a: np.expand_dims(a, 1), lambda a: np.squeeze(a[None]), lambda a: np.flip(a, 0),
    lambda a: np.fliplr(a), lambda a: np.broadcast_to(a, (2, 2, 3)), lambda a: np.dot(a, a.T),
    lambda a: np.zeros_like(a), lambda a: np.ones_like(a, dtype=np.int32), lambda a: np.full_like(a, 7),
    lambda a: np.copy(a), lambda a: np.atleast_1d(a), lambda a: np.sum(a=a, axis=0), lambda a: np.nan_to_num(a),
    lambda a: np.sinc(a), lambda a: np.matrix_transpose(a), lambda a: np.astype(a, np.int32),
]  # fmt: skip


async def test_functions_stay_on_the_gpu() -> None:
    g = tg.asarray(H)
    with NoReads():
        got = [f(g) for f in FUNCTIONS]
    for f, x in zip(FUNCTIONS, got, strict=True):
        await same(x, f(H))
    with NoReads():
        pieces = np.split(g, 3, axis=1)
        both = np.broadcast_arrays(g, g[:1])
        least = np.clip(g, min=2) if NEW else np.clip(g, 2, None)
    await same(least, H.clip(2))
    for a, b in zip(pieces, np.split(H, 3, axis=1), strict=True):
        await same(a, b)
    for a, b in zip(both, np.broadcast_arrays(H, H[:1]), strict=True):
        await same(a, b)


async def test_functions_with_out() -> None:
    g, out = tg.asarray(H), tg.zeros(3)
    with NoReads():
        assert np.sum(g, axis=0, out=out) is out
        assert np.clip(g, 1, 2, out=g) is g
        with pytest.raises(TypeError, match="ndarray"):
            np.sum(g, out=np.zeros((), np.float32))
    await same(out, H.sum(0))
    await same(g, np.clip(H, 1, 2))


async def test_creation_like() -> None:
    g = tg.asarray(H)
    with NoReads():
        made = [np.asarray([1, 2], like=g), np.zeros(3, like=g), np.ones((2, 2), dtype=np.int32, like=g)]
    for a, b in zip(made, ([1, 2], np.zeros(3), np.ones((2, 2), int)), strict=True):
        await same(a, b)


def test_what_is_known_without_values() -> None:
    g = tg.asarray(H)
    with NoReads():
        assert np.shape(g) == (2, 3) and np.ndim(g) == 2 and np.size(g) == 6 and np.size(g, 1) == 3
        assert np.may_share_memory(g, g.T) and not np.shares_memory(g, tg.asarray(H))
        assert not np.may_share_memory(g, H) and np.isrealobj(g) and not np.iscomplexobj(g)
        assert np.result_type(g, np.int32) is tg.float32 and np.can_cast(g, np.float32)


def test_functions_that_we_have_not_are_refused_by_name() -> None:
    """Every function of NumPy that dispatches: ours answers, or TypeError names it. None reads."""
    from tabgpu import dispatch

    g = tg.asarray(H)
    checked = 0
    for module in (np, np.linalg, np.fft):
        for name, f in vars(module).items():
            if type(f).__name__ != "_ArrayFunctionDispatcher" or not f.__module__.startswith("numpy"):
                continue
            path = f"{f.__module__}.{f.__name__}".removeprefix("numpy.")
            if dispatch._ours(path) is not None or path in dispatch.SPECIAL:
                continue
            with (
                NoReads(),
                pytest.raises(TypeError, match=rf"numpy\.{path} is not available .*await a\.numpy"),
            ):
                g.__array_function__(f, (tg.Array,), (g,), {})
            checked += 1
    assert checked > 10
    with NoReads():
        with pytest.raises(TypeError, match=r"numpy\.save "):
            np.save("x.npy", g)
        with pytest.raises(TypeError, match=r"numpy\.flip with axes|axes"):
            np.flip(g, axes=1)
        with pytest.raises(TypeError, match=r"float64"):
            np.sum(g, dtype=np.float64)


def test_others_may_take_part() -> None:
    class Other:
        def __array_function__(self, *_: Any) -> str:
            return "other's"

        def __array_ufunc__(self, *_: Any, **__: Any) -> str:
            return "other's"

    g = tg.asarray(H)
    assert np.concatenate([g, Other()]) == "other's" and np.add(g, Other()) == "other's"


# --- the array API's namespace ------------------------------------------------------------------------------


def test_namespace() -> None:
    a = tg.ones(2)
    assert a.__array_namespace__() is tg
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert a.__array_namespace__(api_version=version) is tg
    with pytest.raises(ValueError, match=r"1999\.1"):
        a.__array_namespace__(api_version="1999.1")
    assert tg.__array_api_version__ == "2025.12"
    info = tg.__array_namespace_info__()
    assert info.default_device() in info.devices() and info.default_device() == a.device
    assert set(info.capabilities()) == {"boolean indexing", "data-dependent shapes", "max dimensions"}
    defaults = info.default_dtypes()
    assert defaults["real floating"] is a.dtype and defaults["complex floating"] is tg.complex64
    assert defaults["integral"] is tg.asarray(1).dtype and defaults["indexing"] is tg.argmax(a).dtype
    for kind, names in {
        None: {"bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"},
        "bool": {"bool"}, "signed integer": {"int8", "int16", "int32"},
        "unsigned integer": {"uint8", "uint16", "uint32"}, "real floating": {"float32"},
        "complex floating": {"complex64"}, ("bool", "real floating"): {"bool", "float32"},
    }.items():  # fmt: skip
        got = info.dtypes(kind=kind, device=info.default_device())
        assert set(got) == names
        for name, dtype in got.items():
            assert tg.empty(1, dtype=dtype).dtype is getattr(tg, name)
    with pytest.raises(ValueError, match="cuda"):
        info.dtypes(device="cuda")


def test_devices() -> None:
    a = tg.ones(2)
    assert a.to_device(a.device) is a and tg.zeros(2, device=a.device).device == a.device
    with pytest.raises(ValueError, match=r"await a\.numpy\(\)"):
        a.to_device("cpu")
    with pytest.raises(ValueError, match="cuda"):
        a.to_device("cuda")
    with pytest.raises(ValueError, match="stream"):
        a.to_device(a.device, stream=1)


# --- DLPack (X05) -------------------------------------------------------------------------------------------


@can_wait
@pytest.mark.parametrize("dtype", DTYPES)
async def test_dlpack_out(dtype: str) -> None:
    """X05: what others import is a host copy."""
    h = host(dtype)
    g = tg.asarray(h)
    for a, b in ((g, h), (g.T, h.T), (g[:, ::-1], h[:, ::-1]), (g[0, 0], h[0, 0]), (g[:0], h[:0])):
        got = np.from_dlpack(a)
        assert got.dtype == np.dtype(dtype) and got.shape == b.shape and (got == b).all()
    assert g.__dlpack_device__() == (1, 0)
    assert (
        g.__dlpack__(dl_device=(1, 0)) is not None and g.__dlpack__(max_version=(1, 0), copy=True) is not None
    )
    assert g.__dlpack__(max_version=(0, 8)) is not None


@can_wait
def test_dlpack_that_is_impossible() -> None:
    """X05."""
    g = tg.asarray(H)
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        g.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream"):
        g.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="bfloat16"):
        g.astype(tg.bfloat16).__dlpack__()


async def test_dlpack_in() -> None:
    """X05: NumPy's arrays, tabgpu's own, and what is no such thing."""
    for dtype in DTYPES:
        h = host(dtype)
        got = tg.from_dlpack(h)
        assert got.dtype is tg.dtypes.ALL[dtype] and (await got.numpy() == h).all()
    assert (await tg.from_dlpack(np.arange(3), device="webgpu", copy=True).numpy()).tolist() == [0, 1, 2]
    g = tg.asarray(H)
    assert tg.from_dlpack(g) is g and tg.from_dlpack(g, copy=False) is g
    other = tg.from_dlpack(g, copy=True)
    other += 1
    await same(g, H)
    with pytest.raises(BufferError, match="copy"):
        tg.from_dlpack(H, copy=False)
    with pytest.raises(TypeError, match="list"):
        tg.from_dlpack([1, 2])
    with pytest.raises(ValueError, match="cuda"):
        tg.from_dlpack(H, device="cuda")
    with pytest.raises(OverflowError):
        tg.from_dlpack(np.array([2**40]))


# --- pickle and copies --------------------------------------------------------------------------------------


@can_wait
@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
async def test_pickle(dtype: str) -> None:
    h = host("float32" if dtype == "bfloat16" else dtype)
    g = tg.asarray(h).astype(dtype)
    for a, b in ((g, h), (g.T, h.T), (g[1, ::2], h[1, ::2]), (g[0, 1], h[0, 1]), (g[:, :0], h[:, :0])):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(a, protocol))
            assert type(back) is tg.Array and back.dtype is g.dtype and back.shape == a.shape
            assert (await back.numpy() == b).all()
    buffers: list[Any] = []
    text = pickle.dumps(g, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and (await pickle.loads(text, buffers=buffers).numpy() == h).all()
    assert pickle.loads(pickle.dumps(g.dtype)) is g.dtype


def test_pickle_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    with pytest.raises(tg.SyncError, match=r"pickle.dumps\(await a\.numpy\(\)\)"):
        pickle.dumps(tg.ones(2))


async def test_copies() -> None:
    g = tg.asarray(H)
    one, (two, again) = copy.copy(g), copy.deepcopy([g, g])
    assert two is again
    g += 1
    for x in (one, two):
        await same(x, H)


# --- attributes ---------------------------------------------------------------------------------------------


async def test_attributes() -> None:
    g = tg.asarray(H)
    assert g.strides == H.strides and g.T.strides == H.T.strides and g[::-1].strides == H[::-1].strides
    assert (
        g.astype(tg.int8).strides == (3, 1)
        and g.itemsize == 4
        and g.nbytes == 24
        and g.size == 6
        and g.ndim == 2
    )
    await same(g.real, H)
    await same(g.imag, np.zeros_like(H))
    z = tg.asarray(H + 1j * H[::-1])
    await same(z.real, H)
    await same(z.imag, H[::-1])
    assert len(g.flat) == 6 and g.flat.base is g
    await same(g.T.flat[1:4], H.T.flat[1:4])
    await same(g.T.flat.copy(), H.T.flatten())
    g.fill(2)
    await same(g, np.full_like(H, 2))
    with pytest.raises(OverflowError):
        tg.zeros(2, dtype=tg.int8).fill(300)


async def test_assignment_through_flat() -> None:
    h, g = H.copy(), tg.asarray(H)
    h.T.flat[2:4] = [-1, -2]
    g.T.flat[2:4] = [-1.0, -2.0]
    await same(g, h)
    g.flat = 3
    await same(g, np.full_like(H, 3))


@pytest.mark.skipif(not IN_TAB, reason="JavaScript's arrays are in a tab")
async def test_typed_arrays_of_the_page():
    """They go to the GPU as they lie, parts of a buffer included; what has no dtype of ours is converted."""
    from pyodide.code import run_js

    for kind, dtype in [("Float32Array", "float32"), ("Int16Array", "int16"), ("Uint8Array", "uint8")]:
        made = tg.asarray(run_js(f"new {kind}([9, 1, 2, 3]).subarray(1)"))
        assert made.dtype.name == dtype
        assert (await made.tolist()) == [1, 2, 3]
    assert (await tg.asarray(run_js("new Float64Array([0.5, 2])")).tolist()) == [0.5, 2]
    assert (await tg.asarray(run_js("new Float32Array([1, 2])"), dtype=tg.int32).tolist()) == [1, 2]
    assert tg.asarray(run_js("new Int32Array([])")).shape == (0,)
    with pytest.raises(OverflowError, match="5000000000"):
        tg.asarray(run_js("new BigInt64Array([5000000000n])"))
    with pytest.raises(TypeError, match="JsProxy"):
        tg.asarray(run_js("({x: 1})"))
    page = run_js("new Float32Array([1, 2])")
    taken = tg.asarray(page)
    page[0] = 7.0  # the values are those at the call
    assert (await taken.tolist()) == [1, 2]
