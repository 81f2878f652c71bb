"""tg.tune(): what it finds is used, kept, and dropped for another adapter. Times are made up, kernels are real."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import opened, restored  # noqa: F401  # fixtures
from tab import IN_TAB, run_js

import tabgpu as tg
from tabgpu import bridge, engine, region, tuned, tuning
from tabgpu.bridge import run_sync
from tabgpu.kernels import gemm_tiles

SIZE = (20, 24, 200)
KEY = (False, *gemm_tiles.size_class(*SIZE, 1))
FEW = [
    "t16x16",
    "t16x16/2",
    "t16x16/4",
]  # the first is the default here; few texts, which every adapter compiles soon


@pytest.fixture(autouse=True)
def forgetful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restored: None) -> Iterator[None]:
    """Nothing is remembered from before, and nothing is left behind."""
    monkeypatch.setenv("TABGPU_CACHE", str(tmp_path / "cache"))
    run_sync(bridge.keep(bridge.TUNING, ""))
    tuned.adopt({})
    yield
    run_sync(bridge.keep(bridge.TUNING, ""))
    tuned.adopt({})
    region.recipes.clear()


@pytest.fixture
def like_a_gpu(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The device chooses kernels as a GPU does, from a few, whose times are those in the dict (default: 1)."""
    gpu = engine.device()
    monkeypatch.setattr(gpu, "software", False)
    monkeypatch.setattr(gpu, "facts", None)
    times: dict[str, float] = {}

    async def best(gpu: Any, trial: Any, k: int, idle: int, best: float) -> float:
        return times.get(trial.name, 1.0)

    monkeypatch.setattr(tuning, "_best", best)
    monkeypatch.setattr(gemm_tiles, "candidates", lambda *args, **more: list(FEW))
    monkeypatch.setattr(gemm_tiles, "_default", lambda *args: (gemm_tiles.PLANS[FEW[0]], 1))
    return times


async def pieces() -> int:
    """In how many pieces a product of SIZE is computed, as a profile tells."""
    m, n, k = SIZE
    a, b = tg.ones((m, k)), tg.ones((k, n))
    await tg.synchronize()
    async with tg.profile(ceilings=False) as p:
        c = a @ b
    del c
    kernels = {r["kernel"]: r["bytes"] for r in p.rows}
    assert [name for name in kernels if "t16x16" in name], kernels
    added = [size for name, size in kernels.items() if name.startswith("product_sum")]
    return added[0] // (4 * m * n) - 1 if added else 1  # which reads all pieces and writes the result


async def kept() -> str:
    """What the next device will be told."""
    return (await bridge.open_device({}, "high-performance"))[1]["tuning"]


async def test_the_fastest_is_taken_and_kept(like_a_gpu: dict[str, float]) -> None:
    assert await pieces() == 1
    like_a_gpu |= {"t16x16": 1.0, "t16x16/2": 0.5, "t16x16/4": 0.7}
    told: list[tuple[float, str]] = []
    found = await tg.tune(
        seconds=200,
        sizes=[SIZE],
        dtypes=["float32"],
        progress=lambda share, text: told.append((share, text)),
    )
    assert found["classes"] == 1 and found["kept"] is True and found["adapter"] == tg.device().name
    ((name, gain),) = found["choices"].values()
    assert name == "t16x16/2" and gain == pytest.approx(2)
    assert list(found["choices"]) == ["(20, 200) @ (200, 24) float32"]
    assert told[-1][0] == 1.0 and "t16x16/2, 2.00 times" in told[-1][1]
    assert gemm_tiles.overrides == {KEY: "t16x16/2"}
    assert await pieces() == 2
    assert json.loads(await kept())["choices"] == {"float32 " + " ".join(map(str, KEY[1:])): "t16x16/2"}


async def test_a_default_that_is_fast_enough_stays(like_a_gpu: dict[str, float]) -> None:
    like_a_gpu |= {"t16x16": 1.0, "t16x16/2": 0.98}
    found = await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    assert found["classes"] == 1 and found["choices"] == {} and gemm_tiles.overrides == {}


async def test_a_later_measurement_replaces_an_earlier_one(like_a_gpu: dict[str, float]) -> None:
    like_a_gpu["t16x16/2"] = 0.5
    await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    like_a_gpu["t16x16/2"] = 1.5
    await tg.tune(seconds=200, sizes=[(8, 8, 8)], dtypes=["float32"])
    assert gemm_tiles.overrides == {KEY: "t16x16/2"}  # another class
    await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    assert gemm_tiles.overrides == {}


