"""What the page calls: loads the model, embeds passages, answers queries. Tokens come from JavaScript's tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import minilm
import passages

import tabgpu as tg

FORMATS = ("float32", "Q8_0", "Q4_K")


class Search:
    """tokenize: texts (a list of str) to lists of ids. texts: {file name: Markdown}."""

    def __init__(self, tokenize: Callable[[list[str]], list[list[int]]], texts: dict[str, str]) -> None:
        self.tokenize = tokenize
        self.passages = [p for name, text in texts.items() for p in passages.split(text, name)]

    async def load(self, url: str, fmt: str, progress: Callable[[int, int], Any]) -> dict[str, Any]:
        """Streams the weights to the GPU. progress: bytes done, bytes in all. Facts of the model."""
        tensors = await tg.quant.load_safetensors(
            url, progress=lambda done, total, name: progress(done, total)
        )
        tensors = minilm.joined(tensors)
        if fmt != "float32":
            tensors = minilm.smaller(tensors, fmt)
        await tg.synchronize()
        self.model = minilm.MiniLM(tensors)
        kinds = Counter(getattr(x, "format", "F32") for x in tensors.values())
        return {
            "adapter": tg.device().name,
            "formats": dict(kinds),
            "bytes": sum(x.nbytes for x in tensors.values()),
        }

    async def index(self, progress: Callable[[int, int], Any], limit: int | None = None) -> int:
        """Embeds the passages, a few batches between two looks of the page. How many there are."""
        del self.passages[limit:]
        tokens = self.tokenize([f"{p.heading}. {p.text}" for p in self.passages])
        parts = []
        for first in range(0, len(tokens), step := 2 * minilm.BATCH):
            parts.append(self.model.embed(tokens[first : first + step]))
            await tg.synchronize()  # so that the page shows how far it is
            progress(min(first + step, len(tokens)), len(tokens))
        self.vectors = tg.concat(parts)
        return len(tokens)

    async def query(self, text: str, k: int = 5) -> list[dict[str, Any]]:
        """The k passages nearest to a text, by the cosine of their vectors."""
        nearest = self.vectors @ self.model.embed(self.tokenize([text]))[0]
        score, place = await tg.fetch(*tg.topk(nearest, min(k, len(self.passages))))
        return [
            {"score": float(s), **self.passages[int(p)]._asdict()} for s, p in zip(score, place, strict=True)
        ]
