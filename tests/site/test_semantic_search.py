"""web/examples/semantic_search with the real model: the page as a person uses it, and its vectors beside float64."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from bert import Bert

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "web" / "examples" / "semantic_search"
MODEL = ROOT / ".cache" / "minilm"  # ./build.sh site brings it
LIMIT = 400_000  # ms
SETTLED = "document.body.dataset.state === 'ready' || document.body.dataset.state === 'failed'"
COSINE = {"float32": 0.99999, "Q8_0": 0.999, "Q4_K": 0.98}
LAUNCHES = 12  # a layer, at most


@pytest.fixture(scope="module")
def url(serve, tmp_path_factory) -> str:
    sys.path.insert(0, str(EXAMPLE))
    from build import build

    out = tmp_path_factory.mktemp("search") / "site"
    npm = ROOT / "node_modules" / "@huggingface" / "tokenizers" / "dist" / "tokenizers.min.mjs"
    build(out, MODEL, npm, [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
    server = serve(out)
    # Made once: pages fetch the wheel and its hash apart, and an edit of the tree in between would part them.
    server.documents = {path: (lambda data=make(): data) for path, make in server.documents.items()}
    return server.url


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    page.set_default_timeout(LIMIT)
    yield page
    page.close()


@pytest.fixture(scope="module")
def reference() -> Bert:
    return Bert(MODEL / "model.safetensors")


def opened(page, url: str) -> None:
    page.goto(url)
    page.wait_for_function(SETTLED)
    assert page.get_attribute("body", "data-state") == "ready", page.inner_text("#step")


def sentences(n: int) -> list[str]:
    """Sentences of a text that is the same everywhere: the first ones of the docstrings of NumPy, which is pinned."""
    found: dict[str, None] = {}
    for module in (np, np.linalg, np.fft, np.random):
        for name in sorted(dir(module)):
            for paragraph in (inspect.getdoc(getattr(module, name)) or "").split("\n\n")[:2]:
                if sentence := re.match(r"[A-Z][^.`*=()\[\]>:|]{30,160}\.", paragraph.replace("\n", " ")):
                    found.setdefault(sentence[0])
                    break
    return list(found)[:n]


MEASURE = """async ([sentences, fmt]) => {
  pyodide.globals.set("measured", pyodide.toPy({ sentences, fmt }));
  return JSON.parse(await pyodide.runPythonAsync(`
import json

import numpy as np
import tabgpu as tg
from minilm import BATCH

def counters():
    c = tg.device().counters
    return np.array([c.launches, c.crossings, c.submits, c.reads, c.pipelines])

async def measure(search, sentences):
    tokens = search.tokenize(sentences)
    vectors = await search.model.embed(tokens).numpy()
    few = tokens[:BATCH]
    await search.model.embed(few).numpy()
    before = counters()
    await search.model.embed(few[::-1]).numpy()
    return json.dumps({"tokens": tokens, "vectors": vectors.tolist(), "spent": (counters() - before).tolist()})

await measure(search, measured["sentences"])
`));
}"""


def compared(page, reference: Bert, n: int, fmt: str) -> None:
    """The cosines of n sentences' vectors and the reference's; what the second time cost."""
    texts = sentences(n)
    assert len(texts) == n
    got = page.evaluate(MEASURE, [texts, fmt])
    vectors = np.array(got["vectors"])
    assert vectors.shape == (n, 384) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    cosine = [v @ reference.embed(ids) for v, ids in zip(vectors, got["tokens"], strict=True)]
    assert min(cosine) >= COSINE[fmt], f"{fmt}: {min(cosine):.6f}"
    launches, crossings, submits, reads, pipelines = got["spent"]
    software = "swiftshader" in page.inner_text("#facts").lower()
    decoding = (
        4 * software * (fmt != "float32")
    )  # CPU adapters decode the weights of a layer before its four products
    assert launches <= (LAUNCHES + decoding) * 6 and submits == reads == 1 and pipelines == 0, got["spent"]
    print(f"{fmt}: cosine from {min(cosine):.7f}, median {np.median(cosine):.7f}; {launches} launches")
    assert crossings == 3, got["spent"]  # the upload of the ids, the work, the read


def test_a_question_finds_its_passage(url, page, reference) -> None:
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    opened(page, f"{url}?limit=24&q=Who waits for the GPU when a value is read?")
    page.wait_for_function("document.body.dataset.answered")
    hits = page.locator("#hits li")
    assert hits.count() == 5
    assert "README.md" in hits.first.inner_text()
    page.fill("#words", "<b>bold</b> notebooks of JupyterLite")
    page.press("#words", "Enter")
    page.wait_for_function("document.body.dataset.answered.startsWith('<b>')")
    assert "JupyterLite" in hits.first.inner_text() and page.locator("#hits b").count() == 0
    assert "tensors" in page.inner_text("#facts") and not errors
    compared(page, reference, 32, "float32")


@pytest.mark.slow
@pytest.mark.parametrize("fmt", COSINE)
def test_200_sentences(url, page, reference, fmt: str) -> None:
    opened(page, f"{url}?limit=1&format={fmt}")
    if fmt == "Q4_K":  # rows of 384 numbers are no whole number of blocks
        assert "6 Q4_K" in page.inner_text("#facts") and "19 Q5_0" in page.inner_text("#facts")
    compared(page, reference, 200, fmt)
