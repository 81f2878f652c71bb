"""tabgpu's own figures: operations as a user writes them, many in a row, one wait; in Pyodide (tab.mjs)."""

import json
import traceback
from collections.abc import Callable

import bench_page  # type: ignore[import-not-found]
import numpy as np
from pyodide.ffi import create_proxy

import tabgpu as tg

OPTIONS = json.loads(bench_page.options)
SMALL = OPTIONS["small"]
N = 1 << (18 if SMALL else 26)
# Results stay alive until the wait: that many bytes at most, and the pool keeps them for the next round (the
# browser clears a new buffer first, which is not what is measured).
LIVE = (64 << 20) if SMALL else (8 << 30)


def counters() -> dict[str, object]:
    """tabgpu's counters as plain numbers."""
    found = tg.memory()
    return dict(found) if isinstance(found, dict) else dict(vars(found))


async def item(
    name: str,
    shown: str,
    make: Callable[[], "tg.Array"],
    check: Callable,
    *,
    out: int,
    flops: int = 0,
    nbytes: int = 0,
) -> None:
    """Check the operation, time it and post a line."""
    row: dict[str, object] = {"t": "tab", "item": name, "id": shown}
    await bench_page.post(json.dumps({"t": "begin", "item": name, "id": shown}))
    try:
        row["error"] = float(await check(make()))
        await tg.synchronize()
        ran = 0

        async def run(k: float) -> None:
            nonlocal ran
            kept = [make() for _ in range(int(k))]
            await tg.synchronize()
            ran += len(kept)

        before = counters().get("launches")
        proxy = create_proxy(run)
        row |= json.loads(await bench_page.measure(proxy, min(OPTIONS["maxK"], max(1, LIVE // out))))
        proxy.destroy()
        after = counters().get("launches")
        # Fewer launches than operations would mean that the planner merged them: not what is measured here.
        if isinstance(before, int) and isinstance(after, int):
            row["launches_per_op"] = (after - before) / ran
        ms = row["median_ms"]
        row |= {"tflops": flops / ms / 1e9, "gbs": nbytes / ms / 1e6}
    except Exception:
        row["fail"] = traceback.format_exc()[-1500:]
    await bench_page.post(json.dumps(row))


async def matmul(size: int, shown: str, *, a_t: bool = False, b_t: bool = False) -> None:
    rng = np.random.default_rng(size)
    host = [rng.standard_normal((size, size), dtype=np.float32) for _ in range(2)]
    a, b = (tg.asarray(h) for h in host)
    ha, hb = (host[0].T if a_t else host[0]), (host[1].T if b_t else host[1])

    async def check(c: "tg.Array") -> float:
        x, y = ha[-9:].astype(float), hb[:, -9:].astype(float)
        got = await c[-9:, -9:].numpy()
        return np.max(np.abs(got - x @ y) / (4 * size * 2.0**-24 * (np.abs(x) @ np.abs(y))))

    await item(
        f"mm{size}", shown, lambda: (a.T if a_t else a) @ (b.T if b_t else b), check,
        out=4 * size * size, flops=2 * size**3, nbytes=12 * size * size,
    )  # fmt: skip


async def main() -> None:
    await tg.init(pool_bytes=2 * LIVE)
    for size in (256,) if SMALL else (4096, 2048, 1024, 512, 256):
        await matmul(size, "a @ b")
    size = 256 if SMALL else 4096
    await matmul(size, "a.T @ b", a_t=True)
    await matmul(size, "a @ b.T", b_t=True)

    rng = np.random.default_rng(0)
    host = [np.tile(rng.standard_normal(N // 64, dtype=np.float32), 64) for _ in range(3)]
    a, b, c = (tg.asarray(h) for h in host)
    ha, hb, hc = (h[-999:].astype(float) for h in host)
    half = host[0][: N // 64].astype(float).sum() * 64
    size_sum = np.abs(host[0][: N // 64].astype(float)).sum() * 64
    del host

    async def check_copy(y: "tg.Array") -> float:
        return np.max(np.abs(await y[-999:].numpy() + ha)) / 1e-30

    async def check_add(y: "tg.Array") -> float:
        return np.max(np.abs(await y[-999:].numpy() - (ha + hb))) / 1e-6

    async def check_chain(y: "tg.Array") -> float:
        return np.max(np.abs(await y[-999:].numpy() - np.tanh(ha * hb + hc) * 0.5)) / 1e-5

    async def check_sum(y: "tg.Array") -> float:
        return abs(float(await y.item()) - half) / (1e-6 * size_sum)

    await item("copy", "-a", lambda: -a, check_copy, out=4 * N, nbytes=8 * N)
    await item(
        "chain",
        "tanh(a*b + c) * 0.5",
        lambda: tg.tanh(a * b + c) * 0.5,
        check_chain,
        out=4 * N,
        nbytes=16 * N,
    )
    await item("add", "a + b", lambda: a + b, check_add, out=4 * N, nbytes=12 * N)
    await item("sum", "sum(a)", lambda: tg.sum(a), check_sum, out=4096, nbytes=4 * N)


await main()  # noqa: F704
