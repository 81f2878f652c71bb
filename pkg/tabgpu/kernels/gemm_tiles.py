"""Which variant of gemm.wgsl computes a product: the list of tiles and one function; no WGSL, no device.

A variant is a tile (one of TILES) and a way to read each operand: scalars with any strides, or vec4s along k
or along m / n. vec4s are used when both operands allow it: 1 + 2 * 2 ways, so at most 5 * len(TILES) a dtype.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """One workgroup's block of C (bm x bn, bk of k at a time) and one thread's part of it (tm x tn)."""

    bm: int
    bn: int
    bk: int
    tm: int
    tn: int
    lx: int

    @property
    def name(self) -> str:
        return f"t{self.bm}x{self.bn}"

    @property
    def threads(self) -> int:
        return self.bm // self.tm * (self.bn // self.tn)

    @property
    def memory(self) -> int:
        """Bytes of workgroup memory."""
        return 4 * self.bk * (self.bm + self.bn)

    def count(self, m: int, n: int, batch: int) -> int:
        """Workgroups for a product."""
        return -(-m // self.bm) * -(-n // self.bn) * batch


# Largest first. All but the first fit 128 invocations and 16 KiB.
TILES = (
    Tile(128, 128, 16, 8, 8, 8),
    Tile(64, 64, 16, 8, 8, 8),
    Tile(32, 32, 16, 4, 4, 8),
    Tile(16, 64, 16, 4, 4, 16),
    Tile(64, 16, 16, 4, 4, 4),
    Tile(16, 16, 16, 4, 4, 4),
)
T128, T64, T32, WIDE, TALL, T16 = TILES

# Steps of k written out in a row on a GPU (0: all).
STEPS = 0

# Workgroups that keep a large GPU busy: a smaller tile is taken until there are that many.
ENOUGH = {T128: 200, T64: 200}


def choose(
    m: int,
    n: int,
    k: int,
    batch: int,
    a_strides: Sequence[int],
    b_strides: Sequence[int],
    offsets: tuple[int, int],
    limits: Mapping[str, int],
    software: bool,
) -> dict[str, object]:
    """The variant for C[batch, m, n] = A[batch, m, k] @ B[batch, k, n].

    Strides are in elements: any number of batch strides, then row and column. `offsets` are the first
    elements of A and B. `limits` are WebGPU's limits by their WebGPU names (missing ones: the guaranteed
    values). `software`: the adapter is a CPU, which wants little work wasted at the edges and gains nothing
    from vec4 loads.

    Returns `name` (for labels), `params` (for specialise; T is the caller's), `unroll` (arguments of
    gemm_inner) and `tiles` (workgroups to dispatch).
    """
    threads = min(
        limits.get("maxComputeInvocationsPerWorkgroup", 256), limits.get("maxComputeWorkgroupSizeX", 256)
    )
    memory = limits.get("maxComputeWorkgroupStorageSize", 16384)
    fitting = [t for t in TILES if t.threads <= threads and t.memory <= memory]
    if not fitting:
        raise ValueError(f"gemm: no tile fits {threads} invocations and {memory} bytes of workgroup memory")
    tile = _tile(m, n, batch, fitting, software)
    a_way = b_way = None
    if not software and tile is not T16:
        a_way = _way(k, m, a_strides[-1], a_strides[-2], [*a_strides[:-2], offsets[0]])
        b_way = _way(k, n, b_strides[-2], b_strides[-1], [*b_strides[:-2], offsets[1]])
    vec = a_way is not None and b_way is not None
    params: dict[str, object] = {"BM": tile.bm, "BN": tile.bn, "BK": tile.bk, "TM": tile.tm, "TN": tile.tn}
    params |= {"LX": tile.lx, "A_VEC": vec, "B_VEC": vec}
    name = tile.name
    if vec:
        params |= {"AE": "vec4<T>", "BE": "vec4<T>", "A_ALONG_K": a_way == "k", "B_ALONG_K": b_way == "k"}
        name += "_vec_" + ("k" if a_way == "k" else "m") + ("k" if b_way == "k" else "n")
    # One step of k written out suffices for a CPU adapter and compiles several times faster there.
    inner = {
        "steps": 1 if software else STEPS,
        "bm": tile.bm,
        "bn": tile.bn,
        "bk": tile.bk,
        "tm": tile.tm,
        "tn": tile.tn,
    }
    return {"name": name, "params": params, "unroll": inner, "tiles": tile.count(m, n, batch)}


def _tile(m: int, n: int, batch: int, fitting: Sequence[Tile], software: bool) -> Tile:
    """The tile for the sizes alone."""
    if m <= 16 or n <= 16:
        wanted = [T16] if software or (m <= 16 and n <= 16) else [WIDE if m <= 16 else TALL, T16]
    elif software:
        wanted = [T64, T32, T16] if min(m, n) >= 96 else [T16]
    else:
        wanted = [t for t, enough in ENOUGH.items() if t.count(m, n, batch) >= enough] + [T32, T16]
    return next((t for t in wanted if t in fitting), fitting[-1])


def _way(k: int, x: int, k_stride: int, x_stride: int, rest: Sequence[int]) -> str | None:
    """The axis along which aligned vec4s can be read: "k", "x" (the axis that is not summed) or None."""
    if any(v % 4 for v in rest):
        return None
    if k_stride == 1 and k % 4 == 0 and x_stride % 4 == 0:
        return "k"
    if x_stride == 1 and x % 4 == 0 and k_stride % 4 == 0:
        return "x"
    return None
