"""gemm and its kin over handles: all that is asked of sizes, strides and memory; the products are linalg.blas's."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import DType, bfloat16, float16, float32
from ..layout import Shape
from ..ops.creation import astype
from . import table
from .calls import Calls
from .errors import InvalidArgument, UndersizedBuffer

_TRANS = {"N": 0, "T": 1, "C": 2, 0: 0, 1: 1, 2: 2}


class Products(Calls):
    """All is row-major: the distance of two rows is the leading dimension."""

    def gemm(
        self, trans_a: Any, trans_b: Any, m: int, n: int, k: int, alpha: float, a: int, lda: int, b: int, ldb: int,
        beta: float, c: int, ldc: int,
    ) -> None:  # fmt: skip
        """c <- alpha * op(a) @ op(b) + beta * c. op(a) is m x k, op(b) k x n, c m x n, rows lda, ldb and ldc
        elements apart as they are stored. trans: "N", "T" or "C" (0, 1, 2). beta = 0 does not read c; k = 0 leaves
        beta * c."""
        sizes = (m, n, k)
        self._gemm(
            "gemm",
            trans_a,
            trans_b,
            sizes,
            alpha,
            (a, lda, 0),
            (b, ldb, 0),
            beta,
            (c, ldc, 0),
            1,
            float32,
            float32,
        )

    def batched_gemm(
        self, trans_a: Any, trans_b: Any, m: int, n: int, k: int, alpha: float, a: int, lda: int, stride_a: int,
        b: int, ldb: int, stride_b: int, beta: float, c: int, ldc: int, stride_c: int, batch_count: int,
    ) -> None:  # fmt: skip
        """gemm of batch_count matrices, stride_a, stride_b and stride_c elements apart (0: one a or b for all)."""
        self._gemm(
            "batched_gemm", trans_a, trans_b, (m, n, k), alpha, (a, lda, stride_a), (b, ldb, stride_b), beta,
            (c, ldc, stride_c), batch_count, float32, float32,
        )  # fmt: skip

    def gemm_f16(
        self, trans_a: Any, trans_b: Any, m: int, n: int, k: int, alpha: float, a: int, lda: int, b: int, ldb: int,
        beta: float, c: int, ldc: int,
    ) -> None:  # fmt: skip
        """gemm of float16 matrices: summed in float32, rounded once. Works without shader-f16 too."""
        sizes = (m, n, k)
        self._gemm(
            "gemm_f16",
            trans_a,
            trans_b,
            sizes,
            alpha,
            (a, lda, 0),
            (b, ldb, 0),
            beta,
            (c, ldc, 0),
            1,
            float16,
            float16,
        )

    def gemm_mixed_precision(
        self, trans_a: Any, trans_b: Any, m: int, n: int, k: int, alpha: float, a: int, lda: int, b: int, ldb: int,
        beta: float, c: int, ldc: int, *, precision: str = "float16", stored: bool = True,
    ) -> None:  # fmt: skip
        """gemm of operands in float16 or bfloat16 (`precision`), summed in float32 into a float32 c. stored=False:
        a and b are float32, rounded to nearest even to that precision on the way."""
        where = "gemm_mixed_precision"
        half = {"float16": float16, "bfloat16": bfloat16, "f16": float16, "bf16": bfloat16}.get(precision)
        if half is None:
            raise InvalidArgument(f"{where}: precision {precision!r} is none of float16, bfloat16")
        self._gemm(
            where, trans_a, trans_b, (m, n, k), alpha, (a, lda, 0), (b, ldb, 0), beta, (c, ldc, 0), 1,
            half if stored else float32, float32, None if stored else half,
        )  # fmt: skip

    def _gemm(
        self, where: str, trans_a: Any, trans_b: Any, sizes: Shape, alpha: float, a: tuple[int, int, int],
        b: tuple[int, int, int], beta: float, c: tuple[int, int, int], batch: int, dtype: DType, out: DType,
        rounded: DType | None = None,
    ) -> None:  # fmt: skip
        from ..linalg import blas

        self._device()
        m, n, k = sizes
        table.u32(
            where, m=m, n=n, k=k, batch_count=batch, lda=a[1], ldb=b[1], ldc=c[1], stride_a=a[2], stride_b=b[2],
            stride_c=c[2],
        )  # fmt: skip
        try:
            left, right = _TRANS[trans_a], _TRANS[trans_b]
        except (KeyError, TypeError):
            raise InvalidArgument(
                f"{where}: trans is 'N', 'T' or 'C', not {trans_a!r}, {trans_b!r}"
            ) from None
        for name, value in (("alpha", alpha), ("beta", beta)):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise InvalidArgument(f"{where}: {name} is a number, not {value!r}")
        table.apart(where, ("c", c[0]), a=a[0], b=b[0])
        stored = (k, m) if left else (m, k), (n, k) if right else (k, n), (m, n)
        for name, (handle, ld, _), shape in zip("abc", (a, b, c), stored, strict=True):
            table.entry(handle, where, name)
            if ld < shape[1]:
                raise InvalidArgument(f"{where}: ld{name} = {ld} is less than a row of {name}, {shape[1]}")
        if not (m and n and batch):
            return
        if batch > 1 and c[2] < (m - 1) * c[1] + n:
            raise InvalidArgument(f"{where}: stride_c = {c[2]}: results of {m} x {n} with ldc {c[1]} overlap")
        x, y = (
            self._matrix(where, name, side, shape, batch, dtype)
            for name, side, shape in zip("ab", (a, b), stored, strict=False)
        )
        old = self._matrix(where, "c", c, (m, n), batch, out)
        if rounded is not None:
            x, y = astype(x, rounded), astype(y, rounded)
        multiply = blas.gemm if x.ndim == 2 else blas.batched_gemm
        made = multiply(alpha, x, y, beta, old if beta else None, left, right, out_dtype=out)
        table.entry(c[0], where).write(made, old._layout)

    def _matrix(
        self, where: str, name: str, side: tuple[int, int, int], shape: Shape, batch: int, dtype: DType
    ) -> Array:
        """A handle's elements as a matrix, or as batch of them."""
        handle, ld, stride = side
        rows, columns = shape
        need = (batch - 1) * stride + (rows - 1) * ld + columns if rows and columns else 0
        try:
            flat = table.reading(where, name, handle, need, dtype)
        except UndersizedBuffer as error:
            more = f", {batch} of them {stride} apart" if batch > 1 else ""
            raise UndersizedBuffer(f"{error}: {rows} x {columns} with ld{name} {ld}{more}") from None
        if batch == 1:
            return table.shaped(flat, shape, (ld, 1))
        return table.shaped(flat, (batch, *shape), (stride, ld, 1))
