"""The styles of the workspace, and citations rendered with them, off the event loop.

Made by ``host``; used by the routes ``references/styles`` and ``references/format``. Rendering runs
in a separate process with limits (``references.styles.worker``), one at a time; the latest results
are kept, as pages ask again for every cell they render.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Protocol, cast

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal, TooLarge
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.references.styles.messages import (
    CitedWork,
    FormatAnswer,
    FormatRequest,
    WorkRequest,
)
from jupyter_ai_shoulders.references.styles.style_description import (
    is_dependent,
    style_kind,
    style_locale,
    style_title,
)
from jupyter_ai_shoulders.wire.api.references import (
    CitationStyle,
    CitationStyleList,
    FormattedCitations,
    FormattedEntry,
    PostFormat,
)

SHIPPED: Mapping[str, str] = {
    "apa": "APA",
    "ieee": "IEEE",
    "nature": "Nature",
    "vancouver": "Vancouver",
    "chicago-author-date": "Chicago (author-date)",
}
"""Names of the shipped styles, and what people call them."""
WORKER = "jupyter_ai_shoulders.references.styles.worker"
STYLE_LIMIT = 1 << 20
"""Bytes of a style; the longest of the CSL project has 170 KB."""
STYLES_LISTED = 100
SECONDS = 25.0
KEPT = 32
"""Rendered documents that are kept."""

_log = logging.getLogger(__name__)

Helper = Callable[[str, tuple[str, ...], bytes, float], WorkerResult]


class CitedWorks(Protocol):
    """The bibliographies of the workspace."""

    async def cited_works(self, keys: Iterable[str]) -> Mapping[str, CitedWork]:
        """Return the works by key; keys that no bibliography has are missing."""
        ...


class CitationStyles:
    """Lists styles and renders with them."""

    def __init__(
        self,
        works: CitedWorks,
        workspace: Workspace,
        paths: PathIndex,
        default: Callable[[], str],
        *,
        helper: Helper = run_worker,
    ) -> None:
        """``default`` returns the style of the settings."""
        self._works = works
        self._workspace = workspace
        self._paths = paths
        self._default = default
        self._helper = helper
        self._free = asyncio.Semaphore(1)
        self._kept: OrderedDict[str, FormatAnswer] = OrderedDict()

    async def styles(self) -> CitationStyleList:
        """Return the shipped styles, and the ``.csl`` files of the workspace."""
        own = await asyncio.to_thread(self._own_styles)
        shipped = [
            CitationStyle(id=name, title=title, kind=style_kind(shipped_style(name)))
            for name, title in SHIPPED.items()
        ]
        return CitationStyleList(styles=(*shipped, *own), default=self._default())

    async def format(self, request: PostFormat) -> FormattedCitations:
        """Render the citations of a document and its bibliography.

        Raises ``NotFound`` (no such style), ``InvalidRequest`` (no CSL style, or one the processor
        cannot use), ``TooLarge``, and ``PolicyRefusal`` (``disabled``: the extra is not installed).
        """
        name = request.style or self._default()
        style = await asyncio.to_thread(self._style, name)
        keys = list(dict.fromkeys(key for cluster in request.clusters for key in cluster))
        works = await self._works.cited_works(keys)
        asked: FormatRequest = {
            "style": style,
            "locale": style_locale(style, request.locale),
            "works": [cast("WorkRequest", asdict(works[key])) for key in keys if key in works],
            "clusters": [list(cluster) for cluster in request.clusters],
        }
        answer = await self._answer(asked, name)
        if answer["error"]:
            raise InvalidRequest(
                f"The citation style {name} cannot be used: {answer['error']}.",
                hint="Choose another style, or another .csl file of the workspace.",
            )
        return _formatted(request, works, answer)

    async def _answer(self, asked: FormatRequest, name: str) -> FormatAnswer:
        """Return a rendered document, from memory where nothing has changed."""
        content = json.dumps(asked).encode()
        digest = hashlib.sha256(content).hexdigest()
        async with self._free:
            if digest in self._kept:
                self._kept.move_to_end(digest)
                return self._kept[digest]
            _require_processor()
            done = await asyncio.to_thread(self._helper, WORKER, (), content, SECONDS)
        if done.status != 0:
            _log.info("Rendering with %s ended with %s: %s", name, done.status, done.stderr_tail)
            raise TooLarge(
                f"Rendering with the citation style {name} takes too much time or memory.",
                hint="Choose another style.",
            )
        answer: FormatAnswer = json.loads(done.output)
        self._kept[digest] = answer
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return answer

    def _style(self, name: str) -> str:
        """Return the text of a style by its name or path."""
        if name in SHIPPED:
            return shipped_style(name)
        if not name.lower().endswith(".csl"):
            raise NotFound(
                f"There is no citation style named {name}.",
                hint=f"Use one of {', '.join(SHIPPED)}, or the path of a .csl file.",
            )
        content = self._workspace.head(self._workspace.path(name), STYLE_LIMIT + 1).content
        if len(content) > STYLE_LIMIT:
            raise TooLarge(f"{name} has more than {STYLE_LIMIT >> 20} MB, too much for a style.")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"{name} is not UTF-8 text, so it is no CSL style.") from error
        if is_dependent(text):
            raise InvalidRequest(
                f"{name} refers to another style, which has the rules.",
                hint="Save the style that it names as its independent parent.",
            )
        return text

    def _own_styles(self) -> Sequence[CitationStyle]:
        """Return the styles of the workspace, those that cannot be read left out."""
        folders = self._paths.tree(max_age=2.0).folders
        found = [
            f"{folder.path}/{name}" if folder.path else name
            for folder in folders.values()
            for name in folder.files
            if name.lower().endswith(".csl")
        ]
        return [style for path in sorted(found)[:STYLES_LISTED] if (style := self._own(path))]

    def _own(self, path: str) -> CitationStyle | None:
        try:
            text = self._style(path)
        except (InvalidRequest, NotFound, TooLarge, PolicyRefusal):
            return None
        return CitationStyle(id=path, title=style_title(text) or path, kind=style_kind(text))


def shipped_style(name: str) -> str:
    """Return the text of a shipped style."""
    folder = resources.files("jupyter_ai_shoulders.references.styles") / "shipped"
    return (folder / f"{name}.csl").read_text("utf-8")


def _require_processor() -> None:
    """Raise ``PolicyRefusal`` where the processor is not installed."""
    if importlib.util.find_spec("citeproc") is None:
        raise PolicyRefusal(
            "Citations cannot be rendered: citeproc-py is not installed.",
            code="disabled",
            hint="Run pip install 'jupyter-ai-shoulders[references]' and restart the server.",
        )


def _formatted(
    request: PostFormat, works: Mapping[str, CitedWork], answer: FormatAnswer
) -> FormattedCitations:
    """Return the worker's answer as the route's."""
    keys = dict.fromkeys(key for cluster in request.clusters for key in cluster)
    has_entries = bool(answer["entries"]) or not works
    return FormattedCitations(
        citations=tuple(answer["citations"]),
        entries=tuple(FormattedEntry.model_validate(entry) for entry in answer["entries"]),
        unknown=tuple(key for key in keys if key not in works),
        markdown="\n\n".join(entry["markdown"] for entry in answer["entries"]),
        problem="" if has_entries else "The style has no bibliography.",
    )
