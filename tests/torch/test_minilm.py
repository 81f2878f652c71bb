"""The oracle of tests/site/test_semantic_search.py beside the transformers package, npm's tokenizer beside theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / ".cache" / "minilm"
sys.path += [str(ROOT / "tests" / "site"), str(ROOT / "web" / "examples" / "semantic_search")]

from bert import Bert  # noqa: E402
from passages import split  # noqa: E402

EXTRA = [
    "",
    "Müller's naïve café – 東京, 3.14!",
    "a" * 300,
    "x-y_z\u00a0\t\u200b∑ [MASK] <b>",
    "😀 emoji and ﬁ ligature",
]
ENCODE = """
import { readFileSync } from "node:fs";
const { Tokenizer } = await import(process.argv[1]);
const read = (name) => JSON.parse(readFileSync(`${process.argv[2]}/${name}`));
const made = new Tokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
console.log(JSON.stringify(JSON.parse(readFileSync(0)).map((text) => made.encode(text).ids)));
"""


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found = split((ROOT / "README.md").read_text(), "README.md")
    return [p.text for p in found][:40] + EXTRA


@pytest.fixture(scope="module")
def ids(texts: list[str]) -> list[list[int]]:
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    return [tokenizer(text, truncation=False, padding=False)["input_ids"] for text in texts]


def test_tokens(texts: list[str], ids: list[list[int]]) -> None:
    npm = ROOT / "node_modules" / "@huggingface" / "tokenizers" / "dist" / "tokenizers.min.mjs"
    line = ["node", "--input-type=module", "-e", ENCODE, str(npm), str(MODEL)]
    ran = subprocess.run(
        line, input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(ran.stdout) == ids


def test_vectors(ids: list[list[int]]) -> None:
    model, mine = AutoModel.from_pretrained(MODEL).double().eval(), Bert(MODEL / "model.safetensors")
    for one in ids[:20] + ids[-len(EXTRA) :]:
        with torch.no_grad():
            want = model(torch.tensor([one])).last_hidden_state[0].mean(0).numpy()
        np.testing.assert_allclose(mine.embed(one), want / np.linalg.norm(want), rtol=0, atol=1e-6)
