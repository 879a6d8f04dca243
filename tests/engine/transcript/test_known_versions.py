"""The versions a conversation knows, and that the user undid its changes."""

from __future__ import annotations

from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.transcript.messages import Transcript
from jupyter_ai_shoulders.wire.events import (
    ContextAdd,
    EditResolve,
    Restore,
    RestoredDocument,
)
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, EditId, RestoreId, Version
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import SeenVersion

PATH = "a.ipynb"
KEY = (PATH, CellId("a"))
UNDONE = EditResolve(edit_id=EditId("edit"), decision="undo", hunks=None, by="user", document=PATH)
RESTORED = Restore(
    restore_id=RestoreId("restore"),
    seq_before=1,
    what=("notebook",),
    documents=(RestoredDocument(document=PATH),),
    drift=(),
)


def saw(version: str) -> ContextAdd:
    seen = SeenVersion(path=PATH, cell_id=CellId("a"), version=Version(version))
    return ContextAdd(role="attachment", source="", blob=BlobHash(""), seen=(seen,))


def remembered(*versions: str) -> SessionIndex:
    index = SessionIndex()
    for version in versions:
        index.add(saw(version))
    return index


def test_versions_read_before_are_remembered_newest_first_and_once():
    index = remembered("one", "two", "one", "three", "three")
    assert index.seen == {KEY: "three"}
    assert index.earlier == {KEY: ("one", "two")}
    many = remembered(*map(str, range(100)))
    assert len(many.earlier[KEY]) == 8


def test_what_was_undone_is_known_until_it_is_read_again():
    for event in (UNDONE, RESTORED):
        index = remembered("one", "two")
        index.add(event)
        assert index.taken_back == {KEY}
        index.add(saw("one"))
        assert index.taken_back == set()


def test_the_model_is_told_that_the_user_undid_its_change():
    transcript = Transcript()
    transcript.add(UNDONE)
    (message,) = transcript.messages()
    assert message.parts == (
        TextPart(text=f"[notice] The user undid a change of yours in {PATH}."),
    )
