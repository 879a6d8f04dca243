"""The bodies of the embedding routes; unknown fields are refused.

A real Ollama drops unknown fields, which would hide our mistakes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tests.simulator.google.schema import Content, Message
from tests.simulator.ollama.schema import Options

Dimension = Annotated[int, Field(ge=1)]
Task = Literal[
    "TASK_TYPE_UNSPECIFIED",
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
    "QUESTION_ANSWERING",
    "FACT_VERIFICATION",
    "CODE_RETRIEVAL_QUERY",
]


class Strict(BaseModel):
    """Base: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OpenAIBody(Strict):
    """The body of ``/v1/embeddings``; arrays of tokens are not simulated."""

    input: str | list[str]
    model: str
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Dimension | None = None
    user: str | None = None

    @property
    def texts(self) -> list[str]:
        """The texts, one or many."""
        return [self.input] if isinstance(self.input, str) else self.input


class OllamaBody(Strict):
    """The body of ``/api/embed``."""

    model: str = ""
    input: str | list[str] = ""
    truncate: bool = True
    options: Options = Options()
    keep_alive: str | int | float | None = None
    dimensions: Dimension | None = None

    @property
    def texts(self) -> list[str]:
        """The texts, one or many."""
        return [self.input] if isinstance(self.input, str) else self.input


class EmbedContentRequest(Message):
    """One text of a batch."""

    model: str
    content: Content
    task_type: Task | None = None
    title: str | None = None
    output_dimensionality: Dimension | None = None

    @property
    def text(self) -> str:
        """The text of all parts."""
        return "".join(part.text or "" for part in self.content.parts or [])


class GoogleBody(Message):
    """The body of ``:batchEmbedContents``."""

    requests: list[EmbedContentRequest]
