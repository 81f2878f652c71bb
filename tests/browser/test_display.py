"""How arrays look: repr, str and format are NumPy's own texts; nothing raises; large arrays are read in part."""

from __future__ import annotations

import html
import sys
from typing import Any

import numpy as np
import pytest
from faults import restored  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import display, engine

can_wait = pytest.mark.skipif(not engine.can_suspend(), reason="no JSPI")
RNG = np.random.default_rng(5)
DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64")


def draw(dtype: str, shape: tuple[int, ...]) -> Any:
    x = np.asarray(RNG.standard_normal(shape) * 30)
    return np.asarray(x > 0 if dtype == "bool" else x.clip(0, 100) if dtype[0] == "u" else x).astype(dtype)


@can_wait
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpys_text(dtype: str) -> None:
    shapes: list[tuple[int, ...]] = [
        (),
        (1,),
        (3,),
        (2, 3),
        (0,),
        (2, 0),
        (0, 3),
        (40,),
        (5, 1, 3),
        (1, 1),
        (20, 7),
    ]
    for shape in shapes:
        h = draw(dtype, shape)
        g = tg.asarray(h)
        assert repr(g) == repr(h), shape
        assert str(g) == str(h) == f"{g}", shape
    h = draw(dtype, (4, 6))
    for a, b in (
        (tg.asarray(h).T, h.T),
        (tg.asarray(h)[::-1, ::2], h[::-1, ::2]),
        (tg.asarray(h)[1, 2], np.asarray(h[1, 2])),
    ):  # noqa: E501
        assert repr(a) == repr(b) and str(a) == str(b)


@can_wait
def test_special_values() -> None:
    h = np.float32([np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38, 0.1])
    assert repr(tg.asarray(h)) == repr(h) and str(tg.asarray(h)) == str(h)
    for x in h:
        assert str(tg.asarray(x)) == str(x)


@can_wait
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "float16"])
def test_large_arrays_are_summarised_as_numpy_does(dtype: str) -> None:
    shapes: list[tuple[int, ...]] = [
        (1001,), (40, 30), (1200, 1), (1, 1200), (2, 1000), (7, 6, 30), (6, 6, 6, 6), (3, 500, 2), (501, 2, 0, 9),
    ]  # fmt: skip
    for shape in shapes:
        h = draw(dtype, shape)
        g = tg.asarray(h)
        assert repr(g) == repr(h), shape
        assert str(g) == str(h), shape
    h = draw(dtype, (50, 60))
    g = tg.asarray(h)
    for a, b in (
        (g.T, h.T),
        (g[::-1, ::2], h[::-1, ::2]),
        (tg.broadcast_to(g[0], (90, 60)), np.broadcast_to(h[0], (90, 60))),
    ):  # noqa: E501
        assert repr(a) == repr(b) and str(a) == str(b)


@can_wait
def test_print_options() -> None:
    h = draw("float32", (30, 40))
    g = tg.asarray(h)
    for options in (
        {"precision": 2}, {"threshold": 5}, {"threshold": 2000}, {"edgeitems": 1}, {"linewidth": 40}, {"sign": "+"},
        {"suppress": True, "precision": 3}, {"formatter": {"float": lambda x: f"<{x:.1f}>"}}, {"floatmode": "fixed"},
        {"threshold": sys.maxsize, "linewidth": 200}, {"nanstr": "NA"}, {"edgeitems": 7, "threshold": 10},
    ):  # fmt: skip
        with np.printoptions(**options):
            assert repr(g) == repr(h), options
            assert str(g) == str(h), options
    assert np.array_repr(g, max_line_width=50, precision=1) == np.array_repr(
        h, max_line_width=50, precision=1
    )
    assert np.array_str(g[:2], precision=2, suppress_small=True) == np.array_str(
        h[:2], precision=2, suppress_small=True
    )


@can_wait
def test_a_large_array_is_not_read() -> None:
    """P13: 16 MB stay where they are, also of a pending array and of a view."""
    g = tg.arange(4_000_000).reshape(2000, 2000) + 1
    for a in (g, g.T, g[::2, ::-1]):
        before = tg.memory()["bytes_read"]
        text = repr(a)
        assert tg.memory()["bytes_read"] - before <= 200
        assert "..." in text and text.count("\n") < 12
    assert str(g[:1]) == str(np.arange(1, 2001, dtype=np.int32)[None])
    assert repr(tg.zeros((60_000, 70_000)))[:22] == "array([[0., 0., 0., .."


@can_wait
def test_bfloat16() -> None:
    g = tg.asarray([1.0, 2.5], dtype=tg.bfloat16)
    assert repr(g) == "array([1. , 2.5], dtype=bfloat16)" and str(g) == "[1.  2.5]"
    large = repr(tg.ones(5000, dtype=tg.bfloat16))
    assert large.startswith("array([1., 1., 1., ...") and large.endswith("dtype=bfloat16)")


@can_wait
def test_format() -> None:
    a = tg.asarray(np.float32([1.23456, 2]))
    assert (
        f"{a[0]:.3f}" == "1.235" and f"{a[0]:>8.1e}" == " 1.2e+00" and f"{a}" == str(np.float32([1.23456, 2]))
    )
    assert (
        f"{tg.asarray(7):04d}" == "0007"
        and f"{tg.asarray(255):x}" == "ff"
        and f"{tg.asarray(True)}" == "True"
    )
    assert f"{tg.asarray(1 + 2j):.1f}" == "1.0+2.0j"
    with pytest.raises(TypeError, match=r"\(2,\)"):
        f"{a:.3f}"
    with pytest.raises(ValueError):  # noqa: PT011  # Python's own
        f"{a[0]:d}"