async def test_it_holds_for_the_next_device(like_a_gpu: dict[str, float]) -> None:
    like_a_gpu["t16x16/2"] = 0.5
    await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    tuned.adopt({})
    await tg.init()
    assert gemm_tiles.overrides == {KEY: "t16x16/2"}
    # Another device with other limits is another adapter.
    await tg.init(limits={"maxComputeInvocationsPerWorkgroup": 128})
    assert gemm_tiles.overrides == {}
    await tg.init()
    assert gemm_tiles.overrides == {KEY: "t16x16/2"}


async def test_it_is_dropped_for_another_adapter(like_a_gpu: dict[str, float]) -> None:
    like_a_gpu["t16x16/2"] = 0.5
    await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    said = json.loads(await kept())
    for at in range(len(said["identity"])):
        other = [x + (" II" if k == at else "") for k, x in enumerate(said["identity"])]
        await bridge.keep(bridge.TUNING, json.dumps(said | {"identity": other}))
        await tg.init()
        assert gemm_tiles.overrides == {}, said["identity"][at]
    await bridge.keep(bridge.TUNING, json.dumps(said))
    await tg.init()
    assert gemm_tiles.overrides == {KEY: "t16x16/2"}


async def test_the_identity_names_adapter_driver_features_and_version() -> None:
    who = tuned.identity(engine.device())
    for name, value in tg.device().info.items():
        assert f"{name}={value}" in who
    assert f"tabgpu={tg.__version__}" in who
    assert any(x.startswith("features=") for x in who) and any(x.startswith("plans=") for x in who)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "3", '{"identity": 1}', "WHO", '{"identity": WHO, "choices": [1]}',
     '{"identity": WHO, "choices": {"float32 1 1 1": "t16x16", "float32 1 1 1 x": "t16x16"}}',
     '{"identity": WHO, "choices": {"float32 1 1 1 0": "t1x1"}}',
     '{"identity": WHO, "choices": {"float32 1 1 1 0": "t16x16/many"}}',
     '{"identity": WHO, "choices": {"int8 1 1 1 0": "t16x16"}}'],
)  # fmt: skip
async def test_what_cannot_be_read_is_ignored(text: str) -> None:
    text = text.replace("WHO", json.dumps(tuned.identity(engine.device())))
    await bridge.keep(bridge.TUNING, text)
    await tg.init()
    assert gemm_tiles.overrides == {}
    assert await (tg.ones((3, 4)) @ tg.ones((4, 5))).sum().item() == 60


def test_what_is_kept_is_what_is_read() -> None:
    choices = {(False, 7, 6, 8, 0): "t16x16", (True, 10, 10, 10, 3): "t64x64/4"}
    who = ["a", 'b "c"', "<d>"]
    assert tuned.read(tuned.text(who, choices), who) == choices
    assert tuned.read(tuned.text(who, choices), [*who, "e"]) == {}


async def test_reset_forgets(like_a_gpu: dict[str, float]) -> None:
    like_a_gpu["t16x16/2"] = 0.5
    await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    assert await pieces() == 2
    said = await tg.tune(reset=True)
    assert said["choices"] == {} and said["classes"] == 0 and said["kept"] is True
    assert gemm_tiles.overrides == {} and await kept() == ""
    assert await pieces() == 1
    await tg.init()
    assert gemm_tiles.overrides == {}


