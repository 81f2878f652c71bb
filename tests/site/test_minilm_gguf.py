"""all-MiniLM-L6-v2 as a GGUF file of each format, loaded by URL in a tab: ranges, memory, what the model says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bert import Bert
from test_gguf_url import SPARE, Answer, Files, run

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / ".cache" / "minilm" / "model.safetensors"  # ./build.sh site brings it
LEAST = {  # the cosine of a sentence's vector and float64's
    "F16": 0.999999, "BF16": 0.9999, "Q8_0": 0.999, "Q5_1": 0.99, "Q5_0": 0.98, "Q4_1": 0.95, "Q4_0": 0.95,
    "Q6_K": 0.98, "Q5_K": 0.98, "Q4_K": 0.98, "Q3_K": 0.97, "Q2_K": 0.88,
}  # fmt: skip
TEXTS = [  # ids of "A cat sits on the mat.", "Stock prices fell sharply today."
    [101, 1037, 4937, 7719, 2006, 1996, 13523, 1012, 102],
    [101, 4518, 7597, 3062, 9249, 2651, 1012, 102],
]

LOAD = """
import json
import numpy as np
import tabgpu as tg
from pyodide.http import pyfetch
import minilm
await tg.init()
(await (tg.zeros(4) + 1).numpy())
await pyfetch(URL + "/mark")
weights = await tg.quant.load_gguf(URL + "/m.gguf")
await tg.synchronize()
await pyfetch(URL + "/loaded")
kinds = [w.format for w in weights.values() if isinstance(w, tg.quant.QTensor)]
print("formats", {k: kinds.count(k) for k in sorted(set(kinds))})
print("vectors", json.dumps((await minilm.MiniLM(weights).embed(TEXTS).numpy()).tolist()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("fmt", LEAST)
def test_a_model_of_each_format(tmp_path: Path, pyodide: Path, monkeypatch, fmt: str) -> None:
    path = tmp_path / "m.gguf"
    line = [sys.executable, str(Path(__file__).with_name("minilm_gguf.py")), str(MODEL), fmt, str(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "pkg"), str(Path(__file__).parent)])}
    subprocess.run(line, env=env, check=True, timeout=200)
    server = Files({"m.gguf": path.read_bytes(), "mark": b"", "loaded": b""})
    grown: list[int] = []
    plain = Answer.do_GET

    def get(self: Answer) -> None:
        if self.path == "/loaded" and server.watch and sys.platform == "linux":
            grown.append(server.watch.grown())
        plain(self)

    monkeypatch.setattr(Answer, "do_GET", get)
    shutil.copy(ROOT / "web" / "examples" / "semantic_search" / "minilm.py", tmp_path)
    try:
        out = run(f"TEXTS = {TEXTS}\n" + LOAD, tmp_path, pyodide, server, "--file", "minilm.py")
    finally:
        server.shutdown()
    said = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
    reference, vectors = Bert(MODEL), json.loads(said["vectors"])
    cosine = [float(np.dot(v, reference.embed(ids))) for v, ids in zip(vectors, TEXTS, strict=True)]
    assert min(cosine) >= LEAST[fmt], (fmt, cosine, said["formats"])
    if fmt.endswith("_K"):
        assert f"'{fmt}': 6" in said["formats"]
    spans = [span for name, span in server.asked if name == "m.gguf"]
    assert len(spans) >= 3 and all(span.startswith("bytes=") for span in spans)
    assert all(growth < SPARE + path.stat().st_size for growth in grown), grown
    print(fmt, cosine, said["formats"], grown, path.stat().st_size)
