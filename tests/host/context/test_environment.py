"""The engine's context from a real workspace, and text that must never be in it."""

from __future__ import annotations

import base64
import io
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PIL import Image

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.engine.environment.snapshot import (
    InstructionSet,
    SourceText,
    WorkspaceFact,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.images import LONGEST_SIDE
from jupyter_ai_shoulders.host.context.attachment_content import LONG, AttachmentReader
from jupyter_ai_shoulders.host.context.environment import InstructionSources, WorkspaceEnvironment
from jupyter_ai_shoulders.host.context.text_file_content import FILE_LIMIT
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CellId, MessageId, PartId, SessionId
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    CellAttachment,
    ErrorAttachment,
    FileAttachment,
    FolderAttachment,
    ImageAttachment,
    MessageContext,
    OutputAttachment,
    SelectionAttachment,
    ThreadAttachment,
    VariableAttachment,
)
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart
from jupyter_ai_shoulders.wire.sessions import Session, TextRange
from jupyter_ai_shoulders.wire.versions import text_version
from tests.engine.engine_harness import SESSION, make_session

KEY = "sk-ant-REDACTMEREDACTMEREDACTME"
PATH = "a.ipynb"


class OneKernel:
    """A kernel for one notebook."""

    def __init__(self, state: str) -> None:
        self.state = state

    async def find(self, path: str) -> KernelHandle | None:
        if path != PATH:
            return None
        manager = SimpleNamespace(execution_state=self.state)
        return KernelHandle("k1", "ir", "R", manager, cast("Any", None))

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        raise AssertionError

    async def spec(self, name: str | None) -> KernelSpec:
        raise AssertionError

    async def interrupt(self, kernel_id: str) -> None:
        raise AssertionError

    async def restart(self, kernel_id: str) -> None:
        raise AssertionError

    async def running(self) -> Sequence[RunningKernel]:
        return ()

    async def installed(self) -> Sequence[KernelSpec]:
        return ()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        raise AssertionError


@dataclass
class WorkspaceSetup:
    """A workspace on the disk, and the engine's view of it."""

    root: Path
    store: MemoryStore
    around: WorkspaceEnvironment

    def write(self, name: str, content: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    async def capture(self, attachment: Attachment, *, images: bool = True) -> AttachmentContent:
        asking = self.store.get(SESSION)
        found = await self.around.capture(attachment, asking, images=images)
        assert found is not None
        return found

    async def text(self, attachment: Attachment) -> str:
        (part,) = (await self.capture(attachment)).content
        assert isinstance(part, TextPart)
        return part.text


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[WorkspaceSetup]:
    root = tmp_path / "root"
    root.mkdir()
    store = MemoryStore()
    store.add(make_session(owner="ann"))
    workspace = Workspace(root)
    picture = base64.b64encode(png(5, 5)).decode()
    cells = [
        memory_cell("c1", "x = 1"),
        memory_cell(
            "c2",
            "boom()",
            outputs=[
                {"output_type": "stream", "name": "stdout", "text": f"key {KEY}"},
                {
                    "output_type": "error",
                    "ename": "NameError",
                    "evalue": "no boom",
                    "traceback": [],
                },
                {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}},
            ],
        ),
    ]
    notebooks = MemoryNotebooks(MemoryNotebook(PATH, cells))
    redact = Redactor([KEY]).redact
    captures = AttachmentReader(
        workspace=workspace,
        notebooks=notebooks,
        blobs=store.blobs,
        log=store,
        sessions=store,
        redact=redact,
        is_named=lambda _blob, _owner: True,
    )
    places = InstructionSources(workspace, root / ".shoulders", {"LANG": "de_DE.UTF-8"})
    yield WorkspaceSetup(
        root, store, WorkspaceEnvironment(places, OneKernel("busy"), captures, redact, store.clock)
    )
    workspace.close()


def png(width: int, height: int) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (width, height)).save(made, "PNG")
    return made.getvalue()


def file(path: str) -> FileAttachment:
    return FileAttachment(kind="file", path=path)


# instructions and skills


async def test_empty_workspace_has_only_what_ships(setup: WorkspaceSetup):
    standing = await setup.around.load_instructions()
    assert [skill.name for skill in standing.skills] == ["shoulders-meta"]
    assert standing == InstructionSet(skills=standing.skills, locale="de_DE")
    shipped = await setup.around.skill(standing.skills[0])
    assert shipped is not None
    assert "What works" in shipped.text


