"""Identifiers: one NewType per kind of thing, so that they cannot be mixed up.

Used by every layer. All are strings on the wire; the server makes them (``core.ids``), except
``MessageId`` and ``ClientId`` (made by the client) and ``CellId`` (made by whoever made the cell).
"""

from __future__ import annotations

from typing import NewType

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
PartId = NewType("PartId", str)
CallId = NewType("CallId", str)
EditId = NewType("EditId", str)
ProposalId = NewType("ProposalId", str)
ClientId = NewType("ClientId", str)
OperationId = NewType("OperationId", str)
RunId = NewType("RunId", str)
LongRunId = NewType("LongRunId", str)
"""A call that goes on after its step; the model's handle on it."""
CellId = NewType("CellId", str)
RestoreId = NewType("RestoreId", str)
BlobHash = NewType("BlobHash", str)
ModelId = NewType("ModelId", str)
ProviderId = NewType("ProviderId", str)
Version = NewType("Version", str)
"""A cell's or a file's version, see ``wire.versions``."""
