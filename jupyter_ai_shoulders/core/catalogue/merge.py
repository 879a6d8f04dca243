"""Merges the shipped catalogue with the user's, keeping the valid entries of a faulty file.

Pure; called by ``providers.catalogue.loader``. Entries are merged by id, field by field, in the
order of the sources. An unusable entry is left out and becomes a ``CatalogueProblem``. An untrusted
entry of the folder is left out too, and listed for review.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.core.catalogue.specs import (
    Catalogue,
    CatalogueProblem,
    ModelSpec,
    ProviderKind,
    ProviderSpec,
    TokenFamily,
)
from jupyter_ai_shoulders.core.catalogue.trust_items import (
    default_digest,
    is_provider_name_shown,
    model_digest,
    provider_digest,
    url_host,
)
from jupyter_ai_shoulders.core.embedding.model_names import EMBEDDING, is_embedding_name
from jupyter_ai_shoulders.core.folder_trust import FolderTrust, TrustedFolder, is_accepted
from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.core.variable_expansion import MissingVariable, expand_variables
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

Entry = dict[str, Any]
JsonPath = tuple[str | int, ...]
Spec = TypeVar("Spec", bound=BaseModel)

MOST_ENTRIES = 500
"""Models of one source, and providers; each takes 0.1 ms whenever the file has changed."""
MOST_PROBLEMS = 100
"""Maximum number of problems listed for all sources."""
_TOP = frozenset({"default", "providers", "models", "families", "version", "$schema"})
_SPELLINGS = {"apiKeyEnv": "api_key_env"}
_FAMILIES: Mapping[ProviderKind, TokenFamily] = {
    "anthropic": "anthropic",
    "openai_responses": "openai",
    "google": "google",
}
_THINKING: Mapping[ProviderKind, Entry] = {
    "openai_chat": {"mode": "effort", "efforts": ["low", "medium", "high"]},
    "ollama": {"mode": "effort", "off": "disabled"},
}
"""Assumed thinking support of a model of such a server whose entry names a thinking level."""


@dataclass(frozen=True, slots=True)
class CatalogueSource:
    """One catalogue: JSON text of a file, or the value of a trait. Later sources win."""

    name: str
    content: str | Mapping[str, Any]
    trust: FolderTrust = field(default_factory=TrustedFolder)
    """Decides which entries are accepted: a workspace file may come from another person."""


Facts = Mapping[tuple[ProviderId, str], Entry]
"""Model facts reported by services, by provider and the provider's name of the model."""