async def test_instructions_are_read_first_found_of_the_other_names(setup: WorkspaceSetup):
    setup.write(".shoulders/system.md", "House rules.")
    setup.write("_instructions.md", "Use metres.")
    setup.write("CLAUDE.md", "Second.")
    setup.write("AGENTS.md", "First.")
    standing = await setup.around.load_instructions()
    assert standing.system == SourceText(".shoulders/system.md", "House rules.")
    assert standing.instructions == (
        SourceText("_instructions.md", "Use metres."),
        SourceText("AGENTS.md", "First."),
    )
    setup.write(".hermes.md", "Before all.")
    assert (await setup.around.load_instructions()).instructions[1].source == ".hermes.md"


async def test_link_out_of_the_workspace_is_refused_and_said(setup: WorkspaceSetup, tmp_path: Path):
    (tmp_path / "passwd").write_text("root:x")
    (setup.root / "AGENTS.md").symlink_to(tmp_path / "passwd")
    (setup.root / "_instructions.md").mkdir()
    standing = await setup.around.load_instructions()
    assert standing.instructions == ()
    assert [problem.split(" is not used")[0] for problem in standing.problems] == [
        "AGENTS.md",
        "_instructions.md",
    ]


async def test_link_to_a_secret_file_is_refused(setup: WorkspaceSetup):
    setup.write(".env", "PASSWORD=a")
    setup.write(".shoulders/tools.json", "PASSWORD=b")
    setup.write(".agents/skills/x/y.md", "")
    (setup.root / "AGENTS.md").symlink_to(".env")
    (setup.root / ".agents/skills/x/SKILL.md").symlink_to("../../../.env")
    (setup.root / ".shoulders/system.md").symlink_to("tools.json")
    standing = await setup.around.load_instructions()
    assert "PASSWORD" not in str(standing)
    assert len([problem for problem in standing.problems if "holds secrets" in problem]) == 3
    with pytest.raises(PolicyRefusal):
        await setup.around.skill(Skill("x", "", ".agents/skills/x/SKILL.md"))


async def test_keys_in_instructions_and_skills_are_taken_out(setup: WorkspaceSetup):
    setup.write("_instructions.md", f"Use {KEY}.")
    setup.write(".agents/skills/x/SKILL.md", f"Use {KEY}.")
    standing = await setup.around.load_instructions()
    assert KEY not in str(standing)
    assert KEY not in str(await setup.around.skill(standing.skills[0]))


async def test_many_and_huge_skills_are_soon_read(setup: WorkspaceSetup):
    for number in range(60):
        setup.write(f".agents/skills/s{number:02}/SKILL.md", "Say so.")
    described = "---\n" + "".join(f"a{n}: {{b: [1, 2]}}\n" for n in range(20_000)) + "---\nDo.\n"
    setup.write(".agents/skills/a/SKILL.md", described)
    since = time.process_time()  # other processes may interrupt us; only our own time counts
    standing = await setup.around.load_instructions()
    assert time.process_time() - since < 2
    assert len(standing.skills) == 40


async def test_huge_file_of_instructions_is_not_read_whole(setup: WorkspaceSetup):
    setup.write("_instructions.md", "x" * 5_000_000)
    standing = await setup.around.load_instructions()
    assert len(standing.instructions[0].text) == 1_000_000


async def test_skills_are_found_in_the_manifest_and_in_three_folders(setup: WorkspaceSetup):
    listed = [{"name": "listed", "description": "Listed.", "path": "listed"}]
    setup.write(".shoulders/skills/skills.json", json.dumps({"skills": listed}))
    for place in (".shoulders", ".agents", ".project"):
        setup.write(f"{place}/skills/from{place[1:]}/SKILL.md", f"# In {place}")
    setup.write(".shoulders/skills/listed/SKILL.md", "# Listed\nDo it.")
    setup.write(".agents/skills/empty/notes.txt", "no skill")
    skills = {skill.name: skill for skill in (await setup.around.load_instructions()).skills}
    assert list(skills) == [
        "listed",
        "fromshoulders",
        "fromagents",
        "fromproject",
        "shoulders-meta",
    ]
    assert await setup.around.skill(skills["listed"]) == SkillText("# Listed\nDo it.")
    assert await setup.around.skill(skills["fromagents"]) == SkillText("# In .agents")


# the situation


async def test_project_files_and_kernel_are_told(setup: WorkspaceSetup):
    setup.write("pyproject.toml", "")
    setup.write("renv.lock", "")
    setup.write("data/x.csv", "")
    situation = await setup.around.situation(MessageContext(active_document=PATH))
    assert situation.language == "r"
    assert situation.facts == (
        WorkspaceFact("kernel of the active document", "ir, R, busy"),
        WorkspaceFact("project", "Python (pyproject.toml), R (renv.lock)"),
        WorkspaceFact(
            "files of the workspace",
            "data/\ndata/x.csv\npyproject.toml\nrenv.lock",
            is_data=True,
        ),
    )


async def test_document_without_a_kernel_has_none(setup: WorkspaceSetup):
    situation = await setup.around.situation(MessageContext(active_document="b.ipynb"))
    assert situation.language is None
    assert "kernel" not in str(situation.facts)


