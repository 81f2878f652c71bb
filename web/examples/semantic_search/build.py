"""Assembles the example as a static site: `build.py OUT MODEL TOKENIZER TEXT...`; `./build.sh search` calls it.

MODEL: a folder with model.safetensors, tokenizer.json and tokenizer_config.json. TOKENIZER: tokenizers.min.mjs of npm's
@huggingface/tokenizers. TEXT: Markdown files to search.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILES = ("index.html", "search.js", "minilm.py", "passages.py", "engine.py")
MODEL = ("model.safetensors", "tokenizer.json", "tokenizer_config.json")


def build(out: Path, model: Path, tokenizer: Path, texts: list[Path]) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for name in ("model", "texts"):
        (out / name).mkdir(parents=True)
    for name in FILES:
        shutil.copy(HERE / name, out)
    shutil.copy(tokenizer, out / "tokenizers.mjs")
    for name in MODEL:
        try:
            os.link(model / name, out / "model" / name)  # 90 MB need not be there twice
        except OSError:
            shutil.copy(model / name, out / "model")
    for text in texts:
        shutil.copy(text, out / "texts")
    (out / "texts" / "index.json").write_text(json.dumps([text.name for text in texts]))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), [Path(text) for text in sys.argv[4:]])
