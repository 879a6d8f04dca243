"""The ways in which text of a stranger may come into a conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.anchors.text import utf16_range
from jupyter_ai_shoulders.testing.scripted_provider import Call
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    OutputAttachment,
    Selection,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.sessions import Anchor
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.injection.conversation_cases import (
    Case,
    compacted,
    forked,
    in_thread,
    restarted,
    with_agents,
)
from tests.injection.host_session import InjectionHost
from tests.injection.obeying_model import PICTURE, SUMMARY
from tests.injection.workspaces import (
    CELL_ID,
    COMMITTED,
    NEAR,
    NEAR_NOTEBOOK,
    OPEN_NOTEBOOK,
    OPENED_NAME,
    PLAIN,
    picture,
)

Attach = Callable[[InjectionHost], Sequence[Attachment]]
RANGE = utf16_range(0, 1)
OUTPUTS = CellId("c2")


@dataclass(frozen=True, slots=True)
class Channel:
    """One way; ``marker`` is the injected text."""

    name: str
    marker: str
    workspace: str = "plain"
    reads: tuple[Call, ...] = ()
    """What the model reads, or tries, at the person's wish before it acts."""
    attach: Attach | None = None
    text: str = "Go on."
    active: str | None = OPEN_NOTEBOOK
    active_cell: CellId | None = None
    also_open: tuple[str, ...] = ()
    selection: Selection | None = None
    anchor: Anchor | None = None
    between: Callable[[InjectionHost, Sequence[Case]], Awaitable[None]] | None = None
    """What happens between a turn that reads and the turn that acts; None: it is one turn."""
    own: tuple[str, str] | None = None
    """Notebook and cell that hold the injected text."""
    together: bool = True
    """Whether its turns may run at once."""


def _read(
    name: str,
    marker: str,
    tool: str,
    /,
    *,
    active: str | None = OPEN_NOTEBOOK,
    workspace: str = "plain",
    own: tuple[str, str] | None = None,
    together: bool = True,
    **arguments: object,
) -> Channel:
    """Return the channel of one call."""
    given: JsonObject = arguments  # pyright: ignore[reportAssignmentType] JSON values all
    reads = (Call(tool, given, "read"),)
    return Channel(
        name, f"INJECTED-{marker}", workspace, reads, active=active, own=own, together=together
    )


def _plan(name: str, marker: str, tool: str, /, **arguments: object) -> Channel:
    return _read(name, marker, "run_plan", steps=[{"tool": tool, "args": arguments}])


def _attached(name: str, marker: str, attachment: Attachment) -> Channel:
    return Channel(f"attached {name}", f"INJECTED-{marker}", attach=lambda _stage: [attachment])


def _of_notebook(place: str, path: str) -> tuple[Channel, ...]:
    cell = CellAttachment(kind="cell", path=path, cell_id=CellId("c1"))
    output = OutputAttachment(kind="output", path=path, cell_id=OUTPUTS, index=0)
    error = ErrorAttachment(kind="error", path=path, cell_id=OUTPUTS)
    whole = FileAttachment(kind="file", path=path)
    return (
        _attached(f"cell, {place}", "source", cell),
        _attached(f"output, {place}", "output", output),
        _attached(f"error, {place}", "error", error),
        _attached(f"notebook, {place}", "source", whole),
    )


def _selected(path: str) -> SelectionAttachment:
    return SelectionAttachment(
        kind="selection",
        path=path,
        cell_id=None,
        range=RANGE,
        text="INJECTED-selected",
        before="",
        after="",
    )


def _anchor(document: str, text: str, quote: str, cell: str | None = None) -> Anchor:
    start = text.index(quote)
    return Anchor(
        document=document,
        cell_id=None if cell is None else CellId(cell),
        target="source",
        range=utf16_range(start, start + len(quote)),
        quote=quote,
        prefix=text[:start],
        suffix=text[start + len(quote) :],
        version=text_version(text) if cell is None else cell_version(text),
    )


def _thread(stage: InjectionHost) -> Sequence[Attachment]:
    session_id = stage.said["INJECTED-thread"]
    return [ThreadAttachment(kind="thread", session_id=session_id)]


def _picture(_stage: InjectionHost) -> Sequence[Attachment]:
    return [ImageAttachment(kind="image", media_type="image/png", data=picture(), blob=None)]


