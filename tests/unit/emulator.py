"""bridge.js in NumPy: runs the device's command stream from the kernels' signatures, so that the whole core is tested
without a browser. It knows what each generated kernel means, not its WGSL, and refuses what WebGPU would refuse.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import numpy as np

from tabgpu import region
from tabgpu.array import fetch
from tabgpu.bridge_native import HostError
from tabgpu.codegen import Elementwise, Gather, Region, fold
from tabgpu.codegen_product import WORDS, Product, Sum
from tabgpu.codegen_reduction import ACROSS, ALONG, GENERAL, Reduction
from tabgpu.codegen_shifted import Shifted
from tabgpu.codegen_strided import QUAD, TURNED, Tiled, threads
from tabgpu.device import Device

TYPES = {"f": np.float32, "i": np.int32, "u": np.uint32, "b": np.bool_}
POISON = 0xFFBADBAD  # what fresh memory and lanes past the end hold: a NaN, and no sensible integer
LIMITS = {
    "maxStorageBuffersPerShaderStage": 8,
    "maxStorageBufferBindingSize": 128 << 20,
    "maxBufferSize": 256 << 20,
    "minStorageBufferOffsetAlignment": 256,
    "minUniformBufferOffsetAlignment": 256,
    "maxComputeInvocationsPerWorkgroup": 256,
    "maxComputeWorkgroupSizeX": 256,
    "maxComputeWorkgroupStorageSize": 16384,
    "maxComputeWorkgroupsPerDimension": 65535,
}
ABOUT = {"vendor": "emulator", "architecture": "numpy", "device": "", "description": ""}


def about(**limits: int) -> dict[str, Any]:
    """What bridge.describe() says, with some limits changed."""
    return {**ABOUT, "fallback": False, "features": [], "limits": LIMITS | limits}


# --- what the elementwise functions mean ----------------------------------------------------------------------------


def _key(x: np.ndarray) -> np.ndarray:
    if x.dtype == np.float32:
        bits = np.where(x == 0, np.float32(0), x).view(np.uint32)
        key = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
        return np.where(np.isnan(x), np.uint32(0xFFFFFFFF), key)
    return x.view(np.uint32) ^ np.uint32(0x80000000) if x.dtype == np.int32 else x


def _key_down(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), np.uint32(0xFFFFFFFF), ~_key(x)) if x.dtype == np.float32 else ~_key(x)


def _cast(x: np.ndarray, target: type) -> np.ndarray:
    if x.dtype == np.float32 and np.issubdtype(target, np.integer):
        info = np.iinfo(target)
        return (
            np.clip(np.nan_to_num(x.astype(np.float64)), info.min, info.max).astype(np.int64).astype(target)
        )
    return x.astype(target)


MEANING: dict[str, Any] = {
    "where": np.where,
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "key_max": _key,
    "key_min": _key_down,
    "cast_bool": lambda x: x != 0,
    "cast_int32": lambda x: _cast(x, np.int32),
    "cast_uint32": lambda x: _cast(x, np.uint32),
    "cast_float32": lambda x: x.astype(np.float32),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
COMBINE: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def apply(name: str, args: list[np.ndarray]) -> np.ndarray:
    """One elementwise function by its row's name: NumPy's, unless the table above says otherwise."""
    if name.startswith("copy_"):
        return args[0]
    with np.errstate(all="ignore"):
        return np.asarray((MEANING.get(name) or getattr(np, name))(*args))


# --- memory ---------------------------------------------------------------------------------------------------------


class Bound:
    """One binding: a window of a buffer, addressed by element; a touch outside it is an error."""

    def __init__(self, words: np.ndarray, label: str) -> None:
        self.words, self.label = words, label

    def load(self, at: np.ndarray, kind: str, wanted: np.ndarray) -> np.ndarray:
        """Elements at u32 positions. Where `wanted` is false the kernel throws the value away."""
        lanes = self.words.view(np.uint8) if kind == "b" else self.words
        inside = at < len(lanes)
        if not inside[wanted].all():
            worst = at[wanted & ~inside][0]
            raise AssertionError(f"{self.label}: reads element {worst} of a binding of {len(lanes)}")
        got = lanes[np.where(inside, at, 0)]
        if kind == "b":
            assert (got[wanted] <= 1).all(), f"{self.label}: reads a bool that is neither 0 nor 1"
            return got != 0
        return got.view(TYPES[kind])

    def store(self, at: np.ndarray, values: np.ndarray) -> None:
        lanes = self.words.view(np.uint8) if values.dtype == np.bool_ else self.words
        if at.size and not at.max() < len(lanes):
            raise AssertionError(f"{self.label}: writes element {at.max()} of a binding of {len(lanes)}")
        lanes[at] = values if values.dtype == np.bool_ else np.ascontiguousarray(values).view(np.uint32)


class Words:
    """The uniform parameters, taken one after the other."""

    def __init__(self, words: np.ndarray, at: int) -> None:
        self.words, self.at = words, at

    def take(self, n: int) -> np.ndarray:
        self.at += n
        assert self.at <= 1024, "parameters beyond the 4 KiB window"
        return self.words[self.at - n : self.at].astype(np.uint64)


def locate(i: np.ndarray, dims: np.ndarray) -> list[np.ndarray]:
    """Coordinates of the i-th element of a shape."""
    coords = []
    for n in dims[:0:-1]:
        coords.append(i % n)
        i = i // n
    return [i, *reversed(coords)] if len(dims) else []


def address(coords: list[np.ndarray], offset: Any, strides: np.ndarray, like: np.ndarray) -> np.ndarray:
    """offset + coordinates . strides in u32 arithmetic."""
    at = np.full(like.shape, offset, np.uint64)
    for c, s in zip(coords, strides, strict=False):
        at = at + c.astype(np.uint64) * s
    return at & np.uint64(0xFFFFFFFF)


def flat_address(access: tuple[int, str, bool], offset: Any, step: Any, i: np.ndarray) -> np.ndarray:
    """Positions in the flat class: whole vec4s (words of four bools) at aligned places, or one element for all."""
    binding, _, splat = access
    if binding < 0:
        return (offset + i * step) & np.uint64(0xFFFFFFFF)
    if splat:
        return np.full(i.shape, offset, np.uint64)
    four = (offset + (i & ~np.uint64(3))) & np.uint64(0xFFFFFFFF)
    return (four & ~np.uint64(3)) + (i & np.uint64(3))


def evaluate(
    region: Region, loaded: list[np.ndarray], scalars: np.ndarray, value: np.ndarray | None = None
) -> list[np.ndarray]:
    """All outputs of a region from its loaded accesses."""
    nodes: list[np.ndarray] = []

    def get(ref: int, kind: str) -> np.ndarray:
        tag, k = ref & 3, ref >> 2
        if tag == 2:
            bits = scalars[k : k + 1].astype(np.uint32)
            got = (bits != 0 if kind == "b" else bits.view(TYPES[kind]))[0]
            return np.asarray(got)
        found = nodes[k] if tag == 0 else loaded[k] if tag == 1 else value
        assert found is not None and found.dtype == TYPES[kind], f"{found.dtype} where {kind} is meant"
        return found

    for fn, refs in region.nodes:
        got = apply(fn.name, [get(r, kind) for r, kind in zip(refs, fn.kinds, strict=True)])
        nodes.append(got.astype(TYPES[fn.dtype.kind], copy=False))
    return [get(ref, dtype.kind) for ref, dtype in region.outs]


# --- kernels --------------------------------------------------------------------------------------------------------


def elementwise(sig: Elementwise, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    region, flat = sig.region, sig.rank < 0
    first, end, base = (int(w) for w in words[:3])
    assert first % 4 == base % 4 == 0, "vec4 stores begin at a multiple of four"
    i = np.arange(
        first, min(-(-end // 4) * 4, first + 4 * groups * sig.workgroup * fold(region)), dtype=np.uint64
    )
    wanted = i < end
    p = Words(words, 4)
    dims = p.take(max(sig.rank, 0))
    coords = locate(i, dims)
    loaded = []
    for access in region.accesses:
        binding, dtype, _ = access
        if flat:
            at = flat_address(access, *p.take(2), i)
        else:
            place = p.take(1 + sig.rank)
            at = address(coords, place[0], place[1:], i)
            if access[2] == QUAD and binding >= 0:
                assert (at[::4] % 4 == 0).all() and (
                    at[wanted] == (at & ~np.uint64(3))[wanted] + (i & 3)[wanted]
                ).all()
        loaded.append(
            at.astype(np.uint32).view(np.int32)
            if binding < 0
            else bound[binding].load(at, dtype.kind, wanted)
        )
    scalars = p.take(region.scalars)
    for k, ((_, dtype), got) in enumerate(zip(region.outs, evaluate(region, loaded, scalars), strict=True)):
        got = np.array(np.broadcast_to(got, i.shape))
        if dtype.kind == "b":
            got[~wanted] = True
        else:
            got[~wanted] = np.uint32(POISON).view(got.dtype)
        bound[sig.inputs + k].store(i - base, got)


def tiled(sig: Tiled | Shifted, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    """All tiles at once: which element lies in which does not matter, only that there are enough."""
    moved = isinstance(sig, Shifted)
    region, rank = sig.region, sig.rank
    first, end, rows, columns, down, across, step = (int(w) for w in words[:7])
    assert threads(sig.tile) <= 256 and first == 0 and groups >= end
    assert (down, across) == (-(-rows // sig.tile), -(-columns // (sig.tile - 4 * moved)))
    assert (moved or sig.down) == (columns % 4 != 0), "rows hold whole vec4s"  # type: ignore[union-attr]
    staged = [sig.tile**2 * dtype.itemsize for _, dtype, form in region.accesses if form >= TURNED]
    assert sum(staged) <= 16384, "more workgroup memory than WebGPU promises"
    p = Words(words, 8)
    others, steps = p.take(rank), p.take(rank)
    whole = p.take(rank + 2) if moved else None
    dims = np.array([*others, rows, columns], np.uint64)
    assert end == down * across * int(np.prod(others))
    i = np.arange(int(np.prod(dims)), dtype=np.uint64)
    coords = locate(i, dims)
    where = address(coords, 0, np.array([*steps, step, 1], np.uint64), i)
    every = np.ones(i.shape, bool)
    loaded = []
    for binding, dtype, form in region.accesses:
        place = p.take(3 + rank)
        at = address(coords, place[0], place[1:], i)
        if whole is not None:
            again = address(locate(where, whole), place[0], p.take(rank + 2), i)
            assert (again == at).all(), "an element has two places"
        if binding >= 0 and form in (QUAD, TURNED):
            mine = coords[-1 if form == QUAD else -2]
            assert (at[mine % 4 == 0] % 4 == 0).all() and place[-1 if form == QUAD else -2] == 1
        loaded.append(
            at.astype(np.uint32).view(np.int32) if binding < 0 else bound[binding].load(at, dtype.kind, every)
        )
    scalars = p.take(region.scalars)
    for k, got in enumerate(evaluate(region, loaded, scalars)):
        bound[sig.inputs + k].store(where, np.array(np.broadcast_to(got, i.shape)))


def gather(sig: Gather, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    first, end, base, size = (int(w) for w in words[:4])
    assert first % 4 == base % 4 == 0
    i = np.arange(first, min(end, first + 4 * groups * sig.workgroup), dtype=np.uint64)
    p = Words(words, 4)
    dims = p.take(sig.rank)
    place = p.take(1 + sig.rank)
    at = address(locate(i, dims), place[0], place[1:], i)
    mine = at < size
    bound[1].store((i - base)[mine], bound[0].load(at[mine], sig.dtype.kind, np.ones(mine.sum(), bool)))


def tail(
    region: Region, rank: int, p: Words, bound: list[Bound], shift: int, i: np.ndarray, value: Any
) -> list[Any]:
    """What an epilogue makes of values at output positions i."""
    dims = p.take(rank)
    coords = locate(i, dims)
    loaded = []
    for binding, dtype, _ in region.accesses:
        place = p.take(1 + rank)
        at = address(coords, place[0], place[1:], i)
        every = np.ones(i.shape, bool)
        got = (
            at.astype(np.uint32).view(np.int32)
            if binding < 0
            else bound[binding + shift].load(at, dtype.kind, every)
        )
        loaded.append(got)
    return evaluate(region, loaded, p.take(region.scalars), value)


def write_tail(outs: list[Any], bound: list[Bound], first: int, at: np.ndarray, four: bool = False) -> None:
    for k, got in enumerate(outs):
        assert four or got.dtype != np.bool_, "epilogues store whole words"
        bound[first + k].store(at, np.broadcast_to(got, at.shape))


def reduction(sig: Reduction, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    fn, region = sig.fn, sig.pre
    end, first, length, piece, out_step, chunk0, parts = (int(w) for w in words[:7])
    base, chunk_step = int(words[8]), int(words[9])
    assert piece % 4 == 0 and sig.workgroup % sig.lanes == 0
    jobs = groups // parts * (sig.workgroup // sig.lanes)
    if sig.lanes == 1:  # a thread for each chunk of each output
        jobs = -(-groups * sig.workgroup // parts)
    outs = np.arange(first, min(end, first + jobs * (4 if sig.way == ACROSS else 1)), dtype=np.uint64)
    p = Words(words, 12)
    kept, reduced, post_rank = sig.ranks
    kept_dims, reduced_dims = p.take(kept), p.take(reduced)
    places = [p.take(1 + kept + reduced) for _ in region.accesses]
    scalars = p.take(region.scalars)
    after = p.at
    inputs = len({b for b, _, _ in region.accesses if b >= 0}) + (fn.arg and sig.partial)
    for part in range(parts):
        chunk = chunk0 + part
        r = np.arange(chunk * piece, min((chunk + 1) * piece, length), dtype=np.uint64)
        o, rr = np.meshgrid(outs, r, indexing="ij")
        wanted = np.ones(o.shape, bool)
        loaded, at = [], None
        for (binding, dtype, splat), place in zip(region.accesses, places, strict=True):
            at = address(locate(o, kept_dims), place[0], place[1 : 1 + kept], o)
            at = address(locate(rr, reduced_dims), 0, place[1 + kept :], o) + at & np.uint64(0xFFFFFFFF)
            if sig.way != GENERAL and binding >= 0 and at.size:
                in_quad(at if sig.way == ALONG else at.T, splat)
            got = (
                at.astype(np.uint32).view(np.int32)
                if binding < 0
                else bound[binding].load(at, dtype.kind, wanted)
            )
            loaded.append(got)
        ref, _ = region.outs[0]
        typed = Region(
            region.accesses, region.nodes, ((ref, _Kind("u" if fn.arg else fn.kind)),), region.scalars
        )
        values = np.broadcast_to(evaluate(typed, loaded, scalars)[0], o.shape)
        i = outs * np.uint64(out_step) + np.uint64(chunk * chunk_step)
        where = i - np.uint64(base)
        if fn.arg:
            best = values.argmax(axis=1)
            rows = np.arange(len(outs))
            position = r[best].astype(np.uint32)
            if sig.partial:
                assert at is not None
                position = bound[1].load(at, "u", wanted)[rows, best]
            if sig.post is None:
                bound[inputs].store(where, values[rows, best])
                bound[inputs + 1].store(where, position)
                continue
            value = position.view(np.int32)
        else:
            identity = words[7:8].view(TYPES[fn.kind])[0]
            wide = np.float64 if fn.kind == "f" and fn.name in ("sum", "prod") else TYPES[fn.kind]
            with np.errstate(all="ignore"):
                total = COMBINE[fn.name].reduce(values, axis=1, dtype=wide, initial=wide(identity))
            value = total.astype(TYPES[fn.kind])
            if sig.post is None:
                bound[inputs].store(where, value)
                continue
        assert parts == 1
        p.at = after
        got = tail(sig.post, post_rank, p, bound, inputs, i, value)
        write_tail(got, bound, inputs + sig.inputs, where)


def in_quad(at: np.ndarray, splat: bool) -> None:
    """What the kernel loads at once, every four of an axis, is one aligned vec4 or one element."""
    quads = at[:, : at.shape[1] // 4 * 4].reshape(-1, 4)
    assert splat or (quads[:, 0] % 4 == 0).all(), "quads are not aligned"
    assert (quads == quads[:, :1] + (0 if splat else np.arange(4, dtype=np.uint64))).all()


class _Kind:
    def __init__(self, kind: str) -> None:
        self.kind = kind


def product(sig: Product, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    m, n, k, count = (int(w) for w in words[:4])
    d1, d2, base = int(words[15]), int(words[19]), int(words[11])
    piece, pieces = int(words[20]), int(words[21])
    tile = dict(sig.params)
    outputs, vectors = (m, n) if tile.get("MATRIX_A") else (n, m)
    if sig.kernel == "gemm":
        needed = -(-m // tile["BM"]) * -(-n // tile["BN"])
        forms = [(tile[f"{x}_VEC"], tile.get(f"{x}_ALONG_K")) for x in "AB"]
    else:
        across = tile["NT"] // tile["LANES"]
        needed = -(-outputs // (across * tile["OUTS"] if tile["ALONG_K"] else across * 4))
        assert vectors <= tile["VECS"], "vectors are missing"
        forms = [(tile["X_VEC"], True), (tile["M_VEC"], tile["ALONG_K"])]
        forms = forms[::-1] if tile["MATRIX_A"] else forms
    assert groups >= needed * count * pieces, "tiles are missing"
    assert piece % 4 == 0 and piece * (pieces - 1) < k <= piece * pieces, "pieces that are none"
    z = np.arange(count, dtype=np.uint64)
    batch = [z // np.uint64(d1 * d2), z // np.uint64(d2) % np.uint64(d1), z % np.uint64(d2)]

    def operand(
        which: int, offset: int, strides: tuple[int, int], far: slice, rows: int, cols: int
    ) -> np.ndarray:
        x, w = "AB"[which], words.astype(np.uint64)
        start = address(batch, w[offset], w[far], z)[:, None, None]
        row, col = np.arange(rows, dtype=np.uint64)[:, None], np.arange(cols, dtype=np.uint64)
        at = (start + row * w[strides[0]] + col * w[strides[1]]) & np.uint64(0xFFFFFFFF)
        vec, along_k = forms[which]
        if vec:
            along, other = (
                (strides[1 - which], strides[which]) if along_k else (strides[which], strides[1 - which])
            )
            assert w[along] == 1 and w[other] % 4 == 0 and (start % 4 == 0).all(), (
                f"{x}: vec4 loads are not aligned"
            )
        if sig.forms[which]:
            held = bound[which].load(at // 2, "u", np.ones(at.shape, bool))
            bits = (held >> (at % 2 * 16).astype(np.uint32)) & np.uint32(0xFFFF)
            if sig.forms[which] == "bf16":
                return (bits << np.uint32(16)).view(np.float32)
            return bits.astype(np.uint16).view(np.float16).astype(np.float32)
        return bound[which].load(at, sig.kind, np.ones(at.shape, bool))

    a = operand(0, 4, (5, 6), slice(12, 15), m, k)
    b = operand(1, 8, (9, 10), slice(16, 19), k, n)
    wide = np.float64 if sig.kind == "f" else np.int64
    with np.errstate(all="ignore"):
        parts = [
            (a[:, :, x : x + piece].astype(wide) @ b[:, x : x + piece].astype(wide)).astype(TYPES[sig.kind])
            for x in range(0, k, piece)
        ]
    value = np.stack(parts).reshape(-1)
    i = np.arange(pieces * count * m * n, dtype=np.uint64) + np.uint64(words[7])
    got = tail(sig.post, sig.rank, Words(words, WORDS), bound, 2, i, value)
    write_tail(got, bound, 2 + sig.inputs, i - np.uint64(base), tile["N4"])


def added(sig: Sum, words: np.ndarray, bound: list[Bound], groups: int) -> None:
    size, pieces = int(words[0]), int(words[1])
    assert groups * sig.workgroup * 4 >= size, "elements are missing"
    at = np.arange(size * pieces, dtype=np.uint64)
    value = bound[0].load(at, sig.kind, np.ones(at.shape, bool)).reshape(pieces, size)
    with np.errstate(all="ignore"):
        value = value.sum(axis=0, dtype=np.float64 if sig.kind == "f" else value.dtype).astype(
            TYPES[sig.kind]
        )
    got = tail(sig.post, sig.rank, Words(words, WORDS), bound, 1, at[:size], value)
    write_tail(got, bound, 1 + sig.inputs, at[:size], True)


RUN: dict[type, Any] = {
    Elementwise: elementwise,
    Tiled: tiled,
    Shifted: tiled,
    Gather: gather,
    Reduction: reduction,
    Product: product,
    Sum: added,
}


# --- the door -------------------------------------------------------------------------------------------------------


class Bridge:
    """What Device calls. `ran` lists the labels of all dispatches."""

    lostReason = ""

    def __init__(self, limits: dict[str, int]) -> None:
        self.limits = limits
        self.buffers: dict[int, np.ndarray] = {}
        self.pipelines: dict[int, tuple[Any, str, str]] = {}
        self.ran: list[str] = []
        self.closed = False

    def alloc(self, ident: int, nbytes: int) -> None:
        assert ident not in self.buffers and nbytes % 4 == 0 and 0 < nbytes <= self.limits["maxBufferSize"]
        self.buffers[ident] = np.full(nbytes // 4, POISON, np.uint32)

    def upload(self, serial: int, ident: int, nbytes: int, memory: Any) -> None:
        if nbytes:
            self.alloc(ident, nbytes)
        data = np.frombuffer(memory, np.uint8) if len(memory) else np.empty(0, np.uint8)
        self.buffers[ident].view(np.uint8)[: len(data)] = data

    def pipeline(self, ident: int, label: str, code: str, access: str) -> None:
        assert ident not in self.pipelines
        assert access.count("r") + access.count("w") <= self.limits["maxStorageBuffersPerShaderStage"], label
        sig = next(
            s for s, kernel in region.kernels.items() if kernel.code == code and kernel.access == access
        )
        words = re.search(r"P: array<vec4u, (\w+)>", code)
        assert words
        size = words[1] if words[1].isdigit() else re.search(rf"const {words[1]} = (\d+)u;", code)[1]  # type: ignore[index]
        assert int(size) <= 256, f"{label}: parameters beyond the 4 KiB window"
        self.pipelines[ident] = sig, label, access

    async def pipelineAsync(self, *args: Any) -> str:
        self.pipeline(*args)
        return ""

    def attach(self, memory: Any) -> None:
        self.stream = np.frombuffer(memory, np.uint32)

    def submit(self, serial: int, commands: int, n: int, allocates: bool) -> None:
        words = self.stream[:n].copy()
        params, at, before = words[commands:], 0, len(self.buffers)
        freed: list[int] = []  # only now: what ran before may have used them
        base = 0
        while at < commands:
            verb = int(words[at])
            if verb == 1:
                self.alloc(int(words[at + 1]), int(words[at + 2]))
                at += 3
            elif verb == 2:
                freed.append(int(words[at + 1]))
                at += 2
            elif verb == 5:  # where the parameters of the launches that follow begin
                base = int(words[at + 1])
                at += 2
            elif verb == 4:
                source, from_, target, to, n = (int(w) for w in words[at + 1 : at + 6])
                assert from_ % 4 == to % 4 == n % 4 == 0 and source != target
                self.buffers[target].view(np.uint8)[to : to + n] = self.buffers[source].view(np.uint8)[
                    from_ : from_ + n
                ]
                at += 6
            else:
                assert verb == 3, f"bad command {verb}"
                n = int(words[at + 6])
                words[at + 5] += base
                self.dispatch(words[at + 1 : at + 6], words[at + 7 : at + 7 + 3 * n].reshape(n, 3), params)
                at += 7 + 3 * n
        for ident in freed:
            del self.buffers[ident]
        assert allocates or len(self.buffers) <= before, "an allocation outside the error scopes for memory"

    def dispatch(self, head: np.ndarray, bindings: np.ndarray, params: np.ndarray) -> None:
        sig, label, access = self.pipelines[int(head[0])]
        grid, offset = [int(g) for g in head[1:4]], int(head[4])
        assert all(0 < g <= self.limits["maxComputeWorkgroupsPerDimension"] for g in grid), (label, grid)
        assert offset % self.limits["minUniformBufferOffsetAlignment"] == 0
        assert len(bindings) == len(access), label
        bound = []
        for ident, begin, size in bindings.tolist():
            buffer = self.buffers[ident]
            size = size or buffer.nbytes - begin
            assert begin % 256 == 0 and size % 4 == 0 and size > 0, (label, begin, size)
            assert begin + size <= buffer.nbytes, (
                f"{label}: the window ends {begin + size - buffer.nbytes} bytes late"
            )
            assert size <= self.limits["maxStorageBufferBindingSize"], f"{label}: a binding of {size} bytes"
            bound.append(Bound(buffer[begin // 4 : (begin + size) // 4], label))
        written = [i for i, c in zip(bindings[:, 0].tolist(), access, strict=True) if c == "w"]
        assert len(set(written)) == len(written), f"{label}: a buffer is written through two bindings"
        read = {i for i, c in zip(bindings[:, 0].tolist(), access, strict=True) if c == "r"}
        assert not read & set(written), f"{label}: a buffer is read and written in one dispatch"
        words = np.concatenate([params[offset // 4 :][:1024], np.zeros(1024, np.uint32)])[:1024]
        run = RUN[type(sig)]
        run(sig, words, bound, grid[0] * grid[1] * grid[2])
        self.ran.append(label)

    async def read(self, request: Any, target: Any, chunk: int) -> str:
        at = 0
        for ident, begin, n in np.frombuffer(bytes(request), np.uint32).reshape(-1, 3).tolist():
            if ident not in self.buffers:
                raise HostError(f"TypeError: no buffer {ident}")
            assert begin % 4 == n % 4 == 0 and begin + n <= self.buffers[ident].nbytes
            target[at : at + n] = self.buffers[ident].view(np.uint8)[begin : begin + n].tobytes()
            at += n
        assert at == len(target)
        return ""

    async def wait(self) -> str:
        return ""

    def trim(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def device(config: Any, **limits: int) -> Device:
    """An open Device on the emulator."""
    said = about(**limits)
    return Device(Bridge(said["limits"]), said, config)


def read(*arrays: Any) -> Any:
    """The values of arrays, in one read."""
    got = asyncio.run(fetch(*arrays))
    return got[0] if len(arrays) == 1 else got
