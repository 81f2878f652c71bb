"""The layout algebra against NumPy: every view is compared by the addresses it reaches, every error by its class."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabgpu import layout as lo
from tabgpu.errors import AxisError
from tabgpu.layout import Layout, contiguous

SIZES = st.sampled_from([0, 1, 1, 2, 3, 4, 5])
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


def base(shape: tuple[int, ...]) -> np.ndarray:
    """A row-major array whose values are the addresses."""
    return np.arange(prod(shape), dtype=np.int64).reshape(shape)


def addresses(a: Layout) -> np.ndarray:
    """The addresses of all elements."""
    at = np.full(a.shape, a.offset, np.int64)
    for k, (n, s) in enumerate(zip(a.shape, a.strides, strict=True)):
        at += (np.arange(n) * s).reshape((n,) + (1,) * (len(a.shape) - k - 1))
    return at


def same(a: Layout, x: np.ndarray) -> None:
    np.testing.assert_array_equal(addresses(a), x)


def keys(shape: tuple[int, ...], names: bool = True) -> st.SearchStrategy[tuple[Any, ...]]:
    """Valid basic indices."""

    @st.composite
    def build(draw: Any) -> tuple[Any, ...]:
        used = draw(st.integers(0, len(shape)))
        split = draw(st.one_of(st.none(), st.integers(0, used)))
        axes = (
            list(range(used))
            if split is None
            else [*range(split), *range(len(shape) - used + split, len(shape))]
        )
        bound = st.one_of(st.none(), st.integers(-7, 7))
        parts: list[Any] = []
        for k in axes:
            n = shape[k]
            cut = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2, 7, -7]))
            parts.append(draw(st.one_of(cut, st.integers(-n, n - 1)) if n else cut))
        if split is not None:
            parts.insert(split, Ellipsis)
        for _ in range(draw(st.integers(0, 2)) if names else 0):
            parts.insert(draw(st.integers(0, len(parts))), None)
        return tuple(parts)

    return build()


@st.composite
def views(draw: Any) -> tuple[Layout, np.ndarray]:
    """A random chain of views of a row-major array, in both worlds."""
    shape = draw(SHAPES)
    a, x = contiguous(shape), base(shape)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 4))
        if kind == 0:
            axes = draw(st.permutations(range(x.ndim)))
            a, x = lo.permute(a, axes), x.transpose(axes)
        elif kind == 1 and x.ndim:
            k = draw(st.integers(0, x.ndim - 1))
            a, x = lo.flip(a, (k,)), np.flip(x, k)
        elif kind == 2:
            key = draw(keys(x.shape))
            a, x = lo.index(a, key), x[key]
        elif kind == 3:
            wide = tuple(draw(st.sampled_from([1, 2, 3])) if n == 1 else n for n in x.shape)
            wide = (*draw(st.lists(st.integers(1, 3), max_size=1)), *wide)
            a, x = lo.broadcast_to(a, wide), np.broadcast_to(x, wide)
        elif kind == 4:
            k = draw(st.integers(0, x.ndim))
            a, x = lo.expand_dims(a, k), np.expand_dims(x, k)
    assume(x.ndim <= 7)
    return a, x


@given(views())
def test_chains_of_views(view: tuple[Layout, np.ndarray]) -> None:
    same(*view)


@given(views(), st.data())
def test_index(view: tuple[Layout, np.ndarray], data: st.DataObject) -> None:
    a, x = view
    key = data.draw(keys(x.shape))
    same(lo.index(a, key), x[key])
    if len(key) == 1:
        same(lo.index(a, key[0]), x[key[0]])


@pytest.mark.parametrize(
    "key", [(0, 0, 0), 3, -4, (0, 2), (Ellipsis, Ellipsis), (0, Ellipsis, 0, 0), (slice(None), 5)]
)
def test_bad_indices_raise_as_in_numpy(key: Any) -> None:
    with pytest.raises(IndexError):
        base((3, 2))[key]
    with pytest.raises(IndexError):
        lo.index(contiguous((3, 2)), key)


def test_zero_step_raises() -> None:
    with pytest.raises(ValueError):
        lo.index(contiguous((3,)), slice(None, None, 0))


@given(SHAPES, SHAPES, SHAPES)
def test_broadcast_shapes(a: Any, b: Any, c: Any) -> None:
    for shapes in ((a, b), (a, b, c), (a,), ()):
        try:
            want = np.broadcast_shapes(*shapes)
        except ValueError:
            with pytest.raises(ValueError) as caught:
                lo.broadcast_shapes(*shapes, where="add")
            assert str(caught.value).startswith("add") and all(str(s) in str(caught.value) for s in shapes)
        else:
            assert lo.broadcast_shapes(*shapes) == want


@given(views(), SHAPES)
def test_broadcast_to(view: tuple[Layout, np.ndarray], shape: tuple[int, ...]) -> None:
    a, x = view
    try:
        want = np.broadcast_to(x, shape)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            lo.broadcast_to(a, shape)
    else:
        same(lo.broadcast_to(a, shape), want)


@given(views(), st.data())
def test_expand_and_squeeze(view: tuple[Layout, np.ndarray], data: st.DataObject) -> None:
    a, x = view
    n = data.draw(st.integers(1, 2))
    rank = x.ndim + n
    axes = tuple(
        data.draw(
            st.lists(st.integers(-rank, rank - 1), min_size=n, max_size=n, unique_by=lambda k: k % rank)
        )
    )
    same(lo.expand_dims(a, axes), np.expand_dims(x, axes))
    same(lo.squeeze(a, None), np.squeeze(x))
    ones = [k for k, s in enumerate(x.shape) if s == 1]
    if ones:
        some = tuple(data.draw(st.lists(st.sampled_from(ones), unique=True, min_size=1)))
        same(lo.squeeze(a, some), np.squeeze(x, some))
    wrong = [k for k, s in enumerate(x.shape) if s != 1]
    if wrong:
        with pytest.raises(ValueError):
            lo.squeeze(a, wrong[0])


@given(views(), st.data())
def test_flip(view: tuple[Layout, np.ndarray], data: st.DataObject) -> None:
    a, x = view
    axes = tuple(data.draw(st.lists(st.integers(0, x.ndim - 1), unique=True))) if x.ndim else ()
    same(lo.flip(a, axes), np.flip(x, axes))


def shape_of(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a given size."""

    @st.composite
    def build(draw: Any) -> tuple[int, ...]:
        dims, left = [], size
        while left > 1 and len(dims) < 4:
            dims.append(draw(st.sampled_from([k for k in range(1, left + 1) if left % k == 0])))
            left //= dims[-1]
        dims.append(left)
        return tuple(dims)

    return build()


