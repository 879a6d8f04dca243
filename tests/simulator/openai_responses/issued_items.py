"""Items the simulator issued: encrypted reasoning, and the item that belongs to each.

``reply`` issues them, ``item_rules`` verifies them when they return.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from tests.simulator.signed_state import seal_content, unseal_content

PREFIX = "gAAAAAB"
"""What encrypted content begins with."""


class Sealed(BaseModel):
    """What encrypted content holds: whose it is."""

    model_config = ConfigDict(frozen=True)
    id: str
    model: str


def encrypt(item_id: str, model: str) -> str:
    """Return the encrypted content of a reasoning item."""
    return PREFIX + seal_content(Sealed(id=item_id, model=model).model_dump_json().encode())


def decrypt(content: str) -> Sealed | None:
    """Return what encrypted content holds, or None when it was not made here."""
    opened = unseal_content(content.removeprefix(PREFIX))
    return None if opened is None else Sealed.model_validate_json(opened)


@dataclass(frozen=True, slots=True)
class IssuedItem:
    """An item of an answer. ``reasoning``: the id of the reasoning item it must come back with."""

    kind: str
    stored: bool
    reasoning: str | None


@dataclass(slots=True)
class IssuedItems:
    """All items issued, by id."""

    items: dict[str, IssuedItem] = field(default_factory=dict[str, IssuedItem])

    def is_stored(self, item_id: str) -> bool:
        """Return whether the service kept the item."""
        return item_id in self.items and self.items[item_id].stored

    def reasoning_of(self, item_id: str | None) -> str | None:
        """Return the reasoning item that belongs to an item."""
        found = self.items.get(item_id or "")
        return found.reasoning if found else None
