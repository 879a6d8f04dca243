"""Loads the catalogue's sources and caches the merged result until one of the files changes.

Checked for every resolved model: a few ``stat`` calls when nothing changed. Order, later wins:
shipped, models listed by services, Ollama's address, ``~/.shoulders/models.json``, the workspace's
file (only its trusted entries), trait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, CatalogueProblem
from jupyter_ai_shoulders.core.catalogue.trust_items import catalogue_trust_items
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.core.folder_trust import FolderItem, FolderTrust, TrustedFolder
from jupyter_ai_shoulders.guard.config_files import UnusableFile, read_json_config
from jupyter_ai_shoulders.providers.catalogue.listed_models import Entry, without_configured
from jupyter_ai_shoulders.providers.catalogue.ollama_host import ollama_url
from jupyter_ai_shoulders.providers.catalogue.user_models import own_providers, parse
from jupyter_ai_shoulders.wire.ids import ProviderId

TRAIT = "Shoulders.models"
LISTED = "models of running services"
OLLAMA_HOST = "OLLAMA_HOST"
MAX_LISTED = 256
"""Models per provider that are added by name; callers may ask for any name."""

Signature = tuple[tuple[int, int] | None, ...]


class CatalogueLoader:
    """Loads and merges the catalogue."""

    def __init__(
        self,
        home: Path,
        workspace: Path,
        environ: Mapping[str, str],
        trait: Mapping[str, Any] | None = None,
        *,
        ollama_host: Callable[[], str] = lambda: "",
        trust: FolderTrust | None = None,
        withdraw: Callable[[Iterable[str]], None] | None = None,
    ) -> None:
        """``home`` and ``workspace`` are the user's and the workspace's file; they need not exist.

        ``ollama_host`` returns the preferred address, empty for the usual one. ``trust`` holds the
        user's answers about the workspace's entries; without it, they are the user's own.
        ``withdraw`` is called after each load with the variables that providers read.
        """
        self._trust: FolderTrust = trust or TrustedFolder()
        self._answers: object = None
        self._withdraw = withdraw
        self._ollama_host = ollama_host
        self._ollama = ""
        self._paths = (home,) if home == workspace else (home, workspace)
        self._workspace = workspace
        self._environ = environ
        self._trait = trait
        self._signature: Signature | None = None
        self._catalogue: Catalogue | None = None
        self._listed: dict[ProviderId, tuple[Entry, ...]] = {}
        self._facts: dict[ProviderId, Mapping[str, Entry]] = {}
        self.own: frozenset[ProviderId] = frozenset()
        """Providers with entries in the user's own file."""

    def set_listed(self, provider: ProviderId, found: Sequence[Entry]) -> None:
        """Replace the entries of the models a provider lists."""
        if tuple(found) != self._listed.get(provider, ()):
            self._listed[provider] = tuple(found)
            self._catalogue = None

    def set_facts(self, provider: ProviderId, found: Mapping[str, Entry]) -> None:
        """Replace the listed capabilities of a provider's models, by model name."""
        if found != self._facts.get(provider, {}):
            self._facts[provider] = found
            self._catalogue = None

    def add_listed(self, provider: ProviderId, entry: Entry) -> None:
        """Add an entry by name; beyond ``MAX_LISTED`` the oldest are dropped."""
        self.set_listed(provider, (*self._listed.get(provider, ()), entry)[-MAX_LISTED:])

    def current(self) -> Catalogue:
        """Return the current catalogue."""
        signature = tuple(_signature(path) for path in self._paths)
        ollama = ollama_url(self._ollama_host(), self._environ)
        answers = self._trust.revision
        stands = (signature, ollama, answers) == (self._signature, self._ollama, self._answers)
        if self._catalogue is None or not stands:
            self._ollama, self._answers = ollama, answers
            self._catalogue = self._load(self._paths)
            if self._withdraw is not None:
                providers = self._catalogue.providers.values()
                self._withdraw(chain.from_iterable(spec.secret_variables for spec in providers))
            self._signature = signature
        return self._catalogue

    def items(self) -> tuple[FolderItem, ...]:
        """Return the entries of the workspace's file, for the user's review."""
        if self._workspace not in self._paths[1:]:
            return ()
        text = _read(self._workspace, [])
        if text is None:
            return ()
        return catalogue_trust_items(
            text, _display_path(self._workspace), self._load(self._paths[:1])
        )

    def _load(self, paths: Sequence[Path]) -> Catalogue:
        problems: list[CatalogueProblem] = []
        sources = [CatalogueSource("models.json (shipped)", shipped_text())]
        if self._ollama:
            sources.append(
                CatalogueSource(OLLAMA_HOST, {"providers": {"ollama": {"url": self._ollama}}})
            )
        for path in paths:
            content = _read(path, problems)
            if content is not None:
                trust = TrustedFolder() if path == self._paths[0] else self._trust
                sources.append(CatalogueSource(_display_path(path), content, trust))
            if path == self._paths[0]:
                self.own = _provider_ids(content)
        if self._trait:
            sources.append(CatalogueSource(TRAIT, self._trait))
        facts = {
            (provider, name): dict(entry)
            for provider, found in self._facts.items()
            for name, entry in found.items()
        }
        merged = merge_catalogue(sources, self._environ, facts)
        listing = [
            found
            for name, found in self._listed.items()
            if (spec := merged.providers.get(name)) is not None and spec.lists_its_models
        ]
        listed = without_configured([*chain(*listing)], merged)
        if listed:
            sources.insert(1, CatalogueSource(LISTED, {"models": listed}))
            merged = merge_catalogue(sources, self._environ, facts)
        return replace(merged, problems=(*problems, *merged.problems))


def shipped_text() -> str:
    """Return the text of the shipped catalogue."""
    return files("jupyter_ai_shoulders.core.catalogue").joinpath("models.json").read_text("utf-8")


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)


def _read(path: Path, problems: list[CatalogueProblem]) -> str | None:
    try:
        return read_json_config(path).decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnusableFile as error:
        problems.append(CatalogueProblem(_display_path(path), None, str(error)))
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.append(CatalogueProblem(_display_path(path), None, f"Cannot be read: {error}."))
        return None


def _provider_ids(content: str | None) -> frozenset[ProviderId]:
    try:
        return own_providers(parse(content))
    except Conflict:
        return frozenset()  # the catalogue reports the problem


def _display_path(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