@given(views(), st.data())
def test_reshape_is_a_view_where_numpys_is(view: tuple[Layout, np.ndarray], data: st.DataObject) -> None:
    a, x = view
    shape = data.draw(shape_of(x.size)) if x.size else data.draw(SHAPES.filter(lambda s: 0 in s))
    got = lo.reshape(a, shape)
    if got is not None:
        same(got, x.reshape(shape))
    try:
        x.reshape(shape, copy=False)
    except ValueError:
        assert got is None or x.size == 0
    else:
        assert got is not None, "NumPy makes a view"


@given(SHAPES, st.data())
def test_resolve_shape(shape: tuple[int, ...], data: st.DataObject) -> None:
    x = base(shape)
    asked = data.draw(st.one_of(st.integers(-2, 30), st.lists(st.integers(-2, 6), max_size=4).map(tuple)))
    try:
        want = x.reshape(asked).shape
    except ValueError:
        with pytest.raises(ValueError, match="reshape"):
            lo.resolve_shape(x.size, asked, shape)
    else:
        assert lo.resolve_shape(x.size, asked, shape) == want


@given(SHAPES, st.data())
def test_collapse_keeps_every_address(shape: tuple[int, ...], data: st.DataObject) -> None:
    shape = tuple(max(n, 1) for n in shape)
    operands = []
    for _ in range(data.draw(st.integers(1, 3))):
        a = contiguous(shape)
        what = data.draw(st.integers(0, 3))
        strides = list(a.strides)
        if what == 1 and shape:
            strides[data.draw(st.integers(0, len(shape) - 1))] = 0
        elif what == 2:
            strides = [data.draw(st.integers(-9, 9)) for _ in shape]
        elif what == 3:
            strides = [3 * s for s in strides]
        operands.append(tuple(strides))
    dims, walks = lo.collapse(shape, operands)
    assert len(dims) <= len(shape) and 1 not in dims
    for strides, walk in zip(operands, walks, strict=True):
        assert len(walk) == len(dims)
        before, after = addresses(Layout(shape, strides)), addresses(Layout(dims, walk))
        np.testing.assert_array_equal(before.reshape(-1), after.reshape(-1))
    for k in range(len(dims) - 1):
        assert any(w[k] != w[k + 1] * dims[k + 1] for w in walks), "two axes could still merge"


