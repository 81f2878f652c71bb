"""Reads handwritten digits by their nearest neighbours, on the GPU and with NumPy, and compares the two.

Runs as it is by `tabgpu run` (or `./build.sh demo`), in a page and in a worker: web/demo.js executes this same file.
Leaves out/digits.json (what was measured) and out/digits.png (the confusion matrix and misread digits).
"""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import tabgpu as tg

DATA = Path(__file__).parent.parent / "data" / "digits.csv.gz"
TRAIN = 1198  # the first two thirds are known, the rest is to be read
K = 5
RUNS = 3


def load() -> tuple[np.ndarray, np.ndarray]:
    """(images, labels): 1797 x 64 float32 with values 0 to 16, and the digits."""
    raw = DATA.read_bytes()
    if raw[:2] == b"\x1f\x8b":  # some web servers unpack a .gz on the way
        raw = gzip.decompress(raw)
    table = np.array([line.split(",") for line in raw.decode().split()], np.int32)
    return table[:, :64].astype(np.float32), table[:, 64]


def classify(xp: Any, known: Any, votes_of: Any, unknown: Any) -> Any:
    """The digit of each unknown image: the vote of its K nearest known ones. xp is tabgpu or numpy: the same lines.

    votes_of: a row for each known image, 1 in its digit's column. `distance` has a row for each known image and a
    column for each unknown one. All its numbers are whole and small, so float32 holds them exactly and any order of
    summation gives the same. Of equal distances the first image counts, of equal votes the lower digit.
    """
    squares = xp.sum(known * known, axis=1, keepdims=True) + xp.sum(unknown * unknown, axis=1)
    distance = squares - 2.0 * xp.matmul(known, unknown.T)
    row = xp.arange(known.shape[0])[:, None]
    for _ in range(K):
        nearest = xp.argmin(distance, axis=0)
        distance = xp.where(row == nearest, xp.inf, distance)
    votes = xp.matmul(votes_of.T, xp.astype(xp.isinf(distance), xp.float32))
    return xp.argmax(votes, axis=0)


async def on_gpu(*host: np.ndarray) -> np.ndarray:
    """Upload, compute, read."""
    return await classify(tg, *[tg.asarray(a) for a in host]).numpy()


async def main() -> dict[str, Any]:
    from picture import SPLIT, draw  # needs a canvas: only in a browser

    images, labels = load()
    known, unknown, truth = images[:TRAIN], images[TRAIN:], labels[TRAIN:]
    votes_of = (labels[:TRAIN, None] == np.arange(10)).astype(np.float32)
    work = known, votes_of, unknown
    print(
        f"data      {len(images):,} digits of 8 x 8 pixels: {len(known):,} known, {len(unknown):,} to read, k = {K}"
    )

    device = await tg.init()
    print(f"adapter   {device.name}{' (software: it computes on the CPU)' if device.software else ''}")
    start = time.perf_counter()
    predicted = await on_gpu(*work)
    first = time.perf_counter() - start
    pipelines = tg.memory()["pipelines"]
    gpu_times, numpy_times = [], []
    before = tg.memory()
    for _ in range(RUNS):
        start = time.perf_counter()
        again = await on_gpu(*work)
        gpu_times.append(time.perf_counter() - start)
    after = tg.memory()
    one = {
        name: (after[name] - before[name]) // RUNS
        for name in ("launches", "crossings", "submits", "bytes_uploaded", "bytes_read")
    }
    later = after["pipelines"] - pipelines
    for _ in range(RUNS):
        start = time.perf_counter()
        expected = classify(np, *work)
        numpy_times.append(time.perf_counter() - start)

    equal = int((predicted == expected).sum())
    right, right_numpy = int((predicted == truth).sum()), int((expected == truth).sum())
    total = len(truth)
    print(
        f"GPU       {right} of {total} right ({right / total:.2%}), {min(gpu_times) * 1e3:.1f} ms with upload and read"
    )
    print(
        f"          the first run took {first * 1e3:.0f} ms and compiled {pipelines} pipelines, "
        f"the next {RUNS} runs compiled {later}"
    )
    print(
        f"NumPy     {right_numpy} of {total} right ({right_numpy / total:.2%}), {min(numpy_times) * 1e3:.1f} ms, "
        "the same lines of code"
    )
    print(f"agreement {equal} of {total} predictions are equal")
    print(
        f"one run   {one['launches']} launches, {one['submits']} submit, {one['crossings']} crossings into JavaScript, "
        f"{one['bytes_uploaded']:,} bytes up, {one['bytes_read']:,} bytes down"
    )
    if equal != total or not np.array_equal(again, predicted):
        raise SystemExit("the GPU and NumPy disagree")

    Path("out").mkdir(exist_ok=True)
    Path("out/digits.png").write_bytes(await draw(unknown, truth, predicted))
    result = {
        "adapter": device.name, "software": device.software, "known": TRAIN, "total": total, "k": K, "right": right,
        "right_numpy": right_numpy, "equal": equal, "first_ms": first * 1e3, "gpu_ms": min(gpu_times) * 1e3,
        "numpy_ms": min(numpy_times) * 1e3, "pipelines": pipelines, "later_pipelines": later, **one,
        "split": SPLIT, "predictions": predicted.tolist(),
    }  # fmt: skip
    Path("out/digits.json").write_text(json.dumps(result))
    print("picture   out/digits.png")
    return result


await main()
