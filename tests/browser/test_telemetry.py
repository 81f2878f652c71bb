"""tg.telemetry(): counts that add up, what is kept, a fresh start."""

from __future__ import annotations

import json

import numpy as np
import pytest
from faults import opened, restored  # noqa: F401  # fixtures

import tabgpu as tg
from tabgpu import ceilings, engine


async def counted(work) -> dict:
    """What the telemetry says of some work alone."""
    tg.telemetry(reset=True)
    await work()
    return tg.telemetry()


@pytest.mark.limits
async def test_it_is_plain_data_about_the_device() -> None:
    said = json.loads(json.dumps(tg.telemetry()))
    assert set(said) == {
        "adapter", "memory", "transfers", "work", "caches", "planner", "ceilings",
    }  # fmt: skip
    adapter = said["adapter"]
    assert adapter["name"] == tg.device().name and adapter["software"] == tg.device().software
    assert adapter["features"] == sorted(tg.device().features) and adapter["lost"] == ""
    assert adapter["limits"]["maxFusedBuffers"] == tg.device().limits["maxFusedBuffers"]
    assert {k: adapter[k] for k in tg.device().info} == tg.device().info
    assert said["memory"]["live_bytes"] == tg.memory()["live_bytes"]
    assert said["planner"]["workgroup"] == engine.facts_of(engine.device()).workgroup


async def test_transfers_and_work() -> None:
    host = np.arange(1000, dtype=np.float32)

    async def work() -> None:
        a = tg.asarray(host)
        assert (await (a * 2 + 1).numpy())[3] == 7

    said = await counted(work)
    transfers = said["transfers"]
    assert (transfers["bytes_uploaded"], transfers["reads"], transfers["bytes_read"]) == (4000, 1, 4000)
    assert transfers["read_seconds"] > 0 and transfers["upload_seconds"] >= 0
    assert (said["work"]["launches"], said["work"]["operations"], said["work"]["fused"]) == (1, 2, 2.0)
    assert said["work"]["evaluated"] == 2000 and said["work"]["submits"] == 1


async def test_operations_are_counted_in_plans_and_in_programs() -> None:
    a = tg.asarray(np.ones((30, 40), np.float32))

    async def work() -> None:
        await (tg.exp(a) * 0.5 + 1).sum(axis=0).numpy()

    seen = [(await counted(work))["work"]["operations"] for _ in range(4)]
    assert seen == [4] * 4
    product = (await counted(lambda: ((a @ a.T) + 1).numpy()))["work"]
    assert product["operations"] == 2


async def test_caches_hit_the_second_time() -> None:
    a = tg.asarray(np.ones(50, np.float32))
    await tg.synchronize()

    async def work() -> None:
        for _ in range(6):
            await (tg.tanh(a) * 1.25).sum().numpy()

    first, second = (await counted(work))["caches"], (await counted(work))["caches"]
    assert first["programs"]["made"] == 1 and first["programs"]["hits"] >= 3
    assert second["programs"] == {"kept": first["programs"]["kept"], "hits": 6, "made": 0}
    assert second["kernels"]["made"] == second["recipes"]["made"] == 0
    assert second["pipelines"]["misses"] == 0 and second["pipelines"]["hits"] == 6
    assert second["pipelines"]["compile_seconds"] == 0
    assert second["bind_groups"]["hits"] + second["bind_groups"]["misses"] == 6
    assert second["bind_groups"]["hits"] >= 5 and second["bind_groups"]["kept"] > 0
    assert second["pool"] == {"hits": 6, "misses": 0}
    assert second["pipelines"]["kept"] == first["pipelines"]["kept"] > 0


async def test_reset_leaves_what_is_kept_and_the_counters() -> None:
    a = tg.asarray(np.ones(50, np.float32))
    await (a + 1).numpy()
    before = tg.memory()
    said = tg.telemetry(reset=True)
    again = tg.telemetry()
    assert said["work"]["launches"] > 0 and again["work"]["launches"] == again["work"]["operations"] == 0
    assert again["transfers"]["bytes_read"] == again["transfers"]["read_seconds"] == 0
    assert again["caches"]["pipelines"]["kept"] == said["caches"]["pipelines"]["kept"] > 0
    assert again["memory"] == said["memory"]
    assert tg.memory() == before  # nothing was asked of the GPU, and the counters go on


async def test_a_new_device_starts_at_zero(restored: None) -> None:
    await (tg.ones((5,)) + 1).numpy()
    old = tg.telemetry()
    await tg.init()
    said = tg.telemetry()
    assert said["adapter"]["number"] > old["adapter"]["number"]
    assert said["work"]["launches"] == 0 and said["caches"]["pipelines"]["kept"] == 0
    assert said["caches"]["programs"] == {"kept": 0, "hits": 0, "made": 0}


async def test_ceilings_are_told_once_they_are_known(restored: None) -> None:
    await tg.init()
    assert tg.telemetry()["ceilings"] is None
    found = await ceilings.measure(engine.device())
    assert tg.telemetry()["ceilings"] == {"copy": found.copy, "fma": found.fma}


async def test_a_lost_device_still_tells(restored: None) -> None:
    tg.device().js.destroy()
    with pytest.raises(tg.errors.DeviceLostError):
        await tg.synchronize()
    assert tg.telemetry()["adapter"]["lost"]
