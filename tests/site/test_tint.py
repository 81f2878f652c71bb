"""Every kernel in every declared variant compiles under Tint, Chromium's WGSL compiler (naga: unit/test_naga.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# In a process of its own: here the in-browser modules stay out.
PRINT = """
import json, sys
import corpus, emulator
from tabgpu import engine, kernels
from tabgpu.config import Config

engine._device = emulator.device(Config())
texts = [(name, code) for name, code, _, _ in corpus.everything()]
texts += [(name, corpus.as_it_stands(name)) for name in corpus.handwritten()]
json.dump(texts, sys.stdout)
"""

COMPILE = """async (texts) => {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredFeatures = ["subgroups", "shader-f16"].filter((f) => adapter.features.has(f));
  const device = await adapter.requestDevice({ requiredFeatures });
  const wrong = [];
  for (const [name, code] of [...texts, ["bad", "fn f() -> u32 { return 1i; }"]]) {
    device.pushErrorScope("validation");
    const info = await device.createShaderModule({ code }).getCompilationInfo();
    await device.popErrorScope();
    const first = info.messages.find((m) => m.type === "error");
    if (first) wrong.push(`${name}, line ${first.lineNum}: ${first.message}`);
  }
  device.destroy();
  return wrong;
}"""


def test_every_kernel_compiles_under_tint(chromium) -> None:
    paths = os.pathsep.join(str(ROOT / p) for p in ("pkg", "tests/unit", "tests"))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", PRINT], env=environment, capture_output=True, text=True, check=True
    )
    texts = json.loads(done.stdout)
    assert len(texts) > 1000
    page = chromium.new_page()
    page.route("**/*", lambda route: route.fulfill(body="<title>tint</title>", content_type="text/html"))
    page.goto("http://127.0.0.1:8/")  # answered above: WebGPU wants a secure context
    wrong = page.evaluate(COMPILE, texts)
    page.close()
    assert len(wrong) == 1 and wrong[0].startswith("bad"), wrong[:5]
