"""Calls as programs write them for NumPy, given GPU arrays: each argument finds its place, and results are NumPy's.

In the tab shapes and dtypes are compared, and nothing is computed; values are compared on the native host.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tab import IN_TAB

import tabgpu as tg
from tabgpu import engine

h = np.float32([[3, 1, 2], [0, 5, 4]])
M = np.array([[True, False, True], [False, True, True]])
# Their shapes depend on values: they read.
READS = (
    "unique", "nonzero", "argwhere", "where(a>2)", "intersect1d", "union1d", "setdiff1d", "setxor1d", "compress",
    "extract", "repeat", "histogram", "bincount", "allclose", "array_equal", "array_equiv", "piecewise", "insert",
    "delete",
)  # fmt: skip
CALLS = [
    "np.take(a,[1,0],1)", "np.cumsum(a,1)", "np.cumsum(a)", "np.cumprod(a,axis=0)", "np.sort(a,0)",
    "np.sort(a,axis=None)", "np.argsort(a,-1)", 'np.argsort(a,axis=1,kind="stable")', "np.diff(a)",
    "np.diff(a,1,0)", "np.diff(a,n=2,axis=1)", "np.pad(a,1)", 'np.pad(a,((1,2),(0,1)),"edge")',
    'np.pad(a,1,"constant",constant_values=7)', "np.roll(a,1)", "np.roll(a,1,1)",
    "np.roll(a,(1,2),axis=(0,1))", "np.tile(a,2)", "np.tile(a,(2,1))", "np.repeat(a,2)", "np.repeat(a,2,1)",
    "np.repeat(a,[1,2,0],axis=1)", "np.unique(a)", "np.unique(a,return_counts=True)",
    "np.unique(a,return_index=True,return_inverse=True)", "np.nonzero(a)", "np.flatnonzero(a)",
    "np.argwhere(a)", "np.where(a>2)", "np.count_nonzero(a)", "np.count_nonzero(a,0)",
    "np.searchsorted(a[0]*0+1,a[1])", 'np.searchsorted(np.float32([1,2,3]),a,side="right")',
    'np.searchsorted(a[1],2.,"right")', "np.histogram(a)", "np.histogram(a,4,(0,5))",
    'np.bincount(a.ravel().astype("int32"))', "np.digitize(a,np.float32([1,2,3]))",
    'np.einsum("ij,kj->ik",a,a)', 'np.einsum("ii",a[:,:2])', "np.tensordot(a,a.T,1)",
    "np.tensordot(a,a,axes=([0],[0]))", "np.inner(a,a)", "np.outer(a[0],a[1])", "np.vdot(a,a)",
    "np.kron(a,a)", "np.cross(a,a[::-1])", "np.trace(a)", "np.trace(a,1)", "np.tril(a)", "np.triu(a,1)",
    "np.diag(a[0])", "np.diag(a)", "np.diagonal(a)", "np.diagflat(a[0])", "np.median(a)", "np.median(a,1)",
    "np.median(a,axis=0,keepdims=True)", "np.percentile(a,30)", "np.percentile(a,[10,90],axis=1)",
    "np.quantile(a,0.3,axis=0)", 'np.quantile(a,.5,method="lower")', "np.std(a)", "np.std(a,1)",
    "np.std(a,axis=0,ddof=1)", "np.var(a,0)", "np.var(a,axis=1,keepdims=True,correction=1)", "np.average(a)",
    "np.average(a,1,[1,2,3])", "np.average(a,axis=0,weights=np.float32([1,2]))", "np.cov(a)",
    "np.corrcoef(a)", "np.ptp(a,0)", "np.nansum(a)", "np.nanmean(a,0)", "np.nanmax(a,1)", "np.nanmin(a)",
    "np.nanstd(a,0)", "np.nanvar(a,axis=1)", "np.nanmedian(a)", "np.nanargmax(a,1)", "np.nanargmin(a)",
    "np.nancumsum(a,1)", "np.nanprod(a,0)", "np.nanpercentile(a,30)", "np.nanquantile(a,.3,1)",
    "np.nancumprod(a)", "np.take_along_axis(a,np.argsort(h,1),1)", "np.vstack([a,a])", "np.hstack([a,a])",
    "np.dstack([a,a])", "np.column_stack([a,a])", "np.array_split(a,2,1)", "np.hsplit(a,3)", "np.vsplit(a,2)",
    "np.append(a,a,0)", "np.append(a,a)", "np.insert(a,1,9.,axis=1)", "np.delete(a,1,1)", "np.rot90(a)",
    "np.rollaxis(a,1)", "np.atleast_2d(a[0])", "np.atleast_3d(a)", "np.block([[a,a],[a,a]])",
    "np.meshgrid(a[0],a[1])", 'np.meshgrid(a[0],a[1],indexing="ij")', "np.unstack(a)",
    "np.permute_dims(a,(1,0))", "np.resize(a,(3,3))", "np.isclose(a,a+1e-9)", "np.allclose(a,a)",
    "np.array_equal(a,a)", "np.array_equiv(a,a)", "np.isin(a,[1,2])",
    "np.isin(a,np.float32([1,2]),invert=True)", "np.intersect1d(a[0],a[1])", "np.union1d(a[0],a[1])",
    "np.setdiff1d(a[0],a[1])", "np.setxor1d(a[0],a[1])", "np.unique_values(a)", "np.unique_counts(a)",
    "np.unique_inverse(a)", "np.unique_all(a)", "np.partition(a,1)", "np.argpartition(a,1,0)",
    "np.select([a>2,a>1],[a,-a],7.)", 'np.choose((a>2).astype("int32"),[a,-a])',
    "np.compress([True,False,True],a,1)", "np.extract(a>2,a)", "np.piecewise(a,[a>2],[1.,0.])",
    "np.gradient(a)", "np.gradient(a[0],2.)", "np.trapezoid(a)", "np.ediff1d(a)", "np.vander(a[0])",
    "np.cumulative_sum(a,axis=1)", "np.cumulative_sum(a,axis=1,include_initial=True)",
    "np.cumulative_prod(a,axis=0)", "np.matvec(a,a[0])", "np.vecdot(a,a)", "np.vecmat(a[:,0],a)",
    "np.real(a)", "np.imag(a)", "np.angle(a)", "np.isreal(a)", "np.iscomplex(a)", "np.fix(a*.5)", "np.i0(a)",
    "np.isposinf(a)", "np.isneginf(a)", "np.nan_to_num(a,nan=1.,posinf=2.)", "np.nan_to_num(a,False,1.)",
    "np.around(a*.33,1)", "np.min(a,0)", "np.max(a,initial=9.)", "np.sum(a,where=M)", "np.mean(a,where=M)",
    "np.any(a>1,where=M)", "np.broadcast_to(a[0],(2,3))", "np.expand_dims(a,(0,2))", "np.moveaxis(a,[0],[1])",
    'np.ravel(a,"F")', "np.copy(a)", 'np.unravel_index(a.astype("int32"),(4,4))',
    'np.ravel_multi_index((a.astype("int32")%4,a.astype("int32")%4),(4,4))', "np.tril_indices_from(a[:, :2])",
    "np.diag_indices_from(a[:,:2])", "np.lexsort((a[0],a[1]))", "np.rint(a)",
    "np.apply_along_axis(lambda v:v.sum(),0,a)", "np.fliplr(a)", "np.dot(a[0],a[1])", "np.linalg.norm(a)",
    "np.sort_complex(a)",
]  # fmt: skip


def flat(x: Any) -> list[Any]:
    return [z for y in x for z in flat(y)] if isinstance(x, (tuple, list)) else [x]


@pytest.mark.parametrize("call", CALLS)
async def test_call(call: str) -> None:
    reads = any(name in call for name in READS)
    if reads and not engine.can_suspend():
        pytest.skip("no JSPI")
    if not all(hasattr(np, name) for name in re.findall(r"np\.(\w+)", call)):
        pytest.skip(f"not in NumPy {np.__version__}")
    with np.errstate(all="ignore"):
        want = flat(eval(call, {"np": np, "a": h, "h": h, "M": M}))
    before = tg.memory()["bytes_read"]
    got = flat(eval(call, {"np": np, "a": tg.asarray(h), "h": h, "M": M}))
    assert reads or tg.memory()["bytes_read"] == before, "something was read back"
    assert len(got) == len(want)
    for x, w in zip(got, want, strict=True):
        assert isinstance(x, tg.Array), type(x)
        w = np.asarray(w)
        assert x.shape == w.shape and (x.dtype.kind == w.dtype.kind or w.dtype.kind == "u"), (
            x.dtype,
            w.dtype,
        )
    if not IN_TAB:
        for x, w in zip(await tg.fetch(*got), want, strict=True):
            np.testing.assert_allclose(x, w, rtol=1e-4, atol=1e-5)
