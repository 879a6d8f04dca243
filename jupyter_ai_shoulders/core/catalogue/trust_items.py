"""Describes the changes of a folder's ``models.json`` as items for review.

A workspace and its ``models.json`` may come from another person, such as in a cloned repository.
``core.catalogue.merge`` leaves out entries the user has not accepted. This module describes the
entries: where each sends text and keys, and what it replaces.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ProviderSpec
from jupyter_ai_shoulders.core.folder_trust import FolderItem, format_json_for_review, item_digest
from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.core.variable_expansion import variables_in
from jupyter_ai_shoulders.wire.api.folder_trust import ItemKind
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

FAMILIES = "families"
DEFAULT = "default"


def provider_digest(name: str, entry: Json) -> str:
    """Return the digest of a provider's entry."""
    return item_digest("provider", name, entry)


def model_digest(entry: Json) -> str:
    """Return the digest of a model's entry, or of the list of model families."""
    return item_digest("model", _name(entry), entry)


def default_digest(value: Json) -> str:
    """Return the digest of the choice of a default model."""
    return item_digest("setting", DEFAULT, value)


def catalogue_trust_items(text: str, file: str, base: Catalogue) -> tuple[FolderItem, ...]:
    """Return the entries of a folder's catalogue; none when it cannot be read.

    ``base`` is the catalogue without the folder's entries.
    """
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(found, dict):
        return ()
    return tuple(_Review(text, file, cast("Mapping[str, Any]", found), base).items())


class _Review:
    """Describes the entries of one file."""

    def __init__(self, text: str, file: str, content: Mapping[str, Any], base: Catalogue) -> None:
        self._text = text
        self._file = file
        self._content = content
        self._base = base
        self._hosts: dict[str, str | None] = {
            str(name): url_host(spec.url) for name, spec in base.providers.items()
        }

    def items(self) -> Iterator[FolderItem]:
        providers = self._content.get("providers")
        if isinstance(providers, dict):
            for name, entry in cast("dict[str, Json]", providers).items():
                yield self._provider(name, entry)
        models = self._content.get("models")
        if isinstance(models, list):
            for index, entry in enumerate(cast("list[Json]", models)):
                yield self._model(index, entry)
        if FAMILIES in self._content:
            families: Json = self._content[FAMILIES]
            yield self._item("model", FAMILIES, families, model_digest(families), FAMILIES)
        if DEFAULT in self._content:
            yield self._default(self._content[DEFAULT])

    def _item(
        self,
        kind: ItemKind,
        name: str,
        content: Json,
        digest: str,
        *path: str | int,
        host: str | None = None,
        warnings: tuple[str, ...] = (),
    ) -> FolderItem:
        return FolderItem(
            kind=kind,
            name=name,
            file=self._file,
            content=format_json_for_review(content),
            digest=digest,
            line=json_line_of(self._text, path),
            host=host,
            warnings=warnings,
        )

    def _provider(self, name: str, entry: Json) -> FolderItem:
        before = self._base.providers.get(ProviderId(name))
        spec = _spec(name, entry, before)
        host = url_host(spec.url) if spec else None
        self._hosts[name] = host
        warnings = tuple(self._warnings(spec, before)) if spec else ()
        digest = provider_digest(name, entry)
        return self._item(
            "provider", name, entry, digest, "providers", name, host=host, warnings=warnings
        )

    def _warnings(self, spec: ProviderSpec, before: ProviderSpec | None) -> Iterator[str]:
        host = url_host(spec.url) or "an unknown address"
        if before is not None:
            usual = url_host(before.url) or "its usual address"
            yield f"Replaces the provider {before.name}: it would be asked at {host}, not {usual}."
        elif is_provider_name_shown(spec.name, self._base.providers.values()):
            yield f"Has the same name as your provider {spec.name}, but is at {host}."
        if spec.needs_key:
            yield f"Sends the key {spec.key_name} to {host}."
        variables = sorted(_variables(spec))
        if variables:
            yield f"Sends environment variables to {host}: {', '.join(variables)}."

    def _model(self, index: int, entry: Json) -> FolderItem:
        name = _name(entry)
        values = entry if isinstance(entry, dict) else {}
        before = self._base.spec(ModelId(name))
        provider = str(values.get("provider", before.provider if before else ""))
        warnings = () if before is None else (f"Replaces the model {before.name} ({before.id}).",)
        return self._item(
            "model",
            name,
            entry,
            model_digest(entry),
            "models",
            index,
            host=self._hosts.get(provider),
            warnings=warnings,
        )

    def _default(self, value: Json) -> FolderItem:
        listed = self._content.get("models")
        entries = cast("list[Json]", listed) if isinstance(listed, list) else []
        chosen = next((entry for entry in entries if _name(entry) == value), None)
        known = self._base.spec(ModelId(str(value)))
        provider = chosen.get("provider") if isinstance(chosen, dict) else known and known.provider
        host = self._hosts.get(str(provider))
        warnings = ("New conversations would use this model.",)
        return self._item(
            "setting",
            DEFAULT,
            value,
            default_digest(value),
            DEFAULT,
            host=host,
            warnings=warnings,
        )


def is_provider_name_shown(name: str, providers: Iterable[ProviderSpec]) -> bool:
    """Return whether a provider is displayed under this name."""
    return any(spec.name.casefold() == name.casefold() for spec in providers)


def url_host(url: str) -> str | None:
    """Return ``host`` or ``host:port`` of a URL, None when it has none."""
    try:
        found = urlsplit(url)
        return found.netloc.rpartition("@")[2] or None
    except ValueError:
        return None


def is_local_host(host: str) -> bool:
    """Return whether a host name or address belongs to this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _spec(name: str, entry: Json, before: ProviderSpec | None) -> ProviderSpec | None:
    values = entry if isinstance(entry, dict) else {}
    known = {key: value for key, value in values.items() if key in _FIELDS}
    below = before.model_dump() if before else {"name": name}
    try:
        return ProviderSpec.model_validate({**below, **known, "id": name})
    except ValidationError:
        return None  # the catalogue leaves it out and reports why


_FIELDS = frozenset({*ProviderSpec.model_fields, "apiKeyEnv"})


def _variables(spec: ProviderSpec) -> set[str]:
    texts = (spec.url, *spec.headers.values(), *spec.query.values())
    return {name for text in texts for name in variables_in(text)}


def _name(entry: Json) -> str:
    return str(entry.get("id", "")) if isinstance(entry, dict) else FAMILIES
