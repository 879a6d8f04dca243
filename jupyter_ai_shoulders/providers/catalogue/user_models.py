"""Edits the user's own models.json, preserving their other entries and the order.

Used by ``provider_setup``. The file is replaced atomically, and only by valid content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import Conflict, StateUnavailable
from jupyter_ai_shoulders.guard.config_files import UnusableFile, read_json_config
from jupyter_ai_shoulders.providers.private_file import replace_private
from jupyter_ai_shoulders.providers.vendor_json import as_list, as_object, as_text
from jupyter_ai_shoulders.wire.ids import ProviderId

Json = dict[str, Any]
DISPLAY_PATH = "~/.shoulders/models.json"
_INDENT = re.compile(r"\n([ \t]+)\S")


class UserCatalogue:
    """The file, read and replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str | None:
        """Return the text, None where there is no file. Raises ``StateUnavailable``."""
        try:
            return read_json_config(self._path).decode("utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (UnusableFile, UnicodeDecodeError) as error:
            raise StateUnavailable(
                f"{DISPLAY_PATH} cannot be read: {error}",
                hint="Correct or remove the file and try again.",
            ) from error

    def write(self, text: str) -> None:
        """Replace the file. Raises ``StateUnavailable``."""
        try:
            replace_private(self._path, text)
        except OSError as error:
            raise StateUnavailable(
                f"{DISPLAY_PATH} cannot be written ({error.strerror}); nothing was changed.",
                hint="Make the file and its folder writable and try again.",
            ) from error


def parse(text: str | None) -> Json:
    """Return the file's content for editing. Raises ``Conflict`` where it is no catalogue."""
    if text is None or not text.strip():
        return {"version": 1}
    try:
        content: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unusable(f"it is not valid JSON (line {error.lineno}: {error.msg})") from error
    except RecursionError as error:
        raise _unusable("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise _unusable("it is not an object")
    found = cast("Json", content)
    if not isinstance(found.get("providers", {}), dict):
        raise _unusable('its "providers" are no object')
    if not isinstance(found.get("models", []), list):
        raise _unusable('its "models" is not a list')
    return found


def dump(content: Json, before: str | None) -> str:
    """Return the text of the file, with its previous indentation."""
    found = _INDENT.search(before or "")
    return json.dumps(content, ensure_ascii=False, indent=found.group(1) if found else 2) + "\n"


def own_providers(content: Mapping[str, Any]) -> frozenset[ProviderId]:
    """Return the providers that have entries in the file, of themselves or of their models."""
    named = (as_text(as_object(entry).get("provider")) for entry in as_list(content.get("models")))
    return frozenset(ProviderId(name) for name in (*as_object(content.get("providers")), *named))


def provider_entry(content: Json, provider: ProviderId) -> Json:
    """Return a provider's entry, empty where there is none."""
    return as_object(as_object(content.get("providers")).get(provider))


def models_of(content: Json, provider: ProviderId) -> list[str]:
    """Return the names of a provider's models in the file."""
    entries = map(as_object, as_list(content.get("models")))
    return [_model_name(entry) for entry in entries if entry.get("provider") == provider]


def with_provider(
    content: Json, provider: ProviderId, fields: Mapping[str, Any], models: Sequence[Json]
) -> Json:
    """Return the content with these settings and models of a provider.

    Settings of its entry that are not among ``fields`` stay, and so do entries of models that are
    still listed. An empty value removes a setting.
    """
    changed = dict(content)
    entry = dict(provider_entry(content, provider))
    for name, value in fields.items():
        if value in ("", {}, False, None):
            entry.pop(name, None)
        else:
            entry[name] = value
    if entry:
        changed["providers"] = {**as_object(content.get("providers")), provider: entry}
    changed["models"] = [*_kept(content, provider, models), *_added(content, provider, models)]
    if not changed["models"] and "models" not in content:
        del changed["models"]
    return changed


def without_provider(content: Json, provider: ProviderId) -> Json:
    """Return the content without a provider, its models, and a default among them."""
    changed = dict(content)
    gone = {
        as_text(entry.get("id"))
        for entry in map(as_object, as_list(content.get("models")))
        if entry.get("provider") == provider
    }
    if "providers" in content:
        providers = as_object(content["providers"])
        changed["providers"] = {name: e for name, e in providers.items() if name != provider}
    if "models" in content:
        changed["models"] = _kept(content, provider, ())
    default = as_text(content.get("default"))
    if default in gone or default.startswith(f"{provider}/"):
        changed.pop("default", None)
    return changed


def _kept(content: Json, provider: ProviderId, wanted: Iterable[Json]) -> list[Any]:
    names = {entry["model"] for entry in wanted}
    return [
        entry
        for entry in as_list(content.get("models"))
        if as_object(entry).get("provider") != provider or _model_name(as_object(entry)) in names
    ]


def _added(content: Json, provider: ProviderId, wanted: Iterable[Json]) -> list[Json]:
    known = set(models_of(content, provider))
    return [entry for entry in wanted if entry["model"] not in known]


def _model_name(entry: Json) -> str:
    return as_text(entry.get("model")) or as_text(entry.get("id"))


def _unusable(problem: str) -> Conflict:
    return Conflict(
        f"Nothing was changed: {DISPLAY_PATH} cannot be edited here, because {problem}.",
        hint="Correct the file and try again.",
    )