async def test_a_kernel_with_a_wrong_result_is_never_taken(
    like_a_gpu: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tuning._trials

    def spoiled(*given: Any) -> Any:
        a, out, trials = real(*given)
        wrong = [t for t in trials if t.name == "t16x16/2"]
        for trial in wrong:
            trial.launches[0].words[2] //= 4  # few of the terms
        assert wrong
        return a, out, trials

    monkeypatch.setattr(tuning, "_trials", spoiled)
    like_a_gpu |= {"t16x16/2": 0.1, "t16x16/4": 0.5}
    found = await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    assert [name for name, _ in found["choices"].values()] == ["t16x16/4"]


async def test_a_kernel_that_does_nothing_is_never_taken(
    like_a_gpu: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tuning._trials

    def idle(*given: Any) -> Any:
        a, out, trials = real(*given)
        trials[1] = trials[1]._replace(launches=[])
        return a, out, trials

    monkeypatch.setattr(tuning, "_trials", idle)
    like_a_gpu["t16x16/2"] = 0.1
    found = await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
    assert found["classes"] == 1 and found["choices"] == {}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
async def test_results_are_equal_with_every_choice(like_a_gpu: dict[str, float], dtype: str) -> None:
    m, n, k = SIZE
    random = np.random.default_rng(7)
    x, y = (random.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
    expected = x.astype(np.float64) @ y.astype(np.float64)
    bound = k * np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64)) * 2.0**-24
    if dtype == "float16":
        bound = bound + np.abs(expected) * 2.0**-11 + 2.0**-24
    a, b = tg.asarray(x), tg.asarray(y)
    quick = engine.device().fallback and IN_TAB  # SwiftShader takes long to compile the others
    for name in FEW if quick else [*FEW, "t32x32", "t64x64", "t32x32s4/2"]:
        tuned.adopt({(dtype == "float16", *KEY[1:]): name})
        region.recipes.clear()
        got = await (a @ b).numpy()
        assert np.all(np.abs(got.astype(np.float64) - expected) <= bound), name


async def test_a_cpu_adapter_has_nothing_to_choose() -> None:
    if not tg.device().software:
        pytest.skip("a GPU")
    found = await tg.tune(seconds=1)
    assert found["classes"] == 0 and found["choices"] == {} and not found["kept"]
    assert await kept() == ""


async def test_the_time_is_bounded(like_a_gpu: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def now() -> float:
        clock[0] += 0.2  # each look at the clock costs that much
        return clock[0]

    monkeypatch.setattr(tuning, "perf_counter", now)
    shares: list[float] = []
    found = await tg.tune(
        seconds=2, dtypes=["float32"], sizes=[(4, 4, 4 << k) for k in range(9)],
        progress=lambda share, text: shares.append(share),
    )  # fmt: skip
    assert 0 < len(shares) < 9 and found["classes"] <= len(shares)
    assert shares == sorted(shares) and max(shares) <= 1


async def test_progress_may_be_asynchronous(like_a_gpu: dict[str, float]) -> None:
    told = []

    async def progress(share: float, text: str) -> None:
        told.append(text)

    await tg.tune(seconds=200, sizes=[(4, 4, 8)], dtypes=["float32"], progress=progress)
    assert len(told) == 1


async def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="seconds"):
        await tg.tune(seconds=0)
    with pytest.raises(ValueError, match=r"not \(3, 4\)"):
        await tg.tune(sizes=[(3, 4)])
    with pytest.raises(ValueError, match="sizes are"):
        await tg.tune(sizes=[(3, 4, 0)])
    with pytest.raises(ValueError, match="int32"):
        await tg.tune(dtypes=["int32"])


async def test_two_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "_running", True)
    with pytest.raises(RuntimeError, match="another call"):
        await tg.tune(seconds=1)


async def test_where_nothing_can_be_kept(
    like_a_gpu: dict[str, float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Private windows, blocked storage, a cache folder that is none: it holds until the end of the session."""
    like_a_gpu["t16x16/2"] = 0.5
    undo = None
    if IN_TAB:
        undo = run_js("""() => {
          const real = Object.getOwnPropertyDescriptor(globalThis, "indexedDB")
            ?? { value: globalThis.indexedDB, configurable: true };
          const denied = { configurable: true, get() { throw new DOMException("denied", "SecurityError"); } };
          Object.defineProperty(globalThis, "indexedDB", denied);
          return () => Object.defineProperty(globalThis, "indexedDB", real);
        }""")()
    else:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("TABGPU_CACHE", str(tmp_path / "file" / "below"))
    try:
        found = await tg.tune(seconds=200, sizes=[SIZE], dtypes=["float32"])
        assert found["kept"] is False and gemm_tiles.overrides == {KEY: "t16x16/2"}
        await tg.init()
        assert gemm_tiles.overrides == {}
    finally:
        if undo is not None:
            undo()


@pytest.mark.skipif(IN_TAB, reason="files of the native host")
async def test_the_native_host_keeps_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tabgpu import native_storage

    monkeypatch.setenv("TABGPU_CACHE", str(tmp_path / "here"))
    assert native_storage.recall("tuning") == ""
    assert native_storage.keep("tuning", "a text") and native_storage.recall("tuning") == "a text"
    assert os.listdir(tmp_path / "here") == ["tuning.json"]
    assert native_storage.keep("tuning", "") and native_storage.recall("tuning") == ""
    monkeypatch.setenv("TABGPU_CACHE", "off")
    assert native_storage.folder() is None and not native_storage.keep("tuning", "a text")
    monkeypatch.delenv("TABGPU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    folder = native_storage.folder()
    assert folder is not None and folder.name == "tabgpu"