def merge_catalogue(
    sources: Sequence[CatalogueSource], environ: Mapping[str, str], facts: Facts | None = None
) -> Catalogue:
    """Return the merged catalogue and the problems found.

    ``facts`` refine the facts of a model's family; the entry itself takes precedence.
    """
    problems: list[CatalogueProblem] = []
    parsed = [_Parsed.read(source, problems) for source in sources]
    providers = _merge_providers(parsed)
    families = [family for source in parsed for family in source.families()]
    specs = _merge_models(parsed, _ModelReferences(providers, families, environ, facts or {}))
    embedders = {name: spec for name, spec in specs.items() if EMBEDDING in spec.roles}
    models = {name: spec for name, spec in specs.items() if name not in embedders}
    default = _default(parsed, Catalogue(None, providers, models, embedders=embedders))
    return Catalogue(default, providers, models, tuple(problems), embedders)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A parsed source that collects problems."""

    name: str
    text: str | None
    content: Entry
    problems: list[CatalogueProblem]
    trust: FolderTrust

    @staticmethod
    def read(source: CatalogueSource, problems: list[CatalogueProblem]) -> _Parsed:
        if isinstance(source.content, Mapping):
            return _Parsed(
                source.name, None, dict(source.content), problems, source.trust
            ).checked()
        try:
            value: Any = json.loads(source.content)
        except json.JSONDecodeError as error:
            problems.append(
                CatalogueProblem(source.name, error.lineno, f"Not valid JSON: {error.msg}.")
            )
            value = {}
        except RecursionError:
            problems.append(CatalogueProblem(source.name, None, "Nested too deeply."))
            value = {}
        return _Parsed(
            source.name, source.content, _as_entry(value), problems, source.trust
        ).checked(value)

    def checked(self, value: Any = None) -> _Parsed:
        """Report problems of the whole source; return self."""
        if value is not None and not isinstance(value, dict):
            self.complain((), "A catalogue is an object with providers and models.")
        for key in self.content.keys() - _TOP:
            self.complain((key,), f'"{key}" is not a key of a catalogue; it is ignored.')
        return self

    def complain(self, path: JsonPath, message: str) -> None:
        """Record a problem, up to the maximum number."""
        if len(self.problems) == MOST_PROBLEMS:
            self.problems.append(CatalogueProblem(self.name, None, "There are more problems."))
        if len(self.problems) > MOST_PROBLEMS:
            return
        line = None if self.text is None else json_line_of(self.text, path)
        self.problems.append(CatalogueProblem(self.name, line, message))

    def providers(self) -> Iterator[tuple[JsonPath, Entry]]:
        listed = _as_entry(self.content.get("providers"))
        self._complain_of_excess("providers", len(listed))
        for name, entry in islice(listed.items(), MOST_ENTRIES):
            if is_accepted(self.trust, provider_digest(name, entry)):
                yield ("providers", name), {**_as_entry(entry), "id": name}

    def models(self) -> Iterator[tuple[JsonPath, Entry]]:
        listed = _as_list(self.content.get("models"))
        self._complain_of_excess("models", len(listed))
        for index, entry in enumerate(listed[:MOST_ENTRIES]):
            if is_accepted(self.trust, model_digest(entry)):
                yield ("models", index), _as_entry(entry)

    def _complain_of_excess(self, key: str, count: int) -> None:
        if count > MOST_ENTRIES:
            message = f"There are {count:,} {key}; only the first {MOST_ENTRIES} are used."
            self.complain((key,), message)

    def families(self) -> Iterator[Entry]:
        listed = _as_list(self.content.get("families"))
        if listed and is_accepted(self.trust, model_digest(listed)):
            yield from map(_as_entry, listed)

    def default(self) -> Any:
        """Return the name of the default model, None when there is none."""
        name = self.content.get("default")
        accepted = name is not None and is_accepted(self.trust, default_digest(name))
        return name if accepted else None


def _merge_providers(parsed: Sequence[_Parsed]) -> dict[ProviderId, ProviderSpec]:
    raw: dict[str, Entry] = {}
    specs: dict[ProviderId, ProviderSpec] = {}
    for source in parsed:
        for path, entry in source.providers():
            name = str(entry["id"])
            fields = _known_fields(source, path, entry, ProviderSpec)
            merged = {"name": name, **raw.get(name, {}), **fields}
            spec = _validated(source, path, merged, ProviderSpec)
            if spec is None:
                continue
            if not isinstance(source.trust, TrustedFolder) and is_provider_name_shown(
                spec.name, specs.values()
            ):
                spec = _named_by_host(spec, specs.get(spec.id))
            raw[name] = merged
            specs[spec.id] = spec
    return specs


@dataclass(frozen=True, slots=True)
class _ModelReferences:
    """The providers and families that model entries refer to."""

    providers: Mapping[ProviderId, ProviderSpec]
    families: Sequence[Entry]
    environ: Mapping[str, str]
    facts: Facts

    def complete(self, entry: Entry) -> Entry:
        """Return the entry with variables expanded and defaults from its family.

        Raises ``MissingVariable`` and, for an unknown provider, ``LookupError``.
        """
        entry = cast("Entry", expand_variables(entry, self.environ))
        name = str(entry.get("provider", ""))
        provider = self.providers.get(ProviderId(name))
        if provider is None:
            raise LookupError(f'There is no provider "{name}".')
        below: Entry = {"family": _FAMILIES.get(provider.kind, "other")}
        if provider.kind in _THINKING and entry.get("thinking") in {"low", "medium", "high"}:
            below["thinking_support"] = _THINKING[provider.kind]
        model = str(entry["model"])
        if is_embedding_name(model):
            below["roles"] = (EMBEDDING,)
        family = self._family(provider.kind, model)
        live = self.facts.get((provider.id, model), {})
        return {**below, **family, **_refined(family, live), **entry}

    def _family(self, kind: ProviderKind, model: str) -> Entry:
        """Return the facts of the longest matching family of a model."""
        fitting = [
            family
            for family in self.families
            if family.get("kind") == kind and model.startswith(str(family.get("match")))
        ]
        longest = sorted(fitting, key=lambda family: len(str(family["match"])))[-1:]
        return _as_entry(longest[0].get("set")) if longest else {}


def _refined(family: Entry, live: Entry) -> Entry:
    """Return the live facts; thinking support is merged with the family's."""
    if "thinking_support" not in live:
        return live
    support = {**_as_entry(family.get("thinking_support")), **live["thinking_support"]}
    return {**live, "thinking_support": support}


