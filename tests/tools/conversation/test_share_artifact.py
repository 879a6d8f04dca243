"""``share_artifact`` keeps copies, and says which of its failures it was."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.conversation import share_artifact
from jupyter_ai_shoulders.tools.conversation.share_artifact import ShareArtifact
from jupyter_ai_shoulders.wire.events import ArtifactShare, ToolResult
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.messages import MessageContext
from tests.engine.engine_harness import SESSION, EngineHarness, make_engine


class ArtifactHarness:
    """A workspace with the tool over it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "data").mkdir()
        (root / "data" / "table.csv").write_text("a,b\n1,2\n")
        (root / "data" / ".hidden").write_text("no")
        (root / "report.md").write_text("# Report")
        self.files = ArtifactFiles(StateDirectory(root / ".shoulders"))
        self.tool = ShareArtifact(Workspace(root), self.files)

    async def share(self, *calls: dict[str, str]) -> EngineHarness:
        script = turn(*(Call("share_artifact", {**call}) for call in calls))
        w = make_engine(script, "Shared.", loop=[self.tool])
        await w.say(context=MessageContext(active_document="data/notebook.ipynb"))
        return w


@pytest.fixture
def shelf(tmp_path: Path) -> ArtifactHarness:
    return ArtifactHarness(tmp_path)


async def test_file_is_copied_and_shown_as_it_was(shelf: ArtifactHarness):
    w = await shelf.share({"path": "report.md", "content": "", "description": "The report"})
    (shared,) = w.of(ArtifactShare)
    (result,) = w.of(ToolResult)
    assert (shared.name, shared.size, shared.description) == ("report.md", 8, "The report")
    assert shared.media_type.startswith("text/")
    assert (shared.call_id, result.status) == (result.call_id, "ok")
    (shelf.root / "report.md").write_text("changed")
    assert shelf.files.read(SESSION, "report.md") == b"# Report"


@pytest.mark.parametrize("path", ["table.csv", "data/../data/table.csv", "link.csv"])
async def test_rule_about_a_file_holds_however_it_is_named(shelf: ArtifactHarness, path: str):
    """``table.csv`` is found beside the document in front of the user."""
    (shelf.root / "link.csv").symlink_to("data/table.csv")
    rules = {
        "version": 1,
        "rules": [{"action": "deny", "tool": "*", "match": {"path": "data/**"}}],
    }
    script = turn(Call("share_artifact", {"path": path}))
    w = make_engine(script, "Then not.", loop=[shelf.tool], rules=json.dumps(rules))
    await w.say(context=MessageContext(active_document="data/notebook.ipynb"))
    assert [status for _, status in w.results()] == ["denied"]
    assert not w.of(ArtifactShare)


async def test_content_is_kept_under_its_plain_name(shelf: ArtifactHarness):
    w = await shelf.share({"content": "x,y", "filename": "../out/.t:a|ble.csv", "path": ""})
    assert [event.name for event in w.of(ArtifactShare)] == ["table.csv"]
    assert shelf.files.read(SESSION, "table.csv") == b"x,y"


async def test_other_content_gets_another_name_and_the_same_keeps_its_own(shelf: ArtifactHarness):
    one, two = {"content": "1", "filename": "a.txt"}, {"content": "2", "filename": "a.txt"}
    w = await shelf.share(one, two, {**one, "description": "again"})
    first, other, again = [event.name for event in w.of(ArtifactShare)]  # shared side by side
    assert first == again
    assert {first, other} == {"a.txt", "a (2).txt"}


async def test_equal_calls_of_a_step_make_one_card(shelf: ArtifactHarness):
    w = await shelf.share({"path": "report.md"}, {"path": "report.md"})
    assert len(w.of(ArtifactShare)) == 1
    assert [event.status for event in w.of(ToolResult)] == ["ok", "ok"]


async def test_directory_becomes_an_archive_without_hidden_files(shelf: ArtifactHarness):
    w = await shelf.share({"path": "data"})
    (shared,) = w.of(ArtifactShare)
    assert shared.name == "data.zip"
    with zipfile.ZipFile(io.BytesIO(shelf.files.read(SESSION, "data.zip"))) as archive:
        assert archive.namelist() == ["table.csv"]
        assert archive.read("table.csv") == b"a,b\n1,2\n"


