"""Weight files loaded by URL in the tab: range requests that the server sees, the tab's memory, what errors leave."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf import quants

from conftest import LIMIT

KINDS = gguf.GGMLQuantizationType
SHAPE = 24, 512
SPARE = 64 << 20


class Files(ThreadingHTTPServer):
    """Serves bytes by name to any page; keeps what was asked for. With ranges=False it knows no ranges."""

    def __init__(self, files: dict[str, bytes], ranges: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.ranges = files, ranges
        self.asked: list[tuple[str, str]] = []
        self.watch: Memory | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Files

    def do_OPTIONS(self) -> None:
        self.answer(204, b"")

    def do_GET(self) -> None:
        name, wanted = self.path.strip("/"), self.headers.get("Range", "")
        self.server.asked.append((name, wanted))
        if name == "mark" and self.server.watch:
            self.server.watch.mark()
        data = self.server.files.get(name)
        if data is None:
            self.answer(404, b"")
        elif wanted and self.server.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            part = data[int(first) : int(last) + 1]
            if int(first) >= len(data):
                self.answer(416, b"", f"bytes */{len(data)}")
            else:
                self.answer(206, part, f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        else:
            self.answer(200, data)

    def answer(self, status: int, data: bytes, span: str = "") -> None:
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "Range")
        self.send_header("Access-Control-Expose-Headers", "Content-Range")
        self.send_header("Content-Length", str(len(data)))
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *about: object) -> None:
        pass


class Memory:
    """The most memory that the tab's process had since `mark`, less what it had then (Linux: /proc)."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.before: dict[int, int] = {}

    def tabs(self) -> list[int]:
        """The browser's renderers below a process."""
        parents, names = {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    names[int(entry.name)] = (entry / "cmdline").read_text()
                except (OSError, ValueError):
                    continue

        def ours(pid: int) -> bool:
            while pid > 1 and pid != self.root:
                pid = parents.get(pid, 0)
            return pid == self.root

        return [pid for pid, name in names.items() if "--type=renderer" in name and ours(pid)]

    def mark(self) -> None:
        for pid in self.tabs():
            try:
                Path(f"/proc/{pid}/clear_refs").write_text("5")
                self.before[pid] = self.field(pid, "VmRSS")
            except OSError:
                continue

    def field(self, pid: int, name: str) -> int:
        text = Path(f"/proc/{pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith(name + ":"))

    def grown(self) -> int:
        return max(
            self.field(pid, "VmHWM") - was
            for pid, was in self.before.items()
            if Path(f"/proc/{pid}").exists()
        )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A GGUF file with a small tensor of each format and large ones: about 60 MB."""
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name("a model")
    rng = np.random.default_rng(0)
    for name in ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        x = quants.quantize(rng.standard_normal(SHAPE).astype(np.float32), KINDS[name])
        writer.add_tensor(f"small.{name}", x, raw_dtype=KINDS[name])
    for name in ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"):
        block, each = gguf.GGML_QUANT_SIZES[KINDS[name]]
        x = rng.integers(0, 60, (SHAPE[0], SHAPE[1] // block * each), dtype=np.uint8)
        writer.add_tensor(f"small.{name}", x, raw_dtype=KINDS[name])
    row = quants.quantize(rng.standard_normal((1, 4096)).astype(np.float32), KINDS.Q8_0)
    large = np.tile(row, (6000, 1))
    writer.add_tensor("large.Q8_0", large, raw_dtype=KINDS.Q8_0)
    writer.add_tensor("large.F16", np.tile(rng.standard_normal(4096).astype(np.float16), (4000, 1)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def want(model: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The sums of absolute weights of the small tensors, as the gguf package decodes them."""
    path = tmp_path_factory.mktemp("want") / "m.gguf"
    path.write_bytes(model)
    found = {}
    for t in gguf.GGUFReader(path).tensors:
        if t.name.startswith("small."):
            found[t.name] = float(
                np.abs(quants.dequantize(np.array(t.data), t.tensor_type).astype(np.float64)).sum()
            )
    return found


@pytest.fixture
def files(model: bytes) -> Iterator[Files]:
    server = Files(
        {"m.gguf": model, "cut.gguf": model[:-1000], "page.html": b"<!doctype html>" * 9, "mark": b""}
    )
    yield server
    server.shutdown()


def run(script: str, folder: Path, pyodide: Path, server: Files, *options: str) -> str:
    """The output of a script in a tab; the server watches the tab's memory meanwhile. options: of `tabgpu run`."""
    (folder / "x.py").write_text(f"URL = {server.url!r}\n" + textwrap.dedent(script))
    # Playwright's inspector would keep what the tab fetches, in the tab
    line = [sys.executable, "-m", "tabgpu_command", "run", "--launcher", "plain", *options, "x.py"]
    env = {**os.environ, "TABGPU_PYODIDE": str(pyodide)}
    done = subprocess.Popen(
        line, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    server.watch = Memory(done.pid)
    try:
        out, errors = done.communicate(timeout=LIMIT)
    finally:
        done.kill()
    assert done.returncode == 0, out[-2000:] + errors[-3000:]
    return out


LOAD = """
import asyncio, urllib.request
import numpy as np
import tabgpu as tg
from pyodide.http import pyfetch
await tg.init()
(await (tg.zeros(4) + 1).numpy())
await pyfetch(URL + "/mark")
weights = await tg.quant.load_gguf(URL + "/m.gguf")
await tg.synchronize()
await pyfetch(URL + "/loaded")
for name, w in weights.items():
    if name.startswith("small."):
        x = w.dequantize() if isinstance(w, tg.quant.QTensor) else w.astype("float32")
        print(name, float(np.abs((await x.numpy()).astype(np.float64)).sum()))
x = tg.ones(4096) / 64
y = await tg.quant.matvec(weights["large.Q8_0"], x).numpy()
z = await tg.quant.linear(x, weights["large.F16"]).numpy()
print("rows", y.shape, z.shape, bool((y == y[0]).all()), bool(np.isfinite(z).all()))
print("metadata", weights.metadata["general.name"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the tab's memory is read from /proc")
def test_a_url_is_read_by_ranges(tmp_path: Path, pyodide: Path, files: Files, model: bytes, want) -> None:
    """Each format arrives; the server's log shows ranges only; the tab holds little of the file at a time: its memory
    stays well below the file's size + 64 MB."""
    grown: list[int] = []
    plain = Answer.do_GET

    def get(self: Answer) -> None:
        if self.path == "/loaded" and files.watch:
            time.sleep(0.05)
            grown.append(files.watch.grown())
        plain(self)

    Answer.do_GET = get  # type: ignore[method-assign]
    try:
        out = run(LOAD, tmp_path, pyodide, files)
    finally:
        Answer.do_GET = plain  # type: ignore[method-assign]
    lines = dict(line.split(" ", 1) for line in out.splitlines())
    for name, total in want.items():
        assert float(lines[name]) == pytest.approx(total, rel=1e-12), name
    assert lines["rows"] == "(6000,) (4000,) True True" and lines["metadata"] == "a model"
    spans = [span for name, span in files.asked if name == "m.gguf"]
    assert len(spans) >= 8 and all(span.startswith("bytes=") for span in spans)
    sizes = [int(b) - int(a) + 1 for a, b in (s.removeprefix("bytes=").split("-") for s in spans)]
    assert max(sizes) <= 8 << 20 and sum(sizes) < len(model) + (1 << 20)
    print("GROWN", grown)
    assert grown and 0 < grown[0] < SPARE + len(model) // 2, grown  # measured: 64 MB


FAIL = """
import gc
import tabgpu as tg
from tabgpu import engine
await tg.init()
await (tg.zeros(4) + 1).numpy()
gc.collect()
before = engine.device().live_bytes
for name in ("cut.gguf", "page.html", "nothing.gguf"):
    try:
        await tg.quant.load_gguf(f"{URL}/{name}")
    except (ValueError, OSError) as error:
        print(type(error).__name__, error)
    gc.collect()
    print("left", engine.device().live_bytes - before)
one = await tg.quant.load_gguf(f"{URL}/m.gguf", names=["small.Q4_K"])
print("some", *one, one["small.Q4_K"].shape)
"""


def test_truncated_and_foreign_files(tmp_path: Path, pyodide: Path, files: Files, model: bytes) -> None:
    """Clear errors before anything is loaded, and nothing stays; `names` fetches only what it names."""
    out = run(FAIL, tmp_path, pyodide, files).splitlines()
    assert out[0].startswith(
        f"WeightFileError cut.gguf is truncated: it ends after {len(model) - 1000:,} bytes, tensor 'large.F16' needs"
    )
    assert out[2].startswith("WeightFileError page.html is no GGUF file: it begins with b'<!do'")
    assert out[4].startswith("OSError") and "404" in out[4]
    assert out[1] == out[3] == out[5] == "left 0"
    assert out[6] == f"some small.Q4_K {SHAPE}"
    spans = [s for name, s in files.asked if name == "m.gguf"]
    assert (
        len(spans) == 2
        and sum(len(range(*map(int, s.removeprefix("bytes=").split("-")))) for s in spans) < 1 << 19
    )


def test_a_server_without_ranges(tmp_path: Path, pyodide: Path, model: bytes) -> None:
    """The whole file comes once, and the tensors with it."""
    server = Files({"m.gguf": model}, ranges=False)
    script = """
    import tabgpu as tg
    weights = await tg.quant.load_gguf(URL + "/m.gguf")
    print(len(weights), (await weights["large.F16"][-1].numpy()).sum(), weights["large.Q8_0"].nbytes)
    """
    try:
        out = run(script, tmp_path, pyodide, server)
    finally:
        server.shutdown()
    assert out.split()[0] == "15" and out.split()[2] == str(6000 * 4352)
    assert len(server.asked) == 1