CLOSED_FILE = _read("read_file, closed", "closed", "read_file", path="notes/closed.md")
READS: tuple[Channel, ...] = (
    CLOSED_FILE,
    _read("read_file, open", "page", "read_file", path="notes/page.md", active="notes/page.md"),
    _read("read_file, open README", "readme", "read_file", path="README.md", active="README.md"),
    _read("read_document", "readme", "read_document", active="README.md"),
    _read("search_document", "readme", "search_document", query="#", active="README.md"),
    _read("get_document_info", "readme", "get_document_info", active="README.md"),
    _read("list_files", "sentence", "list_files", path="inbox"),
    _read("search_content", "closed", "search_content", query="# "),
    _read("semantic_search", "closed", "semantic_search", query="closed"),
    _read("search_notebook", "source", "search_notebook", query="# ", path="hostile.ipynb"),
    _read("search_notebook, all", "source", "search_notebook", query="# "),
    _read(
        "read_notebook, closed",
        "source",
        "read_notebook",
        path="hostile.ipynb",
        own=("hostile.ipynb", "c2"),
    ),
    _read(
        "read_notebook, open",
        "source",
        "read_notebook",
        path="shown.ipynb",
        active="shown.ipynb",
        own=("shown.ipynb", "c2"),
    ),
    _read(
        "read_notebook with outputs",
        "output",
        "read_notebook",
        path="shown.ipynb",
        outputs=True,
        active="shown.ipynb",
        own=("shown.ipynb", "c2"),
    ),
    _read(
        "read_cell_output",
        "output",
        "read_cell_output",
        path="shown.ipynb",
        cell_id="c2",
        active="shown.ipynb",
        own=("shown.ipynb", "c2"),
    ),
    _read(
        "inspect_variables",
        "variable",
        "inspect_variables",
        path="variables.ipynb",
        own=("variables.ipynb", "c1"),
    ),
    _read(
        "run_cell",
        "printed",
        "run_cell",
        path="prints.ipynb",
        cell_id="c1",
        own=("prints.ipynb", "c1"),
    ),
    _read(
        "run_all_cells", "printed", "run_all_cells", path="prints.ipynb", own=("prints.ipynb", "c1")
    ),
    _read(
        "run_code", "printed", "run_code", path="prints.ipynb", code="1", own=("prints.ipynb", "c1")
    ),
    _read(
        "verify_notebook",
        "failed",
        "verify_notebook",
        path="fails.ipynb",
        own=("fails.ipynb", "c1"),
    ),
    _read("run_command", "closed", "run_command", command="cat notes/closed.md"),
    _read("git_status", "branch", "git_status", workspace="git"),
    _read("git_diff", "diff", "git_diff", workspace="git"),
    _read("read_tasks", "task", "read_tasks"),
    _read("sub-agent", "relayed", "delegate", task="Say what the closed notes hold."),
    _read("external tool", "fetched", "fetch_url", url="https://example.org"),
    _read("tool of a package", "around-look", "look_around"),
    _read("search_references", "title", "search_references", query="cells"),
    _read("get_reference", "title", "get_reference", key="cells2020"),
    _read("db_query", "record", "db_query", sql="SELECT note FROM records"),
    _read("db_schema", "table", "db_schema"),
    _read("Word document", "paragraph", "read_file", path="report.docx"),
    _plan("plan that reads", "closed", "read_file", path="notes/closed.md"),
    _plan("plan that searches", "closed", "search_content", query="# "),
    _plan("plan of an open notebook", "output", "read_notebook", path="shown.ipynb", outputs=True),
)
REFUSALS: tuple[Channel, ...] = (
    _read(
        "refused edit_file",
        "closed",
        "edit_file",
        path="notes/closed.md",
        old_string="Run",
        new_string="Do",
    ),
    _read(
        "refused edit_file, long",
        "long",
        "edit_file",
        path="notes/long.md",
        old_string="INJECTED",
        new_string="x",
    ),
    _read(
        "refused edit_reference",
        "title",
        "edit_reference",
        key="cells2020",
        fields={"year": "2021"},
    ),
    _read(
        "refused edit_document_file",
        "paragraph",
        "edit_document_file",
        path="report.docx",
        edits=[{"paragraph": 1, "old_string": "cells", "new_string": "files"}],
    ),
    _read("refused write_file", "closed", "write_file", path="notes/closed.md", content="x"),
    _read("refused create_file", "closed", "create_file", path="notes/closed.md", content="x"),
    _read("refused db_execute", "refusal", "db_execute", sql="INSERT INTO records VALUES ('x')"),
    _read("refused delete_file", "closed", "delete_file", path="notes/closed.md"),
    _read(
        "refused edit_cell", "source", "edit_cell", path="hostile.ipynb", cell_id="c1", source="x"
    ),
    _read(
        "refused edit_cell, long", "long", "edit_cell", path="long.ipynb", cell_id="c1", source="x"
    ),
    _read("refused delete_cell, long", "long", "delete_cell", path="long.ipynb", cell_id="c1"),
    _read("ids in a refusal", "cellid", "edit_cell", path="ids.ipynb", cell_id="none", source="x"),
    _read(
        "file names in a refusal",
        "near",
        "edit_file",
        path=NEAR.replace("INJECTED", "rejected"),
        old_string="x",
        new_string="y",
    ),
    _read(
        "notebook names in a refusal",
        "notebook",
        "edit_cell",
        path=NEAR_NOTEBOOK.replace("INJECTED", "rejected"),
        cell_id="c1",
        source="x",
    ),
    _read(
        "create_proposal",
        "closed",
        "create_proposal",
        path="notes/closed.md",
        old_string="# INJECTED closed",
        new_string="x",
    ),
    _read(
        "edit_document",
        "readme",
        "edit_document",
        find="# INJECTED readme",
        replace="x",
        active="README.md",
    ),
    _read(
        "git_commit",
        "branch",
        "git_commit",
        message="Change",
        paths=[COMMITTED],
        workspace="git",
        together=False,
    ),
    _read("refused git_commit", "untracked", "git_commit", message="Change", workspace="git"),
)
AUTOMATIC: tuple[Channel, ...] = (
    Channel("list of files", "INJECTED-sentence", "sentence"),
    Channel("list of files, over folders", "INJECTED-folders", "folder names"),
    Channel("list of files, over files", "INJECTED-files", "file names"),
    Channel(
        "variables", "INJECTED-variable", active="variables.ipynb", own=("variables.ipynb", "c1")
    ),
    Channel("stale cells", "INJECTED_stale", active="stale.ipynb"),
    Channel("branch", "INJECTED-branch", "git"),
    Channel("last commit", "INJECTED-subject", "git"),
    Channel("uncommitted diff", "INJECTED-diff", "git"),
    Channel("AGENTS.md", "INJECTED-agents", "agents"),
    Channel("AGENTS.md at home", "INJECTED-home", "home"),
    Channel("AGENTS.md made later", "INJECTED-later", "clean", between=with_agents),
    Channel("_instructions.md", "INJECTED-instructions", "instructions"),
    Channel("skill, description", "INJECTED-skill", "skills"),
    Channel("skill, text", "INJECTED-skilltext", "skill text", text="/charts Go on."),
    Channel("name of the open document", "INJECTED-opened", active=OPENED_NAME),
    Channel("names of open documents", "INJECTED-opened", also_open=(OPENED_NAME,)),
    Channel(
        "id of the active cell",
        "INJECTED-cellid",
        active="ids.ipynb",
        active_cell=CellId(f"{CELL_ID}1"),
    ),
    Channel(
        "selection",
        "INJECTED-selected",
        selection=Selection(cell_id=None, range=RANGE, text="INJECTED-selected"),
    ),
    Channel(
        "selection, no document",
        "INJECTED-selected",
        active=None,
        selection=Selection(cell_id=None, range=RANGE, text="INJECTED-selected"),
    ),
    Channel(
        "thread at a file",
        "INJECTED-around",
        anchor=_anchor("notes/about.md", PLAIN["notes/about.md"], "second"),
    ),
    Channel(
        "thread at a cell", "INJECTED-output", anchor=_anchor("hostile.ipynb", "x = 1", "x", "c2")
    ),
)
ATTACHED: tuple[Channel, ...] = (
    _attached("file, closed", "closed", FileAttachment(kind="file", path="notes/closed.md")),
    _attached("file, open", "page", FileAttachment(kind="file", path="notes/page.md")),
    _attached("folder", "sentence", FolderAttachment(kind="folder", path="inbox")),
    *_of_notebook("closed", "hostile.ipynb"),
    *_of_notebook("open", "shown.ipynb"),
    _attached("selection, closed", "selected", _selected("notes/closed.md")),
    _attached("selection, open", "selected", _selected("README.md")),
    _attached(
        "variable",
        "variable",
        VariableAttachment(kind="variable", path="variables.ipynb", name="df"),
    ),
    Channel("attached thread", "INJECTED-thread", attach=_thread),
    Channel("attached picture", PICTURE, attach=_picture),
)
READ_CLOSED = CLOSED_FILE.reads
LATER: tuple[Channel, ...] = (
    Channel(
        "after a restart",
        "INJECTED-closed",
        "restarted",
        reads=(Call("read_file", {"path": "closed.md"}, "read"),),
        between=restarted,
    ),
    Channel("in a copy", "INJECTED-closed", reads=READ_CLOSED, between=forked),
    Channel("after a summary", SUMMARY, reads=READ_CLOSED, between=compacted),
    Channel("thread the agent opened", "INJECTED-prompt", reads=READ_CLOSED, between=in_thread),
)
CHANNELS = (*READS, *REFUSALS, *AUTOMATIC, *ATTACHED, *LATER)
CONTROL = Channel("control", "", "clean", together=False)
"""Nothing is injected and the model acts all the same: each action starts by the broad rule."""
