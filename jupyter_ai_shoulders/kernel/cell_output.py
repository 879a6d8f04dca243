"""Output of a cell with a magic: a display that is updated, lines, input, and tables.

Implements ``magic_turn.TurnDisplay``; made by ``magics``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from getpass import getpass
from typing import Any

from jupyter_ai_shoulders.client.lazy_imports import wire
from jupyter_ai_shoulders.kernel.answer_rendering import Bundle, markdown_bundle
from jupyter_ai_shoulders.wire.hidden_characters import legible, visible


class CellTurnDisplay:
    """The output of the running cell."""

    def __init__(self, render: Callable[[str], Bundle] = markdown_bundle) -> None:
        """``render`` makes the display data of an unfinished answer."""
        self._render = render
        self._handle: Any = None

    def show(self, text: str) -> None:
        """See ``TurnDisplay.show``."""
        self.put(self._render(text))

    def put(self, data: Bundle) -> None:
        """Replace the shown data."""
        from IPython.display import DisplayHandle

        handle: Any = self._handle or DisplayHandle()
        show = handle.display if self._handle is None else handle.update
        show(data, raw=True)
        self._handle = handle

    def write_line(self, line: str) -> None:
        """See ``TurnDisplay.write_line``."""
        sys.stdout.write(f"{legible(line)}\n")
        sys.stdout.flush()

    def ask(self, prompt: str, *, password: bool = False) -> str:
        """See ``TurnDisplay.ask``."""
        question = visible(prompt)
        return getpass(question) if password else input(question)


def cost_text(usage: wire.Usage, session: wire.Session | None) -> str:
    """Return spending and limits as Markdown; unknown prices are named, not counted as zero."""
    if usage.total is None:
        reason = usage.error.message if usage.error else "the ledger cannot be read"
        return f"What was spent is not known: {reason}"
    total = usage.total
    spent = dollars(total.known_cost_micro_usd if total.calls else 0)
    lines = [f"This month: **{spent}** in {total.calls} calls."]
    if total.unknown_cost_calls:
        lines.append(f"The price of {total.unknown_cost_calls} of them is not known.")
    lines += [
        f"Limit for each {limit.scope}: {dollars(limit.limit_micro_usd)}."
        for limit in usage.budget.limits
        if limit.limit_micro_usd is not None
    ]
    if session is not None:
        lines.append(f"This conversation: {dollars(session.cost_micro_usd)}.")
    return "\n\n".join(lines)


def models_text(listed: wire.ModelList) -> str:
    """Return a table of the models; unavailable ones say why."""
    rows = [_row(model, is_default=model.id == listed.default) for model in listed.models]
    return "\n".join(["| model | of | |", "|---|---|---|", *rows])


def dollars(micro_usd: int | None) -> str:
    """Return an amount in dollars, with four digits where cents would hide it."""
    if micro_usd is None:
        return "an unknown amount"
    amount = micro_usd / 1_000_000
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def _row(model: wire.ModelInfo, *, is_default: bool) -> str:
    note = "default" if is_default else ""
    if not model.available:
        note = model.unavailable_reason or "cannot answer"
    cells = (f"`{model.id}`", model.provider_name, " · ".join(filter(None, (model.label, note))))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
