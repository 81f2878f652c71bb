"""What small programs cost, to the unit: counters.json says how many launches, crossings, pipelines and bytes.

Each on a fresh device with WebGPU's least limits, with the kernels of a CPU adapter and with those of a GPU without
extensions, so that the figures are the same on every adapter. A change that moves one is a decision: look at the
difference, then write the file anew by

    .venv/bin/tabgpu test tests/bench/test_counter_table.py --update-counters --out tests/bench
"""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from counted import CASES

import tabgpu as tg
from tabgpu import engine
from tabgpu.bridge import run_sync

TABLE = Path(__file__).with_name("counters.json")
LIMITS = {
    "maxFusedBuffers": 8, "maxStorageBuffersPerShaderStage": 8, "maxComputeWorkgroupsPerDimension": 65535,
    "maxComputeWorkgroupStorageSize": 16384, "maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupSizeX": 256,
    "maxComputeWorkgroupSizeY": 256, "maxStorageBufferBindingSize": 128 << 20, "maxBufferSize": 256 << 20,
}  # fmt: skip


def count(name: str, software: bool) -> dict[str, int]:
    """One program: moved is bytes uploaded and read, peak the most bytes of GPU memory, operands with them."""
    gc.collect()
    run_sync(tg.init(limits=LIMITS))
    gpu = engine.device()
    gpu.facts = replace(engine.facts_of(gpu), software=software, features=frozenset(), subgroups=(0, 0))
    program = CASES[name]()
    run_sync(tg.synchronize())
    before = tg.memory()
    result = program()
    run_sync(tg.synchronize())
    after = tg.memory()
    del result, program
    found = {k: after[k] - before[k] for k in ("launches", "submits", "crossings", "pipelines")}
    found["moved"] = sum(after[k] - before[k] for k in ("bytes_uploaded", "bytes_read"))
    return found | {"peak": after["peak_bytes"]}


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Any:
    """The file's content; with --update-counters an empty one, written when all have been counted."""
    update = request.config.getoption("--update-counters")
    held = {} if update else json.loads(TABLE.read_text("utf-8"))
    yield held
    if update:
        lines = [f'  "{name}": {json.dumps(row)}' for name, row in sorted(held.items())]
        out = Path("/out") if Path("/out").is_dir() else Path("out")
        out.mkdir(exist_ok=True)
        (out / TABLE.name).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    run_sync(tg.init())


# A GPU's products take SwiftShader seconds to compile.
LONG = ("MLP step", "k-means step", "power iteration", "gemm and epilogue")
ROWS = [
    pytest.param(name, form, marks=pytest.mark.slow if form == "gpu" and name in LONG else ())
    for name in CASES
    for form in ("cpu", "gpu")
]


@pytest.mark.parametrize("name,form", ROWS)
def test_counters(name: str, form: str, table: Any, request: pytest.FixtureRequest) -> None:
    found = count(name, form == "cpu")
    if request.config.getoption("--update-counters"):
        table[f"{name}, {form}"] = found
    assert found == table[f"{name}, {form}"]


def test_every_row_has_its_program(table: Any) -> None:
    assert set(table) == {f"{name}, {form}" for name in CASES for form in ("cpu", "gpu")}