def _merge_models(
    parsed: Sequence[_Parsed], references: _ModelReferences
) -> dict[ModelId, ModelSpec]:
    raw: dict[str, Entry] = {}
    specs: dict[ModelId, ModelSpec] = {}
    for source in parsed:
        for path, entry in source.models():
            fields = _known_fields(source, path, entry, ModelSpec)
            name = str(fields.get("id", ""))
            merged = {"name": name, "model": name, **raw.get(name, {}), **fields}
            try:
                complete = references.complete(merged)
            except (MissingVariable, LookupError) as error:
                source.complain(path, f"{error} The entry is not used.")
                continue
            spec = _validated(source, path, complete, ModelSpec)
            if spec is not None:
                raw[name] = merged
                specs[spec.id] = spec
    return specs


def _default(parsed: Sequence[_Parsed], merged: Catalogue) -> ModelId | None:
    """Return the default model; a service that is not running may list it later."""
    default: ModelId | None = None
    for source in parsed:
        name = source.default()
        if name is None:
            continue
        if isinstance(name, str) and _may_be_default(merged, ModelId(name)):
            default = ModelId(name)
        else:
            source.complain(("default",), f'"default" names no model of the catalogue: {name!r}.')
    return default


def _may_be_default(merged: Catalogue, name: ModelId) -> bool:
    listing = any(provider.listed_name(name) for provider in merged.providers.values())
    return name in merged.models or (listing and name not in merged.embedders)


def _known_fields(source: _Parsed, path: JsonPath, entry: Entry, kind: type[BaseModel]) -> Entry:
    """Return the known fields of the entry, reporting the others."""
    fields: Entry = {}
    for key, value in entry.items():
        field = _SPELLINGS.get(key, key)
        if field in kind.model_fields:
            fields[field] = value
        else:
            source.complain((*path, key), f'There is no setting "{key}"; it is ignored.')
    return fields


def _validated(source: _Parsed, path: JsonPath, entry: Entry, kind: type[Spec]) -> Spec | None:
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        message = f"{where}: {first['msg']}. The entry is not used."
        source.complain((*path, *first["loc"]), message)
        return None


def _named_by_host(spec: ProviderSpec, before: ProviderSpec | None) -> ProviderSpec:
    """Return the provider with its host in its name, so that it is not mistaken for another."""
    host = url_host(spec.url)
    if host is None or (before is not None and url_host(before.url) == host):
        return spec
    return spec.model_copy(update={"name": f"{spec.name} ({host})"})


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _as_entry(value: Any) -> Entry:
    return cast("Entry", value) if isinstance(value, dict) else {}