async def test_path_is_also_looked_for_beside_the_document(shelf: ArtifactHarness):
    w = await shelf.share({"path": "table.csv"})
    assert [event.name for event in w.of(ArtifactShare)] == ["table.csv"]


FAILURES = {
    "both empty": ({"path": "", "content": ""}, "invalid_arguments", "both empty"),
    "both given": ({"path": "report.md", "content": "x"}, "invalid_arguments", "both given"),
    "outside": ({"path": "../secret"}, "outside_workspace", "outside the workspace"),
    "not found": ({"path": "no.csv"}, "not_found", "tried no.csv, data/no.csv"),
    "state directory": ({"path": ".shoulders/state.db"}, "denied", "state directory"),
    "no filename": ({"content": "x"}, "invalid_request", "filename is empty"),
    "only dots": ({"content": "x", "filename": "../.."}, "invalid_request", "filename is empty"),
}


@pytest.mark.parametrize(("call", "code", "text"), FAILURES.values(), ids=FAILURES.keys())
async def test_each_failure_says_which(
    shelf: ArtifactHarness, call: dict[str, str], code: str, text: str
):
    w = await shelf.share(call)
    (result,) = w.of(ToolResult)
    error = result.result.error
    assert result.status == "error"
    assert error is not None
    assert error.code == code
    assert text in error.message
    assert not w.of(ArtifactShare)


async def test_too_large_and_failing_copies_say_so(
    shelf: ArtifactHarness, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(share_artifact, "SIZE_LIMIT", 5)
    (shelf.root / "blocked").write_text("a file where the state directory should be")
    blocked = ArtifactFiles(StateDirectory(shelf.root / "blocked"))
    large = await shelf.share({"path": "report.md"}, {"path": "data"})
    codes = [event.result.error and event.result.error.code for event in large.of(ToolResult)]
    assert codes == ["too_large", "too_large"]
    shelf.tool = ShareArtifact(Workspace(shelf.root), blocked)
    failed = await shelf.share({"content": "x", "filename": "a.txt"})
    (result,) = failed.of(ToolResult)
    assert result.result.error is not None
    assert result.result.error.code == "state_unavailable"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a\0b", "none"])
def test_only_plain_names_that_exist_are_read(shelf: ArtifactHarness, name: str):
    shelf.files.put(SESSION, "a.txt", b"1")
    with pytest.raises(NotFound):
        shelf.files.read(SESSION, name)
    with pytest.raises(NotFound):
        shelf.files.read(SessionId(f"../artifacts/{SESSION}"), "a.txt")


def test_links_are_not_followed(shelf: ArtifactHarness):
    shelf.files.put(SESSION, "a.txt", b"1")
    (shelf.root / ".shoulders" / "artifacts" / SESSION / "link.txt").symlink_to(
        shelf.root / "report.md"
    )
    with pytest.raises(NotFound):
        shelf.files.read(SESSION, "link.txt")


SECRETS = (
    *(".env", "data/.env.local", "id_rsa", "server.pem", ".config/gh/hosts.yml", ".netrc"),
    *(".cache/huggingface/token", "credentials.json", ".git-credentials", ".bash_history"),
    *(".local/share/jupyter/runtime/jpserver-1.json", "secrets.toml"),
)


@pytest.mark.parametrize("path", SECRETS)
async def test_file_of_keys_is_not_copied_to_where_it_can_be_read(
    shelf: ArtifactHarness, path: str
):
    (shelf.root / path).parent.mkdir(parents=True, exist_ok=True)
    (shelf.root / path).write_text("key")
    (shelf.root / "link").symlink_to(path)
    w = await shelf.share({"path": path}, {"path": "link"})
    assert [status for _, status in w.results()] == ["error", "error"]
    assert not w.of(ArtifactShare)


async def test_archive_and_hard_links_leave_out_what_is_not_shared(shelf: ArtifactHarness):
    (shelf.root / "data" / "credentials.json").write_text("key")
    (shelf.root / "data" / "linked.csv").hardlink_to(shelf.root / "report.md")
    w = await shelf.share({"path": "data"}, {"path": "data/linked.csv"})
    assert [status for _, status in w.results()] == ["ok", "error"]
    with zipfile.ZipFile(io.BytesIO(shelf.files.read(SESSION, "data.zip"))) as archive:
        assert archive.namelist() == ["table.csv"]
