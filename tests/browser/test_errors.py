"""Errors: kernels that do not compile, and calls that are refused before any work, naming shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from faults import broken_kernels, opened, reopened, restored, soon  # noqa: F401  # opened, restored: fixtures

import tabgpu as tg
from tabgpu import engine, errors
from tabgpu.errors import KernelError

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_the_classes() -> None:
    """Each is a TabgpuError and also what Python or NumPy would raise."""
    bases = {
        "NotInitializedError": RuntimeError, "NoAdapterError": RuntimeError, "SyncError": RuntimeError,
        "DeviceLostError": RuntimeError, "KernelError": RuntimeError, "GPUInternalError": RuntimeError,
        "OutOfMemoryError": MemoryError, "LimitError": ValueError,
    }  # fmt: skip
    for name, base in bases.items():
        cls = getattr(tg, name)
        assert cls is getattr(errors, name)
        assert issubclass(cls, errors.TabgpuError) and issubclass(cls, base)
    assert issubclass(tg.AxisError, ValueError) and issubclass(tg.AxisError, IndexError)


# --- kernels that do not compile ------------------------------------------------------------------------------------


async def test_an_invalid_kernel_at_a_read(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    keep = x + 1
    with broken_kernels(monkeypatch, "sinh") as labels:
        bad = tg.sinh(x)
        dependent = bad * 2
        for _ in range(2):
            with pytest.raises(KernelError) as caught:
                await soon(bad.numpy())
            message = str(caught.value)
            assert labels and labels[0] in message and "sinh" in message
            assert "WGSL line" in message and "fn broken() -> u32 { let x: u32 = 1.5f; return x; }" in message
            assert "f32" in message and "u32" in message  # the compiler's own words
        with pytest.raises(KernelError, match=r"sinh.*WGSL line"):
            await soon(dependent.numpy())
        np.testing.assert_array_equal(await soon(keep.numpy()), HOST + 1)
        with pytest.raises(KernelError):
            await soon(tg.fetch(keep, bad))
        np.testing.assert_array_equal(await soon((x * 3).numpy()), HOST * 3)
    np.testing.assert_allclose(await soon((bad * 1).numpy()), np.sinh(HOST), rtol=1e-5)
    await soon(tg.synchronize())


@pytest.mark.parametrize("how", ["flush", "many operations"])
async def test_an_invalid_kernel_at_a_flush(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    other = x + 5
    await other.numpy()
    with broken_kernels(monkeypatch, "cosh") as labels:
        bad = tg.cosh(x)
        if how == "flush":
            engine.flush()
        else:
            many = [x + k for k in range(engine.MAX_PENDING + 50)]
        assert bad._cell.op.buffer is not None, "the flush has not happened"
        dependent = bad + x
        for array in (bad, dependent, bad[1], dependent):
            with pytest.raises(KernelError) as caught:
                await soon(array.numpy())
            message = str(caught.value)
            assert any(f"kernel {label}, WGSL line" in message for label in labels), message
        np.testing.assert_array_equal(await soon(other.numpy()), HOST + 5)
        np.testing.assert_array_equal(await soon((other * 2).numpy()), (HOST + 5) * 2)
        if how != "flush":  # an operation of the same submit has failed with it; one made anew has not
            np.testing.assert_array_equal(await soon((x + 199).numpy()), HOST + 199)
            del many
    again = tg.cosh(x)
    np.testing.assert_allclose(await soon(again.numpy()), np.cosh(HOST), rtol=1e-5)
    await soon(tg.synchronize())  # raised already: nothing is left


async def test_two_invalid_kernels_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    with broken_kernels(monkeypatch, "arctanh", "expm1"):
        a = tg.arctanh(x)
        engine.flush()
        b = tg.expm1(x)
        engine.flush()
        with pytest.raises(KernelError, match="arctanh"):
            await soon(a.numpy())
        with pytest.raises(KernelError, match="expm1"):
            await soon(b.numpy())
        with pytest.raises(KernelError, match="arctanh"):
            await soon(a.numpy())


async def test_an_invalid_reduction_and_product(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(np.ones((6, 6), np.float32))
    with broken_kernels(monkeypatch, "sum_f32"), pytest.raises(KernelError, match="sum_f32"):
        await soon(tg.sum(x * 1.25 - 3, axis=0).numpy())
    with broken_kernels(monkeypatch, "gemm"), pytest.raises(KernelError, match="gemm"):
        await soon(tg.tanh(x @ x + 0.25).numpy())
    assert (await soon((x @ x).numpy())).tolist() == [[6.0] * 6] * 6


async def test_an_invalid_kernel_seen_by_synchronize(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    with broken_kernels(monkeypatch, "cbrt"):
        bad = tg.cbrt(x)
        engine.flush()
        with pytest.raises(KernelError, match="cbrt"):
            await soon(tg.synchronize())
        await soon(tg.synchronize())
        with pytest.raises(KernelError, match="cbrt"):
            await soon(bad.numpy())


async def test_work_from_a_failed_submit_stays_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps flushed one after the other, before and after the failure is known."""
    x = tg.asarray(HOST)
    with broken_kernels(monkeypatch, "log1p"):
        a = tg.log1p(x)
        engine.flush()
    b = a + 1
    engine.flush()
    c = b * 2
    engine.flush()
    free = x * 2
    engine.flush()
    with pytest.raises(KernelError, match="log1p"):
        await soon(c.numpy())
    d = c - 1
    with pytest.raises(KernelError, match="log1p"):
        await soon(d.numpy())
    with pytest.raises(KernelError, match="log1p"):
        await soon(b.sum().item())
    np.testing.assert_array_equal(await soon(free.numpy()), HOST * 2)
    await soon(tg.synchronize())


