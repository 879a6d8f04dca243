"""Reads the catalogue's sources and keeps the merged result until one of the files changes.

Made by ``host``, asked by ``registry`` for every resolved model: two ``stat`` calls when nothing
changed. Order, later wins: shipped, what services list, Ollama's address, trait,
``~/.shoulders/models.json``, the workspace's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.catalogue import Catalogue, Problem
from jupyter_ai_shoulders.core.catalogue_merge import Source, merge_catalogue
from jupyter_ai_shoulders.providers.listed_models import Entry, without_configured
from jupyter_ai_shoulders.providers.ollama_host import ollama_url
from jupyter_ai_shoulders.wire.ids import ProviderId

TRAIT = "Shoulders.models"
LISTED = "models of running services"
OLLAMA_HOST = "OLLAMA_HOST"
LARGEST = 4 * 1024 * 1024
"""Bytes read of a catalogue file."""
MOST_LISTED = 256
"""Models of one provider kept because somebody asked for them; callers may ask for any name."""

Signature = tuple[tuple[int, int] | None, ...]


class CatalogueFiles:
    """The merged catalogue of these sources."""

    def __init__(
        self,
        home: Path,
        workspace: Path,
        environ: Mapping[str, str],
        trait: Mapping[str, Any] | None = None,
        *,
        ollama_host: Callable[[], str] = lambda: "",
    ) -> None:
        """Take the user's own file and the workspace's, which wins; they need not exist.

        ``ollama_host`` is what the user prefers, empty for the usual address.
        """
        self._ollama_host = ollama_host
        self._ollama = ""
        self._paths = (home, workspace)
        self._workspace = workspace
        self._environ = environ
        self._trait = trait
        self._signature: Signature | None = None
        self._catalogue: Catalogue | None = None
        self._listed: dict[ProviderId, tuple[Entry, ...]] = {}
        self._facts: dict[ProviderId, Mapping[str, Entry]] = {}

    def set_listed(self, provider: ProviderId, found: Sequence[Entry]) -> None:
        """Take entries of the models a provider lists, in place of those it listed before."""
        if tuple(found) != self._listed.get(provider, ()):
            self._listed[provider] = tuple(found)
            self._catalogue = None

    def set_facts(self, provider: ProviderId, found: Mapping[str, Entry]) -> None:
        """Take what a provider says of its models, by their names, in place of what it said."""
        if found != self._facts.get(provider, {}):
            self._facts[provider] = found
            self._catalogue = None

    def add_listed(self, provider: ProviderId, entry: Entry) -> None:
        """Take one more entry; beyond ``MOST_LISTED`` the first are forgotten."""
        self.set_listed(provider, (*self._listed.get(provider, ()), entry)[-MOST_LISTED:])

    def current(self) -> Catalogue:
        """Return the catalogue as the files say now."""
        signature = tuple(_signature(path) for path in self._paths)
        ollama = ollama_url(self._ollama_host(), self._environ)
        if self._catalogue is None or signature != self._signature or ollama != self._ollama:
            self._ollama = ollama
            self._catalogue = self._load()
            self._signature = signature
        return self._catalogue

    def _load(self) -> Catalogue:
        problems: list[Problem] = []
        sources = [Source("models.json (shipped)", shipped_text())]
        if self._ollama:
            sources.append(Source(OLLAMA_HOST, {"providers": {"ollama": {"url": self._ollama}}}))
        if self._trait:
            sources.append(Source(TRAIT, self._trait))
        for path in self._paths:
            content = _read(path, problems)
            if content is not None:
                sources.append(Source(_shown(path), content, trusted=path != self._workspace))
        facts = {
            (provider, name): dict(entry)
            for provider, found in self._facts.items()
            for name, entry in found.items()
        }
        merged = merge_catalogue(sources, self._environ, facts)
        listed = without_configured([*chain(*self._listed.values())], merged)
        if listed:
            sources.insert(1, Source(LISTED, {"models": listed}))
            merged = merge_catalogue(sources, self._environ, facts)
        return replace(merged, problems=(*problems, *merged.problems))


def shipped_text() -> str:
    """Return the text of the shipped catalogue."""
    return files("jupyter_ai_shoulders.core").joinpath("models.json").read_text("utf-8")


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)


def _read(path: Path, problems: list[Problem]) -> str | None:
    try:
        if path.stat().st_size > LARGEST:
            problems.append(Problem(_shown(path), None, "Larger than 4 MB; it is not used."))
            return None
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(_shown(path), None, f"Cannot be read: {error}."))
        return None


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
