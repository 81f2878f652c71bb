"""What is made of sums and extrema: variance, deviation, average, covariance, peak to peak, logsumexp."""

from __future__ import annotations

from typing import Any

from ..array import Array, view
from ..dtypes import BY_KIND, DType, as_dtype, float32, promote
from ..layout import Layout, normalize_axes
from . import elementwise as ew
from . import reductions as rd
from .creation import astype, full
from .manipulation import broadcast_to, permute_dims, reshape, squeeze
from .products import matmul
from .ufunc_arguments import as_mask, as_out, store_reduced


def var(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Variance over axes: the mean of |x - mean|**2 in two passes, so never negative, and right for large means.

    float32 for integers, bools and complex64; float16 and bfloat16 are computed in float32. ddof (the array API's
    correction) is subtracted from the count; a count of 0 and less gives NaN or inf. mean: one computed before, with
    keepdims. where, out, dtype: as sum.
    """
    return _var("var", x, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Standard deviation over axes: the square root of var, with its arguments."""
    return _var("std", x, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _var(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Any, mean: Any,
    correction: float | None,
) -> Array:  # fmt: skip
    if correction is not None:
        if ddof:
            raise ValueError(f"{name}: give ddof or correction, not both")
        ddof = correction
    x = rd.prepared(x, name)
    target, mask = as_out(out, name), as_mask(where, name)
    want = as_dtype(dtype) if dtype is not None else rd.real_dtype(x)
    if want.kind not in "fc":
        raise TypeError(f"{name}: dtype {want.name} is no floating dtype")
    axes = normalize_axes(axis, x.ndim, name)
    got = variance(astype(x, want, copy=False), axes, keepdims, ddof, mask, mean, name)
    if name == "std":
        got = ew.sqrt(got)
    return store_reduced(astype(got, float32 if want.kind == "c" else want, copy=False), target, name)


def variance(
    x: Array, axes: tuple[int, ...], keepdims: bool, ddof: float, mask: Array | None, mean: Any, name: str
) -> Array:  # fmt: skip
    """The variance of floats or complex numbers over normalised axes, in float32."""
    count = rd.count_of(x, axes, True, mask, name)
    number: Any = float(count) if isinstance(count, int) else astype(count, float32)
    if mean is None:
        mean = ew.divide(rd.accumulated("sum", x, axes, True, name, mask), number)
    else:
        mean = rd.prepared(mean, name)
        if mean.ndim != x.ndim:
            mean = reshape(mean, rd.reduced_shape(x.shape, axes, True))
    apart = ew.subtract(astype(x, BY_KIND[x.dtype.kind], copy=False), mean)
    total = rd.accumulated("sum", _squared(apart), axes, keepdims, name, mask)
    if isinstance(number, float):
        return ew.divide(total, max(number - ddof, 0.0))
    return ew.divide(total, reshape(ew.maximum(ew.subtract(number, float(ddof)), 0.0), total.shape))


def _squared(x: Array) -> Array:
    """|x|**2, real."""
    if x.dtype.kind != "c":
        return ew.square(x)
    from .complex_reductions import parts

    real, imag = parts(x)
    return ew.add(ew.square(real), ew.square(imag))


def ptp(x: Any, /, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """Peak to peak: max - min over axes, of x's dtype. ValueError over a zero-size axis."""
    x = rd.prepared(x, "ptp")
    got = ew.subtract(rd.max(x, axis, keepdims=keepdims), rd.min(x, axis, keepdims=keepdims))
    return store_reduced(got, as_out(out, "ptp"), "ptp")


def average(
    x: Any, /, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Weighted average over axes: sum(x * weights) / sum(weights); returned=True: (average, sum of weights).

    weights have x's shape, or the sizes of the axes in the order given. float32 for integers. Weights that sum to zero
    give NaN or inf, since their values are not known at the call (NumPy: ZeroDivisionError).
    """
    x = rd.prepared(x, "average")
    axes = normalize_axes(axis, x.ndim, "average")
    want = rd.real_dtype(x)
    if weights is None:
        scale: Any = rd.count_of(x, axes, keepdims, None, "average")
        got = ew.divide(
            rd.accumulated("sum", astype(x, want, copy=False), axes, keepdims, "average"), float(scale)
        )
        scale = full(got.shape, scale, dtype=want)
    else:
        w = _weights(rd.prepared(weights, "average"), x, axis, axes)
        if w.dtype.kind in "biu":
            w = astype(w, float32)
        want = promote(want, w.dtype, where="average")
        wide = BY_KIND[want.kind]
        product = ew.multiply(astype(x, wide, copy=False), w)
        scale = rd.accumulated("sum", broadcast_to(w, x.shape), axes, keepdims, "average")
        got = ew.divide(rd.accumulated("sum", product, axes, keepdims, "average"), scale)
        scale = astype(scale, want)
    got = astype(got, want, copy=False)
    return (got, scale) if returned else got


def _weights(w: Array, x: Array, axis: Any, axes: tuple[int, ...]) -> Array:
    """Weights in a shape that broadcasts to x's."""
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError(f"average: axis must be given where x has shape {x.shape} and weights {w.shape}")
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    order = [normalize_axes(k, x.ndim, "average")[0] for k in given]
    if w.shape != tuple([x.shape[k] for k in order]):
        raise ValueError(f"average: weights of shape {w.shape} do not fit axis {axis} of shape {x.shape}")
    w = permute_dims(w, tuple([order.index(k) for k in axes]))
    return reshape(w, tuple([n if k in axes else 1 for k, n in enumerate(x.shape)]))


def cov(
    m: Any, y: Any = None, /, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Array:  # fmt: skip
    """Covariance matrix of variables in rows (rowvar=False: in columns); 0-d for one variable. float32 or complex64.

    y: more variables. bias: divide by n instead of n - 1; ddof says by which n - ddof. fweights: how often each
    observation counts; aweights: its importance. Too few observations give NaN or inf.
    """
    if ddof is not None and int(ddof) != ddof:
        raise ValueError(f"cov: ddof must be an integer, not {ddof!r}")
    x = _variables(m, rowvar)
    if y is not None:
        from .joining import concat

        more = _variables(y, rowvar)
        kind = promote(x.dtype, more.dtype, where="cov")
        x = concat((astype(x, kind, copy=False), astype(more, kind, copy=False)), axis=0)
    if dtype is not None:
        x = astype(x, as_dtype(dtype), copy=False)
    x = astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False)
    less = ddof if ddof is not None else int(not bias)
    n = x.shape[1]
    w = _observation_weights(fweights, aweights, n)
    if w is None:
        mean = rd.mean(x, 1, keepdims=True) if n else full((x.shape[0], 1), float("nan"), dtype=float32)
        factor: Any = float(max(n - less, 0))
    else:
        mean = average(x, 1, w, keepdims=True)
        total: Any = rd.sum(w)
        factor = total
        if less and aweights is None:
            factor = ew.subtract(total, float(less))
        elif less:
            spread = rd.sum(ew.multiply(w, rd.prepared(aweights, "cov")))
            factor = ew.subtract(total, ew.divide(ew.multiply(spread, float(less)), total))
        factor = ew.maximum(factor, 0.0)
    apart = ew.subtract(x, mean)
    other = apart if w is None else ew.multiply(apart, w)
    got = ew.divide(matmul(apart, ew.conjugate(other).T), factor)  # type: ignore[attr-defined]
    got = squeeze(got)
    return got if dtype is None else astype(got, as_dtype(dtype), copy=False)


def _variables(m: Any, rowvar: bool) -> Array:
    """2-D, a variable in each row."""
    x = rd.prepared(m, "cov")
    if x.ndim > 2:
        raise ValueError(f"cov: needs at most 2 axes, shape is {x.shape}")
    if x.ndim < 2:
        return reshape(x, (1, x.size))
    return x if rowvar else x.T  # type: ignore[attr-defined]


def _observation_weights(fweights: Any, aweights: Any, n: int) -> Array | None:
    """float32 (n,), or None."""
    w: Array | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        one = rd.prepared(given, "cov")
        if name == "fweights" and one.dtype.kind not in "biu":
            raise TypeError(f"cov: fweights must be integers, not {one.dtype.name}")
        if one.ndim > 1:
            raise RuntimeError(f"cov: cannot handle multidimensional {name}")
        if one.shape != (n,):
            raise RuntimeError(f"cov: incompatible numbers of samples ({n}) and {name} {one.shape}")
        one = astype(one, float32, copy=False)
        w = one if w is None else ew.multiply(w, one)
    return w


def in_units(x: Array, axes: tuple[int, ...]) -> Array:
    """x over a power of two near its greatest magnitude along axes, so that squares neither overflow nor vanish: for
    what does not depend on the scale of float32 and complex64."""
    if not x.size or x.dtype not in (float32, BY_KIND["c"]):
        return x
    return ew.divide(x, unit_near(rd.max(ew.absolute(x), axes, keepdims=True)))


def unit_near(most: Array) -> Array:
    """A power of two near magnitudes of float32; 1/2 for 0, infinities and NaN."""
    made: Array = ew.ldexp(1.0, ew.clip(ew.frexp(most)[1], -125, 127))
    return made


def corrcoef(x: Any, y: Any = None, /, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Correlation coefficients of variables in rows, within [-1, 1]; as cov. NaN for a variable that is constant."""
    more = None if y is None else in_units(_variables(y, rowvar), (1,))
    c = cov(in_units(_variables(x, rowvar), (1,)), more, dtype=dtype)
    if not c.ndim:
        return ew.divide(c, c)
    n, lay = c.shape[0], c._layout
    diagonal = view(c, Layout((n,), (lay.strides[0] + lay.strides[1],), lay.offset))
    if c.dtype.kind != "c":
        deviation = ew.sqrt(diagonal)
        got = ew.divide(ew.divide(c, reshape(deviation, (n, 1))), deviation)
        return ew.clip(got, -1.0, 1.0)
    from .complex_reductions import joined, parts

    deviation = ew.sqrt(parts(diagonal)[0])
    scale = ew.multiply(reshape(deviation, (n, 1)), deviation)
    return joined(*[ew.clip(ew.divide(part, scale), -1.0, 1.0) for part in parts(c)])


def logsumexp(
    a: Any, /, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log(sum(b * exp(a))) over axes without overflow, float32; -inf for nothing and for all -inf.

    b: factors (1 by default). return_sign: (log of the absolute value, sign); without it a negative sum gives NaN.
    """
    a = rd.prepared(a, "logsumexp")
    a = astype(a, rd.real_dtype(a), copy=False)
    axes = normalize_axes(axis, a.ndim, "logsumexp")
    want: DType = a.dtype
    a = astype(a, float32, copy=False)
    if b is not None:
        factors = astype(rd.prepared(b, "logsumexp"), float32, copy=False)
        shape = ew.add(a, factors).shape
        a, factors = broadcast_to(a, shape), broadcast_to(factors, shape)
        axes = normalize_axes(axis, a.ndim, "logsumexp")
        a = ew.where(ew.equal(factors, 0.0), float("-inf"), a)
    elif not return_sign and axes and 0 not in a.shape:
        from .rowwise import log_of_sums

        found = log_of_sums(a, axes, keepdims)
        if found is not None:
            return astype(found, want, copy=False)
    top = rd.max(a, axes, keepdims=True, initial=float("-inf"))
    top = ew.where(ew.isfinite(top), top, 0.0)
    each = ew.exp(ew.subtract(a, top))
    if b is not None:
        each = ew.multiply(each, factors)
    total = rd.sum(each, axes, keepdims=True)
    sign = ew.sign(total)
    got = ew.add(ew.log(ew.absolute(total) if return_sign else total), top)
    shape = rd.reduced_shape(a.shape, axes, keepdims)
    got = astype(reshape(got, shape), want, copy=False)
    return (got, astype(reshape(sign, shape), want, copy=False)) if return_sign else got


__all__ = ["average", "corrcoef", "cov", "logsumexp", "ptp", "std", "var"]