async def test_display_of_a_failed_array(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    with broken_kernels(monkeypatch, "arctan"):
        bad = tg.arctan(x)
        engine.flush()
        text = repr(bad)
    assert "shape=(3, 4)" in text and ("KernelError" in text or not engine.can_suspend())
    with pytest.raises(KernelError):
        await soon(bad.numpy())


# --- calls that are refused -----------------------------------------------------------------------------------------


def a(*shape: int) -> tg.Array:
    return tg.ones(shape)


def i32() -> tg.Array:
    return tg.asarray(np.arange(4, dtype=np.int32))


def u32() -> tg.Array:
    return tg.asarray(np.arange(4, dtype=np.uint32))


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], list[str]]] = {
    "matmul": (lambda: a(3, 4) @ a(5, 6), ValueError, ["(3, 4)", "(5, 6)"]),
    "matmul batch": (lambda: a(2, 3, 4) @ a(5, 4, 6), ValueError, ["(2, 3, 4)", "(5, 4, 6)"]),
    "matmul 0-d": (lambda: a(3, 4) @ tg.asarray(1.0), ValueError, ["()"]),
    "matmul vectors": (lambda: a(3) @ a(4), ValueError, ["(3,)", "(4,)"]),
    "broadcast": (lambda: a(3, 4) + a(3, 5), ValueError, ["(3, 4)", "(3, 5)"]),
    "where": (lambda: tg.where(a(3) > 0, a(4), a(4)), ValueError, ["(3,)", "(4,)"]),
    "axis": (lambda: a(3, 4).sum(axis=2), tg.AxisError, ["2"]),
    "negative axis": (lambda: a(3, 4).max(axis=-3), tg.AxisError, ["-3", "2"]),
    "repeated axis": (lambda: a(3, 4).sum(axis=(0, 0)), ValueError, ["(0, 0)"]),
    "float axis": (lambda: a(3, 4).sum(axis=0.5), TypeError, ["0.5|float"]),
    "argmax axis": (lambda: a(3, 4).argmax(axis=5), tg.AxisError, ["5"]),
    "expand axis": (lambda: tg.expand_dims(a(3), axis=3), tg.AxisError, ["3"]),
    "dtype": (lambda: tg.asarray([1.0], dtype="float23"), TypeError, ["float23"]),
    "float64": (lambda: tg.zeros(3, dtype=tg.float64), TypeError, ["float64"]),
    "int64": (lambda: tg.asarray([1], dtype="int64"), TypeError, ["int64"]),
    "object": (lambda: tg.asarray(np.array([1, None], dtype=object)), TypeError, ["object"]),
    "strings": (lambda: tg.asarray(np.array(["a", "b"])), TypeError, ["<U1|str"]),
    "a string": (lambda: tg.asarray("abc"), TypeError, ["str"]),
    "bytes": (lambda: tg.asarray(np.array([b"a"])), TypeError, ["S1|bytes"]),
    "dates": (lambda: tg.asarray(np.array(["2020-01-01"], dtype="datetime64[D]")), TypeError, ["datetime64"]),
    "structs": (lambda: tg.asarray(np.zeros(2, dtype=[("x", "f4")])), TypeError, ["x"]),
    "ragged": (lambda: tg.asarray([[1, 2], [3]]), ValueError, ["(?i)ragged|inhomogeneous"]),
    "None": (lambda: tg.asarray(None), TypeError, ["NoneType|object"]),
    "int64 too large": (lambda: tg.asarray(np.array([1, 2**40])), OverflowError, [str(2**40)]),
    "int64 too small": (lambda: tg.asarray(np.array([-(2**31) - 1])), OverflowError, [str(-(2**31) - 1)]),
    "uint64 too large": (lambda: tg.asarray(np.array([2**32], dtype=np.uint64)), OverflowError, [str(2**32)]),
    "Python int too large": (lambda: tg.asarray(2**70), OverflowError, [str(2**70)]),
    "scalar too large": (lambda: i32() + 2**31, OverflowError, [str(2**31)]),
    "negative for uint32": (lambda: u32() + -1, OverflowError, ["-1", "uint32"]),
    "int32 and uint32": (lambda: i32() + u32(), TypeError, ["int32", "uint32", "astype"]),
    "int32 @ uint32": (lambda: i32() @ u32(), TypeError, ["int32", "uint32", "astype"]),
    "float into bits": (lambda: a(3) & a(3), TypeError, ["float32"]),
    "float shift": (lambda: i32() << 1.5, TypeError, ["float"]),
    "index": (lambda: a(3, 4)[3], IndexError, ["3"]),
    "negative index": (lambda: a(3, 4)[0, -5], IndexError, ["-5", "4"]),
    "many indices": (lambda: a(3, 4)[0, 0, 0], IndexError, ["3", "2"]),
    "float index": (lambda: a(3)[1.0], (IndexError, TypeError), ["float"]),
    "string index": (lambda: a(3)["x"], (IndexError, TypeError), ["str"]),
    "two ellipses": (lambda: a(3, 4)[..., ...], IndexError, ["(?i)ellips"]),
    "step 0": (lambda: a(3)[::0], ValueError, ["(?i)step"]),
    "reshape": (lambda: a(3, 4).reshape(5, 2), ValueError, [r"\(3, 4\)", r"\(5, 2\)"]),
    "reshape -1": (lambda: a(3, 4).reshape(-1, 5), ValueError, [r"\(3, 4\)", r"\(-1, 5\)"]),
    "reshape two -1": (lambda: a(3, 4).reshape(-1, -1), ValueError, ["-1"]),
    "broadcast_to": (lambda: tg.broadcast_to(a(3, 4), (2, 3)), ValueError, [r"\(3, 4\)", r"\(2, 3\)"]),
    "permute": (lambda: tg.permute_dims(a(3, 4), (0, 0)), ValueError, [r"\(0, 0\)"]),
    "squeeze": (lambda: tg.squeeze(a(3, 4), 0), ValueError, ["3"]),
    "negative shape": (lambda: tg.zeros((2, -3)), ValueError, ["-3"]),
    "float shape": (lambda: tg.zeros((2.5,)), TypeError, ["float|2.5"]),
    "empty max": (lambda: tg.zeros((0, 3)).max(), ValueError, [r"max", r"\(0, 3\)"]),
    "empty argmin": (lambda: tg.zeros((3, 0)).argmin(axis=1), ValueError, [r"argmin", r"\(3, 0\)"]),
    "truth": (lambda: bool(a(3)), ValueError, [r"\(3,\)"]),
    "scalar": (lambda: float(a(3)), ValueError, [r"\(3,\)"]),
    "device": (lambda: tg.asarray([1.0], device="cpu"), ValueError, ["cpu"]),
    "complex128": (lambda: tg.asarray([1 + 2j], dtype=tg.complex128), TypeError, ["complex128"]),
    "arange step": (lambda: tg.arange(0, 5, 0), ValueError, ["step"]),
    "keyword": (lambda: a(3).sum(axes=0), TypeError, ["axes"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_any_work(name: str) -> None:
    call, error, words = REFUSED[name]
    i32(), u32()
    device = tg.device()
    engine.flush()
    before = device.counters.as_dict()
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert _says(word, message), f"{message!r} does not say {word!r}"
    after = device.counters.as_dict()
    for counter in ("launches", "submits", "reads", "pipelines"):
        assert after[counter] == before[counter], counter


def _says(word: str, message: str) -> bool:
    import re

    return word in message or re.search(word, message) is not None


# --- NumPy input that must work -------------------------------------------------------------------------------------

ODD: dict[str, Callable[[], np.ndarray]] = {
    "transposed": lambda: HOST.T,
    "strided": lambda: HOST[::2, ::3],
    "reversed": lambda: HOST[::-1, ::-1],
    "broadcast": lambda: np.broadcast_to(HOST[1], (5, 4)),
    "Fortran": lambda: np.asfortranarray(HOST),
    "big-endian float": lambda: HOST.astype(">f4"),
    "big-endian double": lambda: HOST.astype(">f8"),
    "big-endian int": lambda: HOST.astype(">i4"),
    "big-endian strided": lambda: HOST.astype(">i4")[::2, 1::2],
    "big-endian long": lambda: HOST.astype(">i8"),
    "read-only": lambda: _read_only(),
    "unaligned": lambda: np.frombuffer(b"\0" + HOST.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 4),
    "bool strided": lambda: (HOST % 2 == 0)[:, ::2],
    "0-d": lambda: np.array(3.5, np.float32),
    "scalar": lambda: np.float32(3.5),
    "int64": lambda: HOST.astype(np.int64),
    "uint64": lambda: HOST.astype(np.uint64),
    "subclass": lambda: HOST.view(type("Sub", (np.ndarray,), {})),
    "memoryview": lambda: memoryview(HOST),
    "empty": lambda: HOST[:0],
}


def _read_only() -> np.ndarray:
    x = HOST.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("name", ODD)
async def test_numpy_input_of_any_layout(name: str) -> None:
    x = ODD[name]()
    got = tg.asarray(x)
    want = np.asarray(x)
    assert got.shape == want.shape
    back = await got.numpy()
    assert back.dtype == np.dtype(got.dtype.name) and back.dtype.isnative
    np.testing.assert_array_equal(back, want)
    np.testing.assert_array_equal(
        await (tg.asarray(x) * 2).numpy(), want * 2 if want.dtype != bool else want * 2
    )
