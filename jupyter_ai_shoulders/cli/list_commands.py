"""``search``, ``sessions``, ``export``, ``usage``, ``models`` and ``keys``; run by ``dispatch``."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.export import FORMATS, write_export
from jupyter_ai_shoulders.cli.output import write_error, write_json, write_out
from jupyter_ai_shoulders.client.search_text import search_text
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryChange, PostMemory
from jupyter_ai_shoulders.wire.api.responses import ProviderHealth
from jupyter_ai_shoulders.wire.api.search import (
    SEARCH_QUERY_LIMIT,
    SEARCH_RESULT_LIMIT,
    SearchQuery,
)
from jupyter_ai_shoulders.wire.hidden_characters import legible
from jupyter_ai_shoulders.wire.usage import UsageRow

SEARCH_WAIT_SECONDS = 60.0
"""How long to wait for the index: the first search in a large folder builds it."""


def search(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Show the places of the workspace that match best."""
    query = SearchQuery(
        q=" ".join(options.query)[:SEARCH_QUERY_LIMIT],
        path=options.path,
        kind=options.kind,
        limit=min(options.limit, SEARCH_RESULT_LIMIT),
        wait_s=SEARCH_WAIT_SECONDS,
    )
    found = backend.search(query)
    if options.json:
        return print_json(found)
    write_out(search_text(found))
    return ExitCode.OK


def sessions(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """List conversations."""
    found = backend.sessions(options.kind, options.text, options.limit)
    if options.json:
        return print_json(found)
    rows = [(s.id, s.kind, s.status, s.updated_at[:16], s.title) for s in found.sessions]
    return print_table(
        ("id", "kind", "status", "updated (UTC)", "title"), rows, "No conversations."
    )


def export(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Write a conversation to standard output, or to a file. Raises ``CommandFailed``."""
    given: str | None = options.output
    form = options.format or FORMATS.get(Path(given or "").suffix, "md")
    text = backend.export(options.session, form)
    if given is None:
        write_out(text)
    else:
        write_export(given, text, replace=True)
    return ExitCode.OK


def usage(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Show this month's usage."""
    found = backend.usage(options.by)
    if options.json:
        return print_json(found)
    rows = [*found.rows, *((found.total,) if found.total else ())]
    table = [
        ("all" if row is found.total else row.key or "-", row.calls, *_tokens(row), _cost(row))
        for row in rows
    ]
    print_table(
        (options.by, "calls", "tokens in", "tokens out", "cost"), table, "Nothing was used."
    )
    for limit in found.budget.limits:
        if limit.limit_micro_usd is not None:
            write_out(f"limit for each {limit.scope}: {_dollars(limit.limit_micro_usd)}\n")
    if found.error is not None:
        write_error(f"{found.error.message}\n")
        return ExitCode.ERROR
    return ExitCode.OK


def models(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """List models; unavailable ones say why."""
    found = backend.models()
    if options.json:
        return print_json(found)
    rows = [
        (
            model.id + (" (default)" if model.id == found.default else ""),
            model.provider_name,
            "ready" if model.available else model.unavailable_reason or "cannot answer",
        )
        for model in found.models
    ]
    for problem in found.problems:
        write_error(f"{problem.file}: {problem.message}\n")
    return print_table(("model", "provider", "state"), rows, "No models.")


def memory(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Show what is remembered, add a statement, or remove one."""
    match options.action:
        case "add":
            added = backend.remember(PostMemory(text=options.what, scope=options.scope))
            return _say_memory(added, as_json=options.json)
        case "forget":
            return _say_memory(backend.forget(options.what), as_json=options.json)
        case _:
            found = backend.memory()
    if options.json:
        return print_json(found)
    if not found.enabled:
        write_error("The memory is switched off.\n")
        return ExitCode.OK
    for file in found.files:
        if file.error is not None:
            write_error(f"{file.path}: {file.error.message}\n")
    rows = [
        (each.id, each.date or "-", "" if each.state == "trusted" else each.state, each.text)
        for file in found.files
        for each in file.statements
    ]
    return print_table(("id", "date", "review", "statement"), rows, "Nothing is remembered.")


def _say_memory(change: MemoryChange, *, as_json: bool) -> ExitCode:
    if as_json:
        return print_json(change)
    said = "Forgot" if change.kind == "forgot" else "Remembered"
    replaced = f" (instead of: {change.previous})" if change.previous is not None else ""
    statement = change.statement
    write_out(legible(f"{said} {statement.id}: {statement.text}{replaced}") + "\n")
    return ExitCode.OK


def keys(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Show, store or remove keys; a key is typed or piped in, never an argument."""
    match options.action:
        case "set":
            _known(backend, options.provider)
            _say_key(backend.set_key(options.provider, _typed_key(options.provider)))
        case "remove":
            _known(backend, options.provider)
            _say_key(backend.remove_key(options.provider))
        case "test":
            _known(backend, options.provider)
            return _test(backend, options.provider)
        case _:
            rows = [_key_row(provider) for provider in backend.models().providers]
            return print_table(("provider", "key", "from", "variable"), rows, "No providers.")
    return ExitCode.OK


def _test(backend: Backend, provider: str) -> ExitCode:
    tried = backend.test(provider)
    if tried.ok:
        write_out(f"{provider}: {tried.model} answers in {tried.duration_ms} ms\n")
        return ExitCode.OK
    said = "it does not work" if tried.error is None else tried.error.message
    write_error(f"{provider}: {said}\n")
    return ExitCode.ERROR


def _known(backend: Backend, provider: str) -> None:
    names = [each.id for each in backend.models().providers]
    if provider not in names:
        raise UsageError(f"There is no provider {provider}; there are {', '.join(names)}.")


def _typed_key(provider: str) -> str:
    typed = (
        getpass.getpass(f"Key of {legible(provider)}: ")
        if sys.stdin.isatty()
        else sys.stdin.readline()
    )
    if not typed.strip():
        raise UsageError("No key was given.")
    return typed.strip()


def _say_key(provider: ProviderHealth) -> None:
    write_out(": ".join(_key_row(provider)[:2]) + "\n")


def _key_row(provider: ProviderHealth) -> tuple[str, str, str, str]:
    key = f"set, ends in {provider.key_last4}" if provider.key_set else "not set"
    if not provider.needs_key and not provider.key_set:
        key = "none needed"
    return provider.id, key, provider.key_source, provider.key_name or ""


def _tokens(row: UsageRow) -> tuple[int, int]:
    return row.input_tokens, row.output_tokens


def _cost(row: UsageRow) -> str:
    known = _dollars(row.known_cost_micro_usd)
    return f"{known} + {row.unknown_cost_calls} unknown" if row.unknown_cost_calls else known


def _dollars(micro_usd: int | None) -> str:
    return "unknown" if micro_usd is None else f"${micro_usd / 1_000_000:.4f}"


def print_json(model: BaseModel) -> ExitCode:
    """Print an answer for programs."""
    write_json(model.model_dump(mode="json", by_alias=True))
    return ExitCode.OK


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> ExitCode:
    """Print rows in columns; the last column is not padded."""
    if not rows:
        write_error(f"{empty}\n")
        return ExitCode.OK
    texts = [[legible(str(cell)).replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        write_out("  ".join(cells).rstrip() + "\n")
    return ExitCode.OK