# attachments


async def test_file_is_shown_whole_and_counts_as_read(setup: WorkspaceSetup):
    setup.write("data.csv", "ä,b\n1,2\n")
    captured = await setup.capture(file("./data.csv"))
    assert captured.content == (TextPart(text="ä,b\n1,2\n"),)
    assert [(seen.path, len(seen.version)) for seen in captured.seen] == [("data.csv", 64)]


async def test_file_is_known_by_the_version_that_the_tools_ask_for(setup: WorkspaceSetup):
    setup.write("win.txt", "größe\r\nzwei\r\n".encode("cp1252"))
    [seen] = (await setup.capture(file("win.txt"))).seen
    assert seen.version == text_version("größe\nzwei\n")


async def test_large_file_is_cut_with_a_note_and_does_not_count_as_read(setup: WorkspaceSetup):
    setup.write("big.txt", "é" * 100_000)
    captured = await setup.capture(file("big.txt"))
    assert captured.note == "only its first 50 KB of 195 KB are shown"
    assert captured.content == (TextPart(text="é" * (FILE_LIMIT // 2)),)
    assert (captured.seen, captured.warn) == ((), True)


NOT_TEXT = {
    "a.bin": (b"\0\1\2", "a binary file of 1 KB, not shown"),
    "a.pdf": (b"%PDF-1.7 ...", "a PDF of 1 KB, which cannot be read here"),
}


@pytest.mark.parametrize(("name", "found"), NOT_TEXT.items(), ids=NOT_TEXT.keys())
async def test_what_is_no_text_is_said(setup: WorkspaceSetup, name: str, found: tuple[bytes, str]):
    setup.write(name, found[0])
    captured = await setup.capture(file(name))
    assert (captured.content, captured.note, captured.warn) == ((), found[1], True)


ENCODED = {"utf-16": "utf-16", "utf-8 with a mark": "utf-8-sig", "latin": "cp1252"}


@pytest.mark.parametrize("encoding", ENCODED.values(), ids=ENCODED.keys())
async def test_other_encodings_are_read(setup: WorkspaceSetup, encoding: str):
    setup.write("a.txt", "äöü ß é à ü".encode(encoding))
    assert await setup.text(file("a.txt")) == "äöü ß é à ü"


REFUSED = {
    "secret": ".env",
    "secret by a link": "harmless.txt",
    "state": ".shoulders/state.db",
    "outside": "../outside.txt",
    "outside by a link": "link.txt",
    "gone": "missing.txt",
    "a folder": "folder",
    "gone notebook": "missing.ipynb",
}


@pytest.mark.parametrize("path", REFUSED.values(), ids=REFUSED.keys())
async def test_content_of_other_files_is_refused(setup: WorkspaceSetup, path: str):
    setup.write(".env", "TOP SECRET")
    setup.write(".shoulders/state.db", "TOP SECRET")
    setup.write("folder/x", "")
    (setup.root / "harmless.txt").symlink_to(".env")
    (setup.root.parent / "outside.txt").write_text("TOP SECRET")
    (setup.root / "link.txt").symlink_to(setup.root.parent / "outside.txt")
    with pytest.raises(ShouldersError) as refused:
        await setup.capture(file(path))
    assert "TOP SECRET" not in str(refused.value)


async def test_selection_in_a_secret_file_is_refused(setup: WorkspaceSetup):
    where = TextRange.model_validate({"from": 0, "to": 3})
    picked = SelectionAttachment(
        kind="selection", path=".env", cell_id=None, range=where, text="KEY", before="", after=""
    )
    with pytest.raises(ShouldersError):
        await setup.capture(picked)


async def test_folder_is_listed(setup: WorkspaceSetup):
    setup.write("data/a.csv", "")
    setup.write("data/deep/b.csv", "")
    folder = FolderAttachment(kind="folder", path="data")
    assert await setup.text(folder) == "data/a.csv\ndata/deep/\ndata/deep/b.csv"
    with pytest.raises(NotFound):
        await setup.capture(FolderAttachment(kind="folder", path="data/a.csv"))


async def test_notebook_and_cell_are_shown_as_the_tools_show_them(setup: WorkspaceSetup):
    whole = await setup.capture(file(PATH))
    assert "--- cell 1 · id=c1 · code · not run\nx = 1" in str(
        whole.content[0].model_dump()["text"]
    )
    assert [seen.cell_id for seen in whole.seen] == ["c1", "c2"]
    cell = await setup.capture(CellAttachment(kind="cell", path=PATH, cell_id=CellId("c1")))
    assert [seen.cell_id for seen in cell.seen] == ["c1"]
    with pytest.raises(NotFound):
        await setup.capture(CellAttachment(kind="cell", path=PATH, cell_id=CellId("c9")))


async def test_outputs_and_errors_are_shown_without_keys(setup: WorkspaceSetup):
    def output(index: int) -> OutputAttachment:
        return OutputAttachment(kind="output", path=PATH, cell_id=CellId("c2"), index=index)

    assert await setup.text(output(0)) == "--- output of cell 2\nkey [redacted]"
    error = ErrorAttachment(kind="error", path=PATH, cell_id=CellId("c2"))
    assert await setup.text(error) == "--- output of cell 2\nNameError: no boom"
    plotted = await setup.capture(output(2))
    assert [part.type for part in plotted.content] == ["text", "image"]
    unseen = await setup.capture(output(2), images=False)
    assert [part.type for part in unseen.content] == ["text"]
    assert unseen.note == "a picture of 5 × 5 pixels, which this model cannot read"
    gone = await setup.capture(output(7))
    assert (gone.content, gone.note) == ((), "cell 2 no longer has this output")


async def test_picture_is_made_to_fit_whatever_it_says_it_is(setup: WorkspaceSetup):
    data = base64.b64encode(png(4_000, 100)).decode()
    blob = setup.store.blobs.put(png(10, 10))
    image = ImageAttachment(kind="image", media_type="image/jpeg", data=data, blob=None)
    (shrunk,) = (await setup.capture(image)).content
    assert isinstance(shrunk, ImagePart)
    assert shrunk.media_type == "image/png"
    assert Image.open(io.BytesIO(base64.b64decode(shrunk.data))).width == LONGEST_SIDE
    stored = ImageAttachment(kind="image", media_type="image/png", data=None, blob=blob)
    (same,) = (await setup.capture(stored)).content
    assert same == ImagePart(media_type="image/png", data=base64.b64encode(png(10, 10)).decode())
    setup.write("plot.png", png(10, 10))
    assert (await setup.capture(file("plot.png"))).content == (same,)
    for bad in ("no base64!", base64.b64encode(b"<svg/>").decode()):
        with pytest.raises(ShouldersError):
            await setup.capture(image.model_copy(update={"data": bad}))


async def test_large_picture_is_decoded_whole_or_not_at_all(setup: WorkspaceSetup):
    noise = Image.frombytes("RGB", (300, 300), random.Random(5).randbytes(270_000))
    made = io.BytesIO()
    noise.save(made, "PNG")
    data = base64.b64encode(made.getvalue()).decode()
    assert len(data) > 3 * LONG
    image = ImageAttachment(kind="image", media_type="image/png", data=data, blob=None)
    assert (await setup.capture(image)).content == (ImagePart(media_type="image/png", data=data),)
    for bad in (f"{data[:LONG]}!{data[LONG + 1 :]}", f"AA=={data}"):
        with pytest.raises(InvalidRequest):
            await setup.capture(image.model_copy(update={"data": bad}))


async def test_variable_is_only_named(setup: WorkspaceSetup):
    named = await setup.capture(VariableAttachment(kind="variable", path=PATH, name="df"))
    assert (named.content, named.note) == ((), "its value is not included")


def thread(name: str) -> ThreadAttachment:
    return ThreadAttachment(kind="thread", session_id=SessionId(name))


def converse(store: MemoryStore, other: Session, count: int) -> None:
    store.add(other)
    for number in range(count):
        text = f"Question {number} {'x' * 2_000}"
        store.append(other.id, ev.MessageAdd(message_id=MessageId(f"m{number}"), text=text))
        part = PartId(f"p{number}")
        store.append(other.id, ev.TextStart(part_id=part))
        for word in ("Answer ", f"{number}."):
            store.append(other.id, ev.TextDelta(part_id=part, text=word))
        store.append(other.id, ev.TextEnd(part_id=part))


async def test_other_conversation_is_told_by_its_last_messages(setup: WorkspaceSetup):
    converse(setup.store, make_session(id=SessionId("s2"), owner="ann", title="Plots\nand so"), 6)
    captured = await setup.capture(thread("s2"))
    (part,) = captured.content
    assert isinstance(part, TextPart)
    assert captured.note == "“Plots and so”, its last messages"
    assert part.text.startswith("User: Question 2 xxx")
    assert part.text.endswith("Agent: Answer 5.")
    assert "[…]" in part.text
    assert len(part.text) < 8_000


async def test_conversation_of_somebody_else_is_not_there(setup: WorkspaceSetup):
    converse(setup.store, make_session(id=SessionId("s2"), owner="bob"), 1)
    errors: list[str] = []
    for name in ("s2", "s9"):
        with pytest.raises(NotFound) as refused:
            await setup.capture(thread(name))
        errors.append(str(refused.value))
    assert errors[0] == errors[1]
