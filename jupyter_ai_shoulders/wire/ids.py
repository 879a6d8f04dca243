"""Identifiers: one NewType per kind of object, so that they cannot be mixed up.

Used by every layer. All are strings on the wire. The server makes them (``core.clock.IdSource``),
except ``MessageId`` and ``ClientId`` (made by the client) and ``CellId`` (made with the cell).
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
"""A call that continues after its step, as named to the model."""
CellId = NewType("CellId", str)
RestoreId = NewType("RestoreId", str)
BlobHash = NewType("BlobHash", str)
ModelId = NewType("ModelId", str)
ProviderId = NewType("ProviderId", str)
Version = NewType("Version", str)
"""The version of a cell or file, see ``wire.versions``."""
