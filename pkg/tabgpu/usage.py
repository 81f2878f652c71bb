"""tg.telemetry(): what the device did and keeps, as one dictionary of plain values. Where time goes: profiling.py."""

from __future__ import annotations

import json
from typing import Any
from weakref import WeakKeyDictionary

from . import ceilings, engine, region

LIMITS = (
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxStorageBuffersPerShaderStage",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupStorageSize",
    "maxComputeWorkgroupsPerDimension",
    "maxFusedBuffers",
)
_since: WeakKeyDictionary[engine.Device, dict[str, float]] = WeakKeyDictionary()


def telemetry(*, reset: bool = False) -> dict[str, Any]:
    """What the open device did and keeps, as a dict of dicts of plain values (`json.dumps` takes it).

    adapter: name, WebGPU's info, features, limits that matter here, software (it computes on the CPU), number (one
    that no other device of this process has) and why it is lost, if it is. memory: bytes live, pooled, at the peak, in
    staging buffers for reads, and the pool's limit. transfers: bytes and seconds of uploads and reads, and how many
    reads. work: launches, submits, crossings, operations (elementwise functions, reductions, products and other
    kernels that were asked for; how many of them a launch computed on average is `fused`) and elements evaluated.
    caches: kept, hits and misses of programs (graphs seen before), recipes and kernel texts (kept and made), pipelines,
    bind groups, and the memory pool; compile_seconds. planner: what it was told of the device. ceilings: rates, if a
    profile measured them.

    Seconds are the host's, waiting included. Nothing here waits for the GPU, and nothing is sent anywhere. reset=True
    starts the counts (not what is kept) anew after this answer; counters of `tg.memory()` go on. NotInitializedError if
    no device is open.
    """
    gpu = engine.device()
    c, there = gpu.counters, json.loads(gpu.js.stats())
    programs = gpu.programs
    now: dict[str, float] = {
        **c.as_dict(),
        **{f"{name}_seconds": seconds for name, seconds in gpu.seconds.items()},
        "pool_hits": gpu.pool_hits,
        "pool_misses": gpu.pool_misses,
        "groups": there["bindGroupsMade"],
        "program_hits": 0 if programs is None else programs.hits,
        "programs": 0 if programs is None else programs.learned,
        "kernels": region.made["kernels"],
        "recipes": region.made["recipes"],
    }
    before = _since.get(gpu, {})
    n = {name: value - before.get(name, 0) for name, value in now.items()}
    if reset:
        _since[gpu] = now
    measured = ceilings.known(gpu)
    facts = engine.facts_of(gpu)
    return {
        "adapter": {
            "name": gpu.name,
            **gpu.info,
            "features": sorted(gpu.features),
            "limits": {name: gpu.limits[name] for name in LIMITS if name in gpu.limits},
            "software": gpu.software,
            "number": gpu.generation,
            "lost": gpu.lost or str(gpu.js.lostReason),
        },
        "memory": {
            "live_bytes": gpu.live_bytes,
            "pooled_bytes": gpu.pooled_bytes,
            "peak_bytes": gpu.peak_bytes,
            "pool_limit": gpu.pool_limit,
            "staging_bytes": there["staging"],
        },
        "transfers": {
            "bytes_uploaded": n["bytes_uploaded"],
            "upload_seconds": n["upload_seconds"],
            "reads": n["reads"],
            "bytes_read": n["bytes_read"],
            "read_seconds": n["read_seconds"],
        },
        "work": {
            "launches": n["launches"],
            "submits": n["submits"],
            "crossings": n["crossings"],
            "operations": n["operations"],
            "fused": n["operations"] / n["launches"] if n["launches"] else 0.0,
            "evaluated": n["evaluated"],
        },
        "caches": {
            "programs": {
                "kept": 0 if programs is None else programs.kept,
                "hits": n["program_hits"],
                "made": n["programs"],
            },
            "recipes": {"kept": len(region.recipes), "made": n["recipes"]},
            "kernels": {"kept": len(region.kernels), "made": n["kernels"]},
            "pipelines": {
                "kept": there["pipelines"],
                "hits": max(0, n["launches"] - n["pipelines"]),
                "misses": n["pipelines"],
                "compile_seconds": n["compile_seconds"],
            },
            "bind_groups": {
                "kept": there["bindGroups"],
                "hits": max(0, n["launches"] - n["groups"]),
                "misses": n["groups"],
            },
            "pool": {"hits": n["pool_hits"], "misses": n["pool_misses"]},
        },
        "planner": {
            "fuse": gpu.config.fuse,
            "workgroup": facts.workgroup,
            "binding_bytes": facts.binding,
            "fused_buffers": gpu.limits["maxFusedBuffers"],
        },
        "ceilings": None if measured is None else {"copy": measured.copy, "fma": measured.fma},
    }