@given(views(), st.data())
def test_compose_reads_through_both_views(view: tuple[Layout, np.ndarray], data: st.DataObject) -> None:
    """The outer view is a view of a contiguous array of the inner one's shape, and may end in a reshape."""
    inner, x = view
    a, y = contiguous(x.shape), x
    at = base(x.shape)
    for _ in range(data.draw(st.integers(0, 3))):
        kind = data.draw(st.integers(0, 4))
        if kind == 0:
            axes = data.draw(st.permutations(range(at.ndim)))
            a, at, y = lo.permute(a, axes), at.transpose(axes), y.transpose(axes)
        elif kind == 1:
            key = data.draw(keys(at.shape))
            a, at, y = lo.index(a, key), at[key], y[key]
        elif kind == 2 and at.size:
            shape = data.draw(shape_of(at.size))
            seen = lo.reshape(a, shape)
            if seen is not None:
                a, at, y = seen, at.reshape(shape), y.reshape(shape)
        elif kind == 3:
            wide = (2, *at.shape)
            a, at, y = lo.broadcast_to(a, wide), np.broadcast_to(at, wide), np.broadcast_to(y, wide)
        elif kind == 4:
            a, at, y = lo.flip(a, tuple(range(at.ndim))), np.flip(at), np.flip(y)
    assume(at.ndim <= 7)
    same(a, at)
    got = lo.compose(a, inner)
    if got is not None:
        same(got, y)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (Layout((3, 2), (1, 3)), Layout((2, 3), (1, 2))),  # transpose of a transpose
        (Layout((2, 2), (3, 1)), Layout((2, 3), (0, 1))),  # columns of a broadcast row
        (Layout((3,), (-1,), 5), Layout((2, 3), (6, 2))),  # the last row, reversed
        (Layout((4, 2, 3), (0, 3, 1)), Layout((2, 3), (1, 2))),  # repeated
        (Layout((6,), (1,)), Layout((2, 3), (3, 1))),  # all of it in one line
        (Layout((1, 3), (77, 1), 3), Layout((2, 3), (1, 2))),  # a size-1 axis with any stride
    ],
)
def test_compose_finds_what_there_is(outer: Layout, inner: Layout) -> None:
    got = lo.compose(outer, inner)
    assert got is not None
    same(got, addresses(inner).reshape(-1)[addresses(outer)])


def test_compose_refuses_what_no_strides_can_say() -> None:
    assert lo.compose(Layout((6,), (1,)), Layout((2, 3), (1, 2))) is None  # a transposed block in one line
    assert lo.compose(Layout((2,), (4,), 1), Layout((2, 3), (0, 1))) is None  # a diagonal of a broadcast


@given(views())
def test_contiguity(view: tuple[Layout, np.ndarray]) -> None:
    a, x = view
    at = addresses(a).reshape(-1)
    if x.size:
        assert lo.is_contiguous(a) == bool((np.diff(at) == 1).all())


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3), (1, 1)])
def test_contiguous_is_row_major(shape: tuple[int, ...]) -> None:
    same(contiguous(shape), base(shape))
    assert lo.is_contiguous(contiguous(shape))


@given(st.integers(-6, 6), st.integers(0, 4))
def test_axes_are_normalised_or_named(axis: int, rank: int) -> None:
    if -rank <= axis < rank:
        assert lo.normalize_axis(axis, rank, "sum") == axis % rank
    else:
        with pytest.raises(AxisError, match=f"sum: axis {axis} .*dimension {rank}"):
            lo.normalize_axis(axis, rank, "sum")


def test_axis_errors_are_also_numpys_kinds() -> None:
    for kind in (ValueError, IndexError):
        with pytest.raises(kind):
            lo.normalize_axis(2, 2, "sum")
    with pytest.raises(ValueError, match="duplicate"):
        lo.normalize_axes((0, -2), 2, "sum")
    with pytest.raises(TypeError, match="axis"):
        lo.normalize_axis(1.5, 2, "sum")
    assert lo.normalize_axes(None, 3, "sum") == (0, 1, 2)
    assert lo.normalize_axes((2, 0), 3, "sum") == (0, 2)
    assert lo.normalize_axes(-1, 3, "sum") == (2,)
    with pytest.raises(ValueError, match="permute"):
        lo.permute(contiguous((2, 3)), (0, 0))


@pytest.mark.parametrize("bad", [-1, (2, -3), (1.5,), "ab", None, 2.0])
def test_bad_shapes_are_refused(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="zeros"):
        lo.as_shape(bad, "zeros")
