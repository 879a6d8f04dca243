"""Frames of the page socket: those a page sends and those the server sends.

Import frames from here, as ``server.connections.page_socket`` and ``notebook`` do. The models are
defined in ``wire.frame_types``, by sender and for text files.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from jupyter_ai_shoulders.wire.frame_types.files import (
    FileMoved,
    FileRemoved,
    TextApplied,
    TextApply,
    TextChange,
    TextClose,
    TextConflict,
    TextContent,
    TextEditor,
    TextFocus,
    TextOpen,
    TextRead,
    TextRefused,
    TextRename,
    TextSaved,
)
from jupyter_ai_shoulders.wire.frame_types.page import (
    AnnouncedCell,
    CellConflict,
    CellInputAnswer,
    CellRunTaken,
    DocumentApplied,
    DocumentChange,
    DocumentClose,
    DocumentConflict,
    DocumentContent,
    DocumentFocus,
    DocumentOpen,
    DocumentRecoveryAnswer,
    DocumentRefused,
    DocumentRename,
    Hello,
    MessageSend,
    OutputPicture,
    Subscribe,
    Unsubscribe,
)
from jupyter_ai_shoulders.wire.frame_types.server import (
    CellInputEnd,
    CellInputRequest,
    CellRunEnd,
    CellRunOutput,
    CellRunStart,
    DocumentAnnounce,
    DocumentApply,
    DocumentElsewhere,
    DocumentMarks,
    DocumentRead,
    DocumentRecovered,
    DocumentRecovery,
    DocumentSaved,
    EditsUpdate,
    Events,
    FrameError,
    KernelRestart,
    MessageRefused,
    MessageSent,
    OutputDraw,
    RecoveredCell,
    Resync,
    SessionDelete,
    SettingsPart,
    SettingsUpdate,
    ToolsUpdate,
    Welcome,
)

__all__ = [
    "AnnouncedCell",
    "CellConflict",
    "CellInputAnswer",
    "CellInputEnd",
    "CellInputRequest",
    "CellRunEnd",
    "CellRunOutput",
    "CellRunStart",
    "CellRunTaken",
    "DocumentAnnounce",
    "DocumentApplied",
    "DocumentApply",
    "DocumentChange",
    "DocumentClose",
    "DocumentConflict",
    "DocumentContent",
    "DocumentElsewhere",
    "DocumentFocus",
    "DocumentMarks",
    "DocumentOpen",
    "DocumentRead",
    "DocumentRecovered",
    "DocumentRecovery",
    "DocumentRecoveryAnswer",
    "DocumentRefused",
    "DocumentRename",
    "DocumentSaved",
    "EditsUpdate",
    "Events",
    "FileMoved",
    "FileRemoved",
    "FrameError",
    "Hello",
    "KernelRestart",
    "MessageRefused",
    "MessageSend",
    "MessageSent",
    "OutputDraw",
    "OutputPicture",
    "PageFrame",
    "RecoveredCell",
    "Resync",
    "ServerFrame",
    "SessionDelete",
    "SettingsPart",
    "SettingsUpdate",
    "Subscribe",
    "TextApplied",
    "TextApply",
    "TextChange",
    "TextClose",
    "TextConflict",
    "TextContent",
    "TextEditor",
    "TextFocus",
    "TextOpen",
    "TextRead",
    "TextRefused",
    "TextRename",
    "TextSaved",
    "ToolsUpdate",
    "Unsubscribe",
    "Welcome",
]

PageFrame = Annotated[
    Hello
    | Subscribe
    | Unsubscribe
    | MessageSend
    | DocumentOpen
    | DocumentChange
    | DocumentFocus
    | DocumentClose
    | DocumentRename
    | CellRunTaken
    | CellInputAnswer
    | DocumentContent
    | DocumentApplied
    | DocumentConflict
    | DocumentRefused
    | OutputPicture
    | DocumentRecoveryAnswer
    | TextOpen
    | TextChange
    | TextFocus
    | TextClose
    | TextRename
    | TextEditor
    | TextContent
    | TextApplied
    | TextConflict
    | TextRefused,
    Field(discriminator="type"),
]

ServerFrame = Annotated[
    Welcome
    | Events
    | Resync
    | MessageSent
    | MessageRefused
    | DocumentRead
    | DocumentAnnounce
    | DocumentApply
    | DocumentSaved
    | DocumentElsewhere
    | DocumentRecovery
    | DocumentRecovered
    | DocumentMarks
    | CellRunStart
    | CellRunOutput
    | CellInputRequest
    | CellInputEnd
    | CellRunEnd
    | KernelRestart
    | OutputDraw
    | TextRead
    | TextApply
    | TextSaved
    | FileMoved
    | FileRemoved
    | SessionDelete
    | ToolsUpdate
    | SettingsUpdate
    | EditsUpdate
    | FrameError,
    Field(discriminator="type"),
]
