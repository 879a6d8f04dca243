"""``edit_document_file`` over HTTP with a scripted model: edits, refusals, review and undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.wire.base import JsonObject
from tests.files.word.corpus import control
from tests.files.word.independent_reader import check_structure, members, settled_lines
from tests.files.word.raw_documents import deleted, document, encrypted, inserted, paragraph
from tests.server.client import ENDED, Api
from tests.server.handlers.sessions.test_thread_anchors_api import ANCHOR
from tests.simulator import Reply, Simulator, ToolUse, reply

READ = reply(ToolUse(name="read_file", arguments={"path": "a.docx"}))
LOAD = reply(ToolUse(name="load_tools", arguments={"category": "word"}))


def sample() -> bytes:
    return document(
        paragraph("Results of the year")
        + paragraph("We saw ", inserted("many "), deleted("some "), "errors.")
        + paragraph("The end.")
    )


def edits(*wanted: dict[str, Any], path: str = "a.docx") -> Reply:
    return reply(
        ToolUse(name="edit_document_file", arguments={"path": path, "edits": list(wanted)})
    )


def edit(number: int, old: str, new: str, **more: str) -> dict[str, Any]:
    return {"paragraph": number, "old_string": old, "new_string": new, **more}


async def results(api: Api, upstream: Simulator, *replies: Reply) -> tuple[str, list[Any]]:
    upstream.script(*replies, "Done.")
    session_id = await api.new_session(mode="auto_edit", toolset="full")
    events = await api.run(session_id, "go")
    return session_id, [event for event in events if event["type"] == "tool-result"]


async def again(api: Api, session_id: str) -> list[dict[str, Any]]:
    """Run a second turn; return the whole log."""
    async with api.stream(session_id) as stream:
        assert (await api.send(session_id, "again", "m2")).status == 202
        await stream.until(ENDED, count=2)
    return await api.events(session_id)


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(part.get("text", "") for part in result["content"])


async def test_edit_makes_tracked_changes_and_a_comment_that_undo_takes_back(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    before = sample()
    file.write_bytes(before)
    call = edits(
        edit(2, "many errors", "few mistakes", comment="Milder."),
        edit(3, "The end.", "The end.\nAnd more."),
    )
    _, found = await results(api, upstream, READ, LOAD, call)

    assert [each["status"] for each in found] == ["ok"] * 3, found
    assert "2 [Normal] We saw many errors." in text_of(found[0])
    after = file.read_bytes()
    check_structure(after)
    wanted = ["Results of the year", "We saw few mistakes.", "The end.", "And more."]
    assert settled_lines(after, "accept") == wanted
    assert settled_lines(after, "reject") == settled_lines(before, "reject")
    old, new = members(before), members(after)
    changed = {"word/document.xml", "[Content_Types].xml", "word/_rels/document.xml.rels"}
    assert {name for name in old if old[name] != new[name]} == changed
    assert new.keys() - old.keys() == {"word/comments.xml"}

    [pending] = (await api.get("edits")).body["edits"]
    assert (pending["document"], pending["kind"]) == ("a.docx", "word")
    assert pending["current"].split("\n") == wanted
    assert pending["baseline"].split("\n") == [
        "Results of the year",
        "We saw many errors.",
        "The end.",
    ]
    part = await api.post(f"edits/{pending['id']}", {"decision": "undo", "hunks": [0]})
    assert part.status == 400, part
    undone = await api.post(f"edits/{pending['id']}", {"decision": "undo"})
    assert undone.status == 200, undone
    assert file.read_bytes() == before
    assert (await api.get("edits")).body["edits"] == []


async def test_keep_leaves_the_document_and_undo_of_the_change_restores_its_bytes(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    before = sample()
    file.write_bytes(before)
    session_id, _ = await results(
        api, upstream, READ, LOAD, edits(edit(1, "year", "month")), edits(edit(1, "month", "day"))
    )
    after = file.read_bytes()
    assert settled_lines(after, "accept")[0] == "Results of the day"
    assert settled_lines(after, "reject")[0] == "Results of the year"
    [pending] = (await api.get("edits")).body["edits"]
    kept = await api.post(f"edits/{pending['id']}", {"decision": "keep"})
    assert kept.status == 200, kept
    assert file.read_bytes() == after
    undo = reply(ToolUse(name="undo_file_change", arguments={"path": "a.docx"}))
    upstream.script(undo, undo, "Done.")
    events = await again(api, session_id)
    done = [event["status"] for event in events if event["type"] == "tool-result"]
    assert done[-2:] == ["ok", "ok"], events
    assert file.read_bytes() == before


REFUSALS: dict[str, tuple[list[Reply], str]] = {
    "not read": ([edits(edit(1, "year", "month"))], "was not read in this conversation"),
    "no such text": ([READ, edits(edit(1, "errors", "x"))], 'Similar: 2 "We saw many errors."'),
    "deleted text": ([READ, edits(edit(2, "some", "x"))], "does not occur in paragraph 2"),
    "ambiguous": ([READ, edits(edit(1, "e", "x"))], "occurs 3 times in paragraph 1"),
    "no such paragraph": ([READ, edits(edit(9, "a", "b"))], "there is no paragraph 9"),
    "no change": ([READ, edits(edit(1, "year", "year"))], "changes nothing"),
    "control character": ([READ, edits(edit(1, "year", "a\x01"))], "control character"),
    "overlap": (
        [READ, edits(edit(1, "the year", "a"), edit(1, "of the", "b"))],
        "two edits of paragraph 1 overlap",
    ),
    "missing file": ([edits(edit(1, "a", "b"), path="no.docx")], "There is no file no.docx"),
    "not word": ([edits(edit(1, "a", "b"), path="a.txt")], "is not a Word document"),
    "old format": ([edits(edit(1, "a", "b"), path="old.docx")], "Word 97-2003"),
    "protected": (
        [
            reply(ToolUse(name="read_file", arguments={"path": "p.docx"})),
            edits(edit(1, "text", "b"), path="p.docx"),
        ],
        "is protected against changes",
    ),
    "write_file": (
        [reply(ToolUse(name="write_file", arguments={"path": "a.docx", "content": "x"}))],
        "edit_document_file",
    ),
    "create_file": (
        [reply(ToolUse(name="create_file", arguments={"path": "b.docx", "content": "x"}))],
        "edit_document_file",
    ),
    "edit_file": (
        [
            reply(
                ToolUse(
                    name="edit_file",
                    arguments={"path": "a.docx", "old_string": "a", "new_string": "b"},
                )
            )
        ],
        "edit_document_file",
    ),
}


async def test_refusals_say_what_to_do_and_change_nothing(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    files = {
        "a.docx": sample(),
        "a.txt": b"text",
        "old.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "p.docx": document(
            paragraph("text"),
            {"settings.xml": '<w:documentProtection w:edit="readOnly" w:enforcement="1"/>'},
        ),
    }
    for path, content in files.items():
        (jp_root_dir / path).write_bytes(content)
    calls = [call for calls, _ in REFUSALS.values() for call in calls]
    _, found = await results(api, upstream, LOAD, *calls)
    last, told = 0, {}
    for name, (mine, said) in REFUSALS.items():
        last += len(mine)
        told[name] = (found[last]["status"], said in str(found[last]) or found[last])
    assert told == dict.fromkeys(REFUSALS, ("error", True))
    assert {path: (jp_root_dir / path).read_bytes() for path in files} == files
    assert not (jp_root_dir / "b.docx").exists()


async def test_locked_signed_and_encrypted_documents_stay_as_they_are(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    locked = document(control(paragraph("text"), '<w:lock w:val="contentLocked"/>'))
    signed = document(paragraph("text"), members={"_xmlsignatures/sig1.xml": b"<Signature/>"})
    files = {"locked.docx": locked, "signed.docx": signed, "encrypted.docx": encrypted()}
    for path, content in files.items():
        (jp_root_dir / path).write_bytes(content)
    reads = [ToolUse(name="read_file", arguments={"path": path}) for path in files]
    calls = [edits(edit(1, "text", "b"), path=path) for path in files]
    _, found = await results(api, upstream, LOAD, reply(*reads), *calls)
    assert [each["status"] for each in found[1:4]] == ["ok", "ok", "error"], found
    for result, said in zip(
        found[-3:],
        ("locked content control", "digital signature", "protected by a password"),
        strict=True,
    ):
        assert result["status"] == "error"
        assert said in str(result)
    assert {path: (jp_root_dir / path).read_bytes() for path in files} == files


async def test_file_changed_since_it_was_read_is_not_edited(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    file.write_bytes(sample())
    session_id, _ = await results(api, upstream, READ, LOAD)
    other = document(paragraph("Results of the year, changed"))
    file.write_bytes(other)
    upstream.script(edits(edit(1, "year", "month")), "Done.")
    events = await again(api, session_id)
    *_, last = [event for event in events if event["type"] == "tool-result"]
    assert "was changed since you read it" in str(last)
    assert "1: Results of the year, changed" in text_of(last)
    assert file.read_bytes() == other


async def test_open_document_gives_a_warning_and_plain_edits_follow_the_setting(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    file.write_bytes(sample())
    (jp_root_dir / ".~lock.a.docx#").write_text("x")
    put = await api.put("settings", {"word": {"tracked_changes": False}})
    assert put.body["values"]["word"] == {"tracked_changes": False}
    _, found = await results(api, upstream, READ, LOAD, edits(edit(1, "year", "month")))
    assert "seems to be open in LibreOffice" in str(found[-1])
    for way in ("accept", "reject"):
        assert settled_lines(file.read_bytes(), way)[0] == "Results of the month"


async def test_accepted_proposal_becomes_a_tracked_change(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    file.write_bytes(sample())
    change: JsonObject = {"path": "a.docx", "old_string": "many errors", "new_string": "few errors"}
    load = reply(ToolUse(name="load_tools", arguments={"category": "feedback"}))
    _, found = await results(
        api, upstream, READ, load, reply(ToolUse(name="create_proposal", arguments=change))
    )
    assert found[-1]["status"] == "ok", found
    assert file.read_bytes() == sample()
    [proposal] = (await api.get("proposals")).body["proposals"]
    decided = await api.post(f"proposals/{proposal['id']}", {"decision": "apply"})
    assert decided.body["state"] == "applied", decided
    after = file.read_bytes()
    check_structure(after)
    assert settled_lines(after, "accept")[1] == "We saw few errors."
    assert settled_lines(after, "reject")[1] == "We saw some errors."


async def test_proposal_of_a_thread_about_a_quotation_changes_that_place_as_tracked_change(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    before = document(
        paragraph("It was good.")
        + paragraph("We saw ", inserted("many "), deleted("some "), "errors.")
        + paragraph("It was good, they said.")
    )
    file.write_bytes(before)
    anchor = {
        **ANCHOR,
        "document": "a.docx",
        "cell_id": None,
        "range": {"from": 0, "to": 11},  # of an older text
        "quote": "It was good",
        "prefix": "We saw many errors.\n",
        "suffix": ", they said.",
    }
    change: JsonObject = {"old_string": "It was good", "new_string": "It was bad"}
    upstream.script(reply(ToolUse(name="propose_edit", arguments=change)), "Proposed.")
    thread = await api.new_session(kind="task", anchor=anchor)
    events = await api.run(thread, "Make it bad.")
    assert [each["status"] for each in events if each["type"] == "tool-result"] == ["ok"], events
    assert "line 3 of a.docx" in str(upstream.requests[0].body)
    assert file.read_bytes() == before
    [proposal] = (await api.get("proposals")).body["proposals"]
    assert proposal["session_id"] == thread
    decided = await api.post(f"proposals/{proposal['id']}", {"decision": "apply"})
    assert decided.body["state"] == "applied", decided

    after = file.read_bytes()
    check_structure(after)
    accepted, rejected = settled_lines(after, "accept"), settled_lines(after, "reject")
    assert accepted == ["It was good.", "We saw many errors.", "It was bad, they said."]
    assert rejected == settled_lines(before, "reject")
    assert changes_by(after, "Ann") == changes_by(before, "Ann") == 2
    [pending] = (await api.get("edits")).body["edits"]
    assert (pending["document"], pending["kind"]) == ("a.docx", "word")
    undone = await api.post(f"edits/{pending['id']}", {"decision": "undo"})
    assert undone.status == 200, undone
    assert file.read_bytes() == before


def changes_by(content: bytes, author: str) -> int:
    return members(content)["word/document.xml"].count(f'w:author="{author}"'.encode())


async def test_undo_of_the_turn_restores_the_bytes_and_the_changes_of_others(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.docx"
    before = sample()
    file.write_bytes(before)
    call = edits(
        edit(2, "We saw many errors", "We found few mistakes", comment="Why?"), edit(3, "end", "e")
    )
    session_id, found = await results(api, upstream, READ, LOAD, call)
    assert found[-1]["status"] == "ok", found
    after = file.read_bytes()
    assert b">some <" in members(after)["word/document.xml"]
    assert settled_lines(after, "reject") == settled_lines(before, "reject")
    assert changes_by(after, "Ann") >= changes_by(before, "Ann") == 2
    start = next(each for each in await api.events(session_id) if each["type"] == "turn-start")

    answer = await api.post(f"sessions/{session_id}/undo", {"turn_id": start["turn_id"]})
    assert answer.status == 202, answer
    assert file.read_bytes() == before
    assert (await api.get("edits")).body["edits"] == []
    redo = {"seq": answer.body["seq"], "what": ["files"]}
    redone = await api.post(f"sessions/{session_id}/restore", redo)
    assert redone.status == 202, redone
    assert file.read_bytes() == after