# --- never an error -----------------------------------------------------------------------------------------


def shown(a: Any) -> list[str]:
    bundle = a._repr_mimebundle_()
    return [repr(a), str(a), f"{a}", a._repr_html_(), bundle["text/plain"], bundle["text/html"]]


def test_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """P13, P01."""
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    for a in (tg.ones((2, 3)), tg.ones(5000) + 1, tg.asarray(1)):
        before = tg.memory()["launches"]
        for text in shown(a):
            text = html.unescape(text)
            assert f"shape={a.shape}" in text and a.dtype.name in text and "await a.numpy()" in text
        assert tg.memory()["launches"] == before
    with pytest.raises(tg.SyncError, match=r"format\(await a\.item\(\), '\.3f'\)"):
        f"{tg.asarray(1.0):.3f}"


def test_errors_are_shown_shortly(monkeypatch: pytest.MonkeyPatch) -> None:
    """P13: whatever fails is told in a line or two, with shape and dtype."""
    a = tg.ones((2, 3))

    def fail(*_: Any) -> Any:
        raise tg.KernelError("<script>" + "x" * 5000)

    monkeypatch.setattr(engine, "can_suspend", lambda: True)
    monkeypatch.setattr(display, "_read", fail)
    for text in shown(a):
        assert len(text) < 600 and "KernelError" in text and "shape=(2, 3)" in html.unescape(text)
    assert "<script>" in repr(a) and "<script>" not in a._repr_html_()


@can_wait
async def test_an_array_of_a_closed_device(restored: None) -> None:
    """P13."""
    a = tg.ones(3) + tg.asarray([1.0, 2.0, 3.0])
    await tg.init()
    for text in shown(a):
        assert "DeviceLostError" in text and "shape=(3,)" in html.unescape(text)


@can_wait
def test_rich_display() -> None:
    """P13: IPython's protocol; HTML is escaped."""
    a = tg.asarray(np.float32([[1, 2], [3, 4]])) > 2
    bundle = a._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"} and bundle["text/plain"] == repr(a)
    assert "2 × 2" in bundle["text/html"] and "bool" in bundle["text/html"] and "False" in bundle["text/html"]
    assert set(a._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(a._repr_mimebundle_(include=None, exclude={"text/html"})) == {"text/plain"}
    with np.printoptions(formatter={"bool": lambda x: f"<b>{x}&"}):
        text = a._repr_html_()
    assert "<b>" not in text and "&lt;b&gt;True&amp;" in text


@can_wait
def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """P16."""
    a, z = tg.asarray([[1.0, 2.5], [3.0, 4.0]]), tg.zeros((0, 2))
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert (
        repr(a) == "array([[1.0, 2.5], [3.0, 4.0]], dtype=float32)" and str(a) == "[[1.0, 2.5], [3.0, 4.0]]"
    )
    assert repr(tg.arange(3)[1]) == "array(1, dtype=int32)" and f"{tg.arange(3)[1]:03d}" == "001"
    assert "shape=(0, 2)" in repr(z)
    large = repr(tg.ones(5000))
    assert "..." in large and "float32" in large and len(large) < 200


# --- containers ---------------------------------------------------------------------------------------------


def test_what_an_array_is_not() -> None:
    a = tg.ones((2, 3))
    with pytest.raises(TypeError, match=r"unhashable type: 'tabgpu\.Array'"):
        hash(a)
    with pytest.raises(TypeError, match="unhashable"):
        {a: 1}
    for x in (a, tg.zeros((0,)), tg.zeros((3, 0))):
        with pytest.raises(ValueError, match=r"ambiguous.*tg\.any.*tg\.all"):
            bool(x)
        for convert in (float, int, complex):
            with pytest.raises(ValueError, match=r"\("):
                convert(x)
    for broken in (len, iter, list):
        with pytest.raises(TypeError, match="0-d"):
            broken(tg.asarray(1.0))
    for x in (tg.asarray(1.0), tg.asarray(True), tg.asarray([1])):
        with pytest.raises(TypeError, match="index"):
            range(3)[x]


@can_wait
def test_what_an_array_is() -> None:
    h = np.arange(6, dtype=np.int32).reshape(2, 3)
    a = tg.asarray(h)
    assert len(a) == 2 and [x.shape for x in a] == [(3,), (3,)] and [int(x) for x in a[1]] == [3, 4, 5]
    first, second = a
    assert (np.asarray(second) == h[1]).all() and list(map(int, reversed(a[0]))) == [2, 1, 0]
    assert 3 in a and 7 not in a and float("nan") not in a
    assert (
        complex(tg.asarray(1 + 2j)) == 1 + 2j and complex(a[1, 1]) == 4 and float(tg.asarray([[2.5]])) == 2.5
    )
    assert (
        [10, 11, 12][a[0, 1]] == 11
        and range(10)[a[0, 1] : a[1, 2]] == range(1, 5)
        and "ab" * a[0, 2] == "abab"
    )
    with pytest.raises(TypeError):
        float(tg.asarray(1 + 2j))
    with pytest.raises(TypeError):
        int(tg.asarray(1 + 2j))


@can_wait
async def test_round() -> None:
    h = np.float32([0.125, 2.5, -1.675, 1234.5])
    a = tg.asarray(h)
    np.testing.assert_allclose(await round(a, 1).numpy(), np.round(h, 1), rtol=1e-6)
    np.testing.assert_array_equal(await round(a).numpy(), np.round(h))
    assert (await round(tg.asarray(np.int32([15, 25, 26])), -1).numpy()).tolist() == [20, 20, 30]
