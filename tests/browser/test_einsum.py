"""einsum against NumPy: every form of subscripts, dtypes, layouts, paths, errors, launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, launches, on_gpu, same, small

import tabgpu as tg
from tabgpu.ops import paths

SIZES = dict(zip("abcdefghijklm", (2, 3, 4, 5, 2, 3, 2, 3, 3, 4, 3, 5, 2), strict=True))
CASES = (
    "ij,jk->ik", "ij,jk", "ij,kj->ik", "ji,jk->ki", "i,i->", "i,j->ij", "i,j", "ii->i", "ii", "ij->ji",
    "ij->i", "ij->",
    "bij,bjk->bik", "bij,bjk->ikb", "...ij,...jk->...ik", "ij,j->i", "i,ij", "bi,bi->b", "ijk,jkl->il", "ijk,kjl->il",
    "ijkl,ljm->ikm", "abc,cd,de->abe", "ab,bc,cd,de->ae", "ikk->i", "hhj,jk->hk", "i,i,i->i", "ij,ij->ij",
    "ij,ij->", "a,ab,abc->abc",
    "ea,fb,abcd,gc,hd->efgh", "ij,jk->k", "...i->...", "...->...", "i...,j...->ij...", "ab,ab,c->c", "abc->b",
    "aab,b->a",
    "ij,j", "a...b,b->a...", " i j , j k -> i k ", "abcd,cdab->", "i,->i", ",", "->", "ab,bc,ac->", "xx,xy->y",
)  # fmt: skip


def operands(subscripts: str, dtype: str, rng: Any) -> list[Any]:
    made = []
    for term in subscripts.replace(" ", "").split("->")[0].split(","):
        shape = [SIZES.get(c, 3) for c in term.replace("...", "")]
        if "..." in term:
            at = term.index("...")
            shape[at:at] = [2]
        made.append(small(rng, tuple(shape), dtype, 2))
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_subscripts(dtype: str) -> None:
    """Sums that are exact in every dtype (bools: `any` of `and`); some operands transposed or reversed."""
    rng = np.random.default_rng(11)
    made, wanted, at = [], [], DTYPES.index(dtype)
    chosen = CASES if dtype == "float32" else CASES[at % 6 :: 6]  # the kernels differ in their casts only
    for k, subscripts in enumerate(chosen):
        hosts = operands(subscripts, dtype, rng)
        gpus = [on_gpu(x, dtype) for x in hosts]
        if k % 3 == 1 and hosts[0].ndim:
            hosts[0], gpus[0] = hosts[0][::-1], gpus[0][::-1]
        if k % 3 == 2:
            gpus = [on_gpu(x.T.copy(), dtype).T for x in hosts]
        made.append(tg.einsum(subscripts, *gpus))
        wanted.append(np.einsum(subscripts, *hosts))
    await same(made, wanted, chosen)


async def test_broadcast_and_empty() -> None:
    """B10: ellipses broadcast; labels of size 1 do too; empty sums are zeros."""
    rng = np.random.default_rng(0)
    cases: list[Any] = [
        ("...ij,...jk->...ik", (2, 1, 3, 4), (1, 3, 4, 5)), ("...ij,...jk->...ik", (3, 4), (2, 2, 4, 5)),
        ("ij,jk", (2, 1), (3, 4)),
        ("ij->j", (1, 4)), ("ij->ij", (1, 1)), ("ij,jk", (2, 0), (0, 4)), ("ij,jk->", (2, 0), (0, 4)),
        ("i...->...", (0, 2)),
        ("...,...", (2, 3), (3,)), ("i...,i...->i...", (2, 1), (2, 3)), ("ij,ij->i", (2, 3), (1, 3)),
        ("...a,...a->...", (2, 1, 4), (3, 4)),
        ("ii->i", (0, 0)), ("i,i", (1,), (5,)), ("...i,...", (2, 3), (2,)), ("abc,abc->c", (1, 1, 1),
        (2, 3, 1)), ("ij->", (1, 1)),
    ]  # fmt: skip
    hosts = [[small(rng, shape, "float32") for shape in shapes] for _, *shapes in cases]
    made = [
        tg.einsum(case[0], *[tg.asarray(x) for x in some]) for case, some in zip(cases, hosts, strict=True)
    ]
    await same(made, [np.einsum(case[0], *some) for case, some in zip(cases, hosts, strict=True)], cases)


async def test_sublists() -> None:
    x, y = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(12, dtype=np.int32).reshape(3, 4)
    z = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    cases: list[Any] = [
        lambda xp, a, b, c: xp.einsum(a, [0, 1], b, [1, 2], [0, 2]),
        lambda xp, a, b, c: xp.einsum(a, [0, 1], b, [1, 2]),
        lambda xp, a, b, c: xp.einsum(c, [..., 0, 1], b, [0, 1], [...]), lambda xp, a, b, c: xp.einsum(a, [30, 3]),
        lambda xp, a, b, c: xp.einsum(c, [0, ...], c, [0, ...], [...]), lambda xp, a, b, c: xp.einsum(a, (0, 1), ()),
    ]  # fmt: skip
    gpus = [tg.asarray(v) for v in (x, y, z)]
    await same([f(tg, *gpus) for f in cases], [f(np, x, y, z) for f in cases])


@pytest.mark.parametrize(
    "subscripts", ["ab,bc,cd,de,ea->", "ab,bc,cd,de,ef,fa->", "ea,fb,abcd,gc,hd->efgh", "a,b,c,abc->"]
)
async def test_paths(subscripts: str) -> None:
    """Our own paths and those given by the caller (NumPy's own too) lead to the same result."""
    rng = np.random.default_rng(2)
    hosts = operands(subscripts, "float32", rng)
    gpus = [tg.asarray(x) for x in hosts]
    found, text = tg.einsum_path(subscripts, *gpus)
    given = np.einsum_path(subscripts, *hosts, optimize="optimal")[0]
    backwards = ["einsum_path", *[(n - 2, n - 1) for n in range(len(hosts), 1, -1)]]
    assert found[0] == "einsum_path" and len(found) == len(hosts) and "Multiplications" in text
    made = [tg.einsum(subscripts, *gpus, optimize=p) for p in (True, False, found, given, backwards)]
    await same(made, [np.einsum(subscripts, *hosts)] * 5)
    with pytest.raises(ValueError, match="path"):
        tg.einsum(subscripts, *gpus, optimize=["einsum_path", (0, 9)])


def test_our_own_paths_are_good() -> None:
    """Chains of very different sizes: at most what NumPy's optimal path costs; ten operands stay near greedy's."""
    rng = np.random.default_rng(5)
    for n in (3, 4, 5, 10):
        letters = "abcdefghijklm"[: n + 1]
        sizes: dict[Any, int] = {c: int(2 ** rng.integers(0, 7)) for c in letters}
        terms = [tuple(pair) for pair in zip(letters, letters[1:], strict=False)]
        output = (letters[0], letters[-1])
        text = ",".join("".join(t) for t in terms) + "->" + "".join(output)
        arrays = [np.empty([sizes[x] for x in t]) for t in terms]
        theirs = np.einsum_path(text, *arrays, optimize="optimal" if n <= 5 else "greedy")[0][1:]

        def cost(path: Any, terms: Any = terms, output: Any = output, sizes: Any = sizes) -> int:
            total, left = 0, [frozenset(t) for t in terms]
            for step in path:
                taken = [left[k] for k in step]
                left = [s for k, s in enumerate(left) if k not in step]
                both = frozenset().union(*taken)
                total += int(np.prod([sizes[x] for x in both]))
                left.append(both & frozenset(output).union(*left))
            return total

        mine = paths.own_path(terms, output, sizes)
        assert len(mine) == n - 1 and cost(mine) <= (1 if n <= 5 else 2) * cost(theirs), (
            n,
            text,
            mine,
            theirs,
        )


async def test_launches_and_memory() -> None:
    """L16: contractions are products that never store their terms; views are read in place."""
    x = np.ones((4, 8, 16, 32), np.float32)
    g = tg.asarray(x)
    m = tg.asarray(np.ones((64, 64), np.float32))
    await tg.fetch(g, m)
    cases: list[Any] = [
        (lambda: tg.einsum("bhqd,bhkd->bhqk", g, g), 1), (lambda: tg.einsum("ij,jk->ik", m, m), 1),
        (lambda: tg.einsum("ij,j->i", m, m[0]), 1),
        (lambda: tg.einsum("ji,kj->ki", m, m), 1), (lambda: tg.einsum("ij,ij->", m, m), 1),
        (lambda: tg.einsum("bqhd,bkhd->bhqk", g, g), 1),
        (lambda: tg.einsum("ii", m), 1), (lambda: tg.einsum("i,j->ij", m[0], m[1]), 1),
        (lambda: tg.einsum("bhqd->bh", g), 1),
        (lambda: tg.einsum("ij,jk,kl->il", m, m, m), 2), (lambda: tg.einsum("ij,jk->ik", m, m) * 2 + 1, 1),
    ]  # fmt: skip
    for k, (f, most) in enumerate(cases):
        out = f()
        before = launches()
        await out.numpy()
        assert launches() - before <= most, f"case {k}: {launches() - before}"
    bytes_before = tg.memory()["live_bytes"]
    wide = tg.asarray(np.ones((300, 200), np.float32))
    big = tg.einsum("ik,jk->ij", wide, wide)
    await tg.synchronize()
    assert tg.memory()["live_bytes"] - bytes_before < 8 * 300 * 300 * 4
    assert (await big.numpy() == 200).all()


async def test_views_and_new_arrays() -> None:
    """Permutations and diagonals are views, as NumPy's are; sums over axes of size 1 are new arrays."""
    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    g = tg.asarray(x)
    one = tg.asarray(np.ones((1, 3), np.float32))
    views = [tg.einsum("ij->ji", g), tg.einsum("ii->i", g), tg.einsum("...", g)]
    fresh = [tg.einsum("ij->j", one), tg.einsum("ij->i", g)]
    assert all(v._cell is g._cell for v in views) and fresh[0]._cell is not one._cell
    views[1][...] = tg.zeros(3)
    x[np.arange(3), np.arange(3)] = 0
    await same([g, views[0]], [x, x.T])


async def test_dtype_casting_out() -> None:
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    g = tg.asarray(x)
    out = tg.zeros((2, 2))
    assert tg.einsum("ij,kj->ik", g, g, out=out) is out
    await same(
        [out, tg.einsum("ij,kj", g, g, dtype="float32"), tg.einsum("ij->j", g, dtype=tg.int32)],
        [(x @ x.T).astype(np.float32), np.einsum("ij,kj", x, x, dtype="float32"), x.sum(0, dtype=np.int32)],
    )
    with pytest.raises(TypeError, match="cast"):
        tg.einsum("ij->j", tg.ones((2, 3)), dtype=tg.int32)
    made = tg.einsum("ij->j", tg.ones((2, 3)), dtype=tg.int32, casting="unsafe")
    await same([made], [np.full(3, 2, np.int32)])


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3)]), ("ij,jk", [(2, 3), (4, 5)]), ("ijk", [(2, 3)]), ("i", [(2, 3)]),
        ("i->ii", [(2,)]), ("i->j", [(2,)]),
        ("i.j", [(2, 3)]), ("i$", [(2, 3)]), ("ij->i->j", [(2, 3)]), ("ii", [(2, 3)]), ("...i->i", [(2, 3)]),
        ("i,i", [(2,), (3,)]),
        ("i", [(2,), (3,)]), ("i......j", [(2, 3)]), ("ij,jk->i,k", [(2, 3), (3, 4)]), ("-ij", [(2, 3)]),
        ("...,...", [(2,), (3,)]), ("", []),
    ],
)  # fmt: skip
def test_wrong_subscripts(subscripts: str, shapes: Any) -> None:
    """B10: ValueError, as NumPy raises it, before any GPU work."""
    before = launches()
    with pytest.raises(ValueError):  # noqa: PT011  # NumPy's own message is another
        np.einsum(subscripts, *[np.ones(s) for s in shapes])
    with pytest.raises(ValueError, match="einsum"):
        tg.einsum(subscripts, *[tg.ones(s) for s in shapes])
    assert launches() == before


def test_wrong_calls() -> None:
    g = tg.ones((2, 3))
    big = tg.broadcast_to(tg.ones(()), (2**16, 2))
    with pytest.raises(OverflowError, match="281,474,976,710,656"):  # S17
        tg.einsum("ia,jb,kc->ijk", big, big, big)
    for f in (
        lambda: tg.einsum(g, [0, 52]),
        lambda: tg.einsum(g, [0, -1]),
        lambda: tg.einsum(),
        lambda: tg.einsum(g, [..., ...]),
    ):
        with pytest.raises(ValueError, match="einsum"):
            f()
    with pytest.raises(TypeError, match="astype"):
        tg.einsum("i,i", tg.ones(2, dtype=tg.int32), tg.ones(2, dtype=tg.uint32))
