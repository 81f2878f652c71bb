"""Runs in the tab for `tabgpu bench`: each item is checked against float64, then timed; a line of JSON each."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

tg: Any = import_module("tabgpu")
np: Any = import_module("numpy")
engine, ceilings = import_module("tabgpu.engine"), import_module("tabgpu.ceilings")

OPTIONS = json.loads(sys.argv[1])
PICKED: list[str] = OPTIONS["items"]
IMPORTING = OPENING = 0.0  # seconds; set by bench.START, which has opened the device before this is imported
SMALL: bool = tg.device().software if OPTIONS["small"] is None else OPTIONS["small"]
# How many blocks, the milliseconds that one should take, and those of work before it.
REPS, TARGET, HEAT = (3, 5.0, 0.0) if SMALL else (9, 60.0, 150.0)
# Bytes of results kept alive before they are handed to the GPU and dropped.
LIVE = (64 if SMALL else 2048) << 20
EPS = 2.0**-24
Check = Callable[[Any], Awaitable[float]]


@dataclass
class Item:
    """An operation: `run` gives its result, `check` how wrong that is in units of what is allowed."""

    name: str
    shown: str
    run: Callable[[], Any]
    check: Check
    out: int  # bytes of the result
    flops: float = 0
    nbytes: float = 0
    per: int = 1  # operations in a call of `run`


def post(line: dict[str, Any]) -> None:
    print("\x1e" + json.dumps(line), flush=True)


async def heat() -> None:
    """Keeps the GPU busy for a while: an idle one lowers its clocks and reads slower."""
    start = time.perf_counter()
    x = tg.ones((64, 64) if SMALL else (1024, 1024), dtype=tg.float32)
    while (time.perf_counter() - start) * 1e3 < HEAT:
        for _ in range(20):
            x = (x @ x) * 0.001
        await tg.synchronize()


def many(item: Item, k: int) -> None:
    """The operation k times; a result lives until it is on its way, since nobody computes what nobody names."""
    kept = []
    batch = max(1, LIVE // item.out)
    for _ in range(k):
        kept.append(item.run())
        if len(kept) == batch:
            engine.flush()
            kept.clear()
    engine.flush()


async def timed(item: Item) -> dict[str, Any]:
    """Milliseconds an operation: blocks of k operations and one wait, k grown until a block is long enough."""

    async def block(k: int) -> float:
        start = time.perf_counter()
        many(item, k)
        await tg.synchronize()
        return (time.perf_counter() - start) * 1e3

    await block(1)
    await heat()
    k, ms = 1, await block(1)
    while ms < TARGET and k < 1000:
        k = min(1000, max(k + 1, min(5 * k, int(k * TARGET / max(ms, 0.05)) + 1)))
        ms = await block(k)
    await heat()
    before = tg.memory()["launches"]
    each = sorted([await block(k) / k / item.per for _ in range(REPS)])
    launches = (tg.memory()["launches"] - before) / (k * REPS)
    ms = each[len(each) // 2]
    return {
        "ms": ms, "min": each[0], "max": each[-1], "k": k, "launches": launches,
        "tflops": item.flops / ms / 1e9, "gbs": item.nbytes / ms / 1e6,
    }  # fmt: skip


def wanted(name: str) -> bool:
    return not PICKED or any(p in name for p in PICKED)


# --- items ------------------------------------------------------------------------------------------------------------


def product(name: str, shown: str, shape_a: tuple[int, ...], shape_b: tuple[int, ...], **how: Any) -> Item:
    """A product of normal numbers; how: t="a" or "b" for a transposed operand, half=True for float16."""
    rng = np.random.default_rng(1)
    dtype, unit = (np.float16, 2.0**-11) if how.get("half") else (np.float32, 4 * EPS)
    hosts = [rng.standard_normal(s, dtype=np.float32).astype(dtype) for s in (shape_a, shape_b)]
    a, b = (tg.asarray(h) for h in hosts)
    turned = how.get("t", "")
    ha, hb = (h.swapaxes(-1, -2) if which in turned else h for h, which in zip(hosts, "ab", strict=True))
    x, y = ha[..., -9:, :].astype(float), hb[..., :, -9:].astype(float)
    k = x.shape[-1]

    async def check(c: Any) -> float:
        got = await c[..., -9:, -9:].numpy()
        allowed = unit * (np.abs(x @ y) if dtype == np.float16 else k * (np.abs(x) @ np.abs(y))) + 1e-30
        if dtype == np.float16:
            allowed = allowed + 4 * k * EPS * (np.abs(x) @ np.abs(y))
        return float(np.max(np.abs(got - x @ y) / allowed))

    size = ha[..., 0].size * hb.shape[-1]
    moved = (hosts[0].nbytes + hosts[1].nbytes) + size * hosts[0].itemsize
    run = {"": lambda: a @ b, "a": lambda: a.mT @ b, "b": lambda: a @ b.mT}[turned]
    return Item(name, shown, run, check, size * hosts[0].itemsize, 2.0 * size * k, moved)


def products() -> Iterator[tuple[str, Callable[[], Item]]]:
    for n in (64, 256) if SMALL else (256, 512, 1024, 2048, 4096):
        yield f"matmul_{n}", partial(product, f"matmul_{n}", "a @ b", (n, n), (n, n))
    n = 256 if SMALL else 4096
    yield "matmul_tn", lambda: product("matmul_tn", f"a.T @ b, {n}", (n, n), (n, n), t="a")
    yield "matmul_nt", lambda: product("matmul_nt", f"a @ b.T, {n}", (n, n), (n, n), t="b")
    yield "matmul_f16", lambda: product("matmul_f16", f"a @ b, float16, {n}", (n, n), (n, n), half=True)
    batch = (4, 64, 64) if SMALL else (64, 128, 128)
    yield "matmul_batch", lambda: product("matmul_batch", f"a @ b, {batch}", batch, batch)
    yield "matvec", lambda: product("matvec", f"v @ b, {n}", (1, n), (n, n))


def elementwise() -> Iterator[tuple[str, Callable[[], Item]]]:
    n = 256 if SMALL else 8192
    rng = np.random.default_rng(2)
    hosts = [np.tile(rng.standard_normal((n // 32, n), dtype=np.float32), (32, 1)) for _ in range(3)]
    a, b, c = (tg.asarray(h) for h in hosts)
    ha, hb, hc = (h[-9:].astype(float) for h in hosts)
    turned = hosts[0][:, -9:].T.astype(float)
    size = 4 * n * n
    del hosts

    def make(
        name: str, shown: str, run: Callable[[], Any], want: np.ndarray, arrays: int, tol: float
    ) -> Item:
        async def check(y: Any) -> float:
            return float(np.max(np.abs(await y[-9:].numpy() - want) / tol))

        return Item(name, f"{shown}, {n} x {n}", run, check, size, nbytes=arrays * size)

    chain, other = np.tanh(ha * hb + hc) * 0.5, np.tanh(turned * hb + hc) * 0.5
    made = {
        "negative": ("-a", lambda: -a, -ha, 2, 1e-30),
        "add": ("a + b", lambda: a + b, ha + hb, 3, 1e-6),
        "chain": ("tanh(a*b + c) * 0.5", lambda: tg.tanh(a * b + c) * 0.5, chain, 4, 1e-5),
        "chain_t": ("tanh(a.T*b + c) * 0.5", lambda: tg.tanh(a.T * b + c) * 0.5, other, 4, 1e-5),
        "transpose": ("a.T.copy()", a.T.copy, turned, 2, 1e-30),
    }
    for name, parts in made.items():
        yield name, partial(make, name, *parts)


def rows() -> Iterator[tuple[str, Callable[[], Item]]]:
    n = 256 if SMALL else 4096
    host = np.random.default_rng(3).uniform(0, 1, (n, n)).astype(np.float32)
    x = tg.asarray(host)
    last, first = host[-9:].astype(float), host[:, :9].astype(float)
    total = float(host.sum(dtype=float))
    ones, zeros = tg.ones(n, dtype=tg.float32), tg.zeros(n, dtype=tg.float32)

    def make(name: str, shown: str, run: Callable[[], Any], part: Any, want: Any, tol: Any, out: int) -> Item:
        async def check(y: Any) -> float:
            return float(np.max(np.abs(await y[part].numpy() - want) / tol))

        return Item(
            name, f"{shown}, {n} x {n}", run, check, out, nbytes=4 * n * n + (out if out > 4 * n else 0)
        )

    exps = np.exp(last - last.max(axis=1, keepdims=True))
    soft = exps / exps.sum(axis=1, keepdims=True)
    norm = (last - last.mean(axis=1, keepdims=True)) / np.sqrt(last.var(axis=1, keepdims=True) + 1e-5)
    line, whole = 4 * n, 4 * n * n
    tail = slice(-9, None)
    made = {
        "sum": ("sum(a)", lambda: tg.sum(x), ..., total, 1e-6 * total, 4),
        "sum_0": ("sum(a, axis=0)", lambda: tg.sum(x, axis=0), slice(9), first.sum(0), 1e-6 * n, line),
        "sum_1": ("sum(a, axis=1)", lambda: tg.sum(x, axis=1), tail, last.sum(1), 1e-6 * n, line),
        "argmax": ("argmax(a, axis=1)", lambda: tg.argmax(x, axis=1), tail, last.argmax(1), 0.5, line),
        "softmax": ("nn.softmax(a, -1)", lambda: tg.nn.softmax(x, -1), tail, soft, 4e-6 * soft, whole),
        "layer_norm": (
            "nn.layer_norm(a)", lambda: tg.nn.layer_norm(x, (n,), ones, zeros), tail, norm, 2e-5, whole,
        ),
    }  # fmt: skip
    for name, parts in made.items():
        yield name, partial(make, name, *parts)


def lines() -> Iterator[tuple[str, Callable[[], Item]]]:
    n = 1 << (14 if SMALL else 24)
    host = np.random.default_rng(4).standard_normal(n, dtype=np.float32)
    x = tg.asarray(host)
    bits = int(host.view(np.uint32).sum(dtype=np.uint64))

    async def check_cumsum(y: Any) -> float:
        at = np.arange(0, n, n // 16)
        want = np.cumsum(host, dtype=float)[at]
        return float(np.max(np.abs((await y.numpy())[at] - want)) / (1e-5 * np.sqrt(n)))

    async def check_sort(y: Any) -> float:
        got = await y.numpy()
        same = int(got.view(np.uint32).sum(dtype=np.uint64)) == bits
        return 0.0 if same and bool((got[1:] >= got[:-1]).all()) else 9.0

    async def check_argsort(y: Any) -> float:
        order = await y.numpy()
        once = bool((np.bincount(order, minlength=n) == 1).all())
        return await check_sort(tg.asarray(host[order])) if once else 9.0

    for name, check in (("cumsum", check_cumsum), ("sort", check_sort), ("argsort", check_argsort)):
        run = getattr(tg, name)

        def make(name: str = name, check: Check = check, run: Any = run) -> Item:
            return Item(name, f"{name}(a), {n:,}", lambda: run(x), check, 4 * n, nbytes=8 * n)

        yield name, make


def additions() -> Iterator[tuple[str, Callable[[], Item]]]:
    """1,000 dependent additions of 1,024 elements: what each costs, from Python to the GPU."""
    host = np.linspace(0, 1, 1024, dtype=np.float32)
    x, b = tg.asarray(host), tg.asarray(host * np.float32(1e-3))

    def thousand(x: Any, b: Any) -> Any:
        for _ in range(1000):
            x = x + b
        return x

    async def check(y: Any) -> float:
        return float(np.max(np.abs(await y.numpy() - 2.0 * host.astype(float)) / 1e-3))

    def make(name: str, shown: str, f: Callable[[Any, Any], Any]) -> Item:
        return Item(name, shown, lambda: f(x, b), check, 4096, per=1000)

    fused = "" if engine.device().config.fuse else "_unfused"
    off = ", fuse=False" if fused else ""
    yield f"adds{fused}", lambda: make(f"adds{fused}", f"one of 1,000 x + b{off}", thousand)
    jitted = f"adds_jit{fused}"
    yield jitted, lambda: make(jitted, f"the same in tg.jit{off}", tg.jit(thousand))


CHAPTERS = {
    "products": (products, "matmul matvec"), "elementwise": (elementwise, "negative add chain chain_t transpose"),
    "rows": (rows, "sum sum_0 sum_1 argmax softmax layer_norm"), "lines": (lines, "cumsum sort argsort"),
    "additions": (additions, "adds adds_jit adds_unfused adds_jit_unfused"),
}  # fmt: skip


# --- transfers and start ----------------------------------------------------------------------------------------------


async def once(name: str, shown: str, f: Callable[[], Awaitable[Any]], reps: int, nbytes: int = 0) -> None:
    """An item that waits each time: a transfer."""
    if not wanted(name):
        return
    post({"t": "begin", "item": name})
    for _ in range(4):
        await f()
    await heat()
    each = []
    for _ in range(reps):
        start = time.perf_counter()
        await f()
        each.append((time.perf_counter() - start) * 1e3)
    each.sort()
    ms = each[len(each) // 2]
    row = {
        "ms": ms,
        "min": each[0],
        "max": each[-1],
        "k": 1,
        "gbs": nbytes / max(ms, 1e-6) / 1e6,
        "error": 0.0,
    }
    post({"t": "row", "item": name, "shown": shown, **row})


async def transfers() -> None:
    host = np.ones((1 if SMALL else 64) << 18, np.float32)
    size = f"{host.nbytes >> 20} MiB"
    there = tg.asarray(host)
    scalar = there[5]

    async def upload() -> None:
        tg.asarray(host)
        await tg.synchronize()

    await once("upload", f"tg.asarray, {size}", upload, REPS, host.nbytes)
    await once("read", f"await a.numpy(), {size}", there.numpy, REPS, host.nbytes)
    await once("read_scalar", "await a.item()", scalar.item, 5 * REPS)


async def start_up() -> None:
    begin = time.perf_counter()
    await (tg.asarray([1.0, 2.0]) * 3.0).tolist()
    first = time.perf_counter()
    for name, shown, ms in (
        ("start_import", "import tabgpu", IMPORTING),
        ("start_init", "await tg.init()", OPENING),
        ("start_first", "the first result", first - begin),
    ):
        if wanted(name):
            post({"t": "row", "item": name, "shown": shown, "ms": ms * 1e3, "k": 1, "error": 0.0})
    info = tg.device()
    adapter = {"name": info.name, "software": info.software, "features": sorted(info.features)}
    post({"t": "device", **adapter, "tabgpu": tg.__version__, "python": sys.version.split()[0]})
    if wanted("ceiling_copy") or wanted("ceiling_fma"):
        found = await ceilings.measure(engine.device())
        for name, shown, rate in (
            ("ceiling_copy", "a plain copy", {"gbs": found.copy / 1e9}),
            ("ceiling_fma", "plain float32 multiply-adds", {"tflops": found.fma / 1e12}),
        ):
            post({"t": "row", "item": name, "shown": shown, "k": 1, "error": 0.0, **rate})


async def chapter(name: str) -> None:
    """The items of a chapter; its inputs are freed at the end."""
    make, names = CHAPTERS[name]
    if PICKED and not any(p in n or n in p for p in PICKED for n in names.split()):
        return
    for known, build in make():
        if not wanted(known):
            continue
        post({"t": "begin", "item": known})
        row: dict[str, Any] = {"t": "row", "item": known}
        try:
            item = build()
            row["shown"] = item.shown
            row["error"] = await item.check(item.run())
            row |= await timed(item)
            del item
        except Exception:
            row["fail"] = traceback.format_exc()[-1500:]
        post(row)
        tg.trim()


async def main() -> None:
    await start_up()
    for name in CHAPTERS:
        await chapter(name)
    await transfers()
    if wanted("adds_unfused") or wanted("adds_jit_unfused"):
        await tg.init(fuse=False)
        await chapter("additions")
