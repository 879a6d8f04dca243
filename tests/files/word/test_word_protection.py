"""Locked text, protected, signed and encrypted documents are not edited; strict ones are."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.files.word.editing.changes import edited
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from tests.files.word.corpus import control
from tests.files.word.independent_reader import members, settled_lines
from tests.files.word.raw_documents import W, document, encrypted, paragraph, run_of, zipped

AUTHOR = Author("AI", "2026-01-01T00:00:00Z", tracked=True)
REPLACE = ParagraphEdit(1, "kept text", "other text")
LOCK = '<w:lock w:val="contentLocked"/>'
BOUND = 'w:xpath="/a" w:storeItemID="{0}"'
STRICT = "http://purl.oclc.org/ooxml"


def made(content: bytes, edit: ParagraphEdit = REPLACE) -> bytes:
    return edited(WordDocument(content), [edit], AUTHOR).content


def inline(properties: str) -> str:
    return paragraph("Before ", control(run_of("kept text"), properties), " after")


def block(properties: str, *paragraphs: str) -> str:
    inner = "".join(paragraphs) or paragraph("kept text") + paragraph("more")
    return control(inner, properties) + paragraph("after")


CONTROLS = {
    "locked": (inline(LOCK), REPLACE, "locked content control"),
    "locked wholly": (
        inline('<w:lock w:val="sdtContentLocked"/>'),
        REPLACE,
        "locked content control",
    ),
    "insertion": (
        inline(LOCK),
        ParagraphEdit(1, "kept text", "kept new text"),
        "locked content control",
    ),
    "locked block": (block(LOCK), REPLACE, "locked content control"),
    "removed": (block(LOCK), ParagraphEdit(1, "kept text", ""), "locked content control"),
    "split": (block(LOCK), ParagraphEdit(1, "kept text", "kept\ntext"), "locked content control"),
    "empty paragraph filled": (
        block(LOCK, "<w:p/>", "<w:p/>"),
        ParagraphEdit(1, "", "new"),
        "locked content control",
    ),
    "empty paragraph removed": (
        block(LOCK, "<w:p/>", "<w:p/>"),
        ParagraphEdit(1, "", ""),
        "locked content control",
    ),
    "in a table in a locked one": (
        block(
            LOCK,
            "<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc><w:tcPr/>"
            f"{paragraph('kept text')}</w:tc></w:tr></w:tbl>",
        ),
        REPLACE,
        "locked content control",
    ),
    "group": (block("<w:group/>"), REPLACE, "locked content control"),
    "bound": (inline(f"<w:dataBinding {BOUND}/>"), REPLACE, "a property of the document"),
    "bound with formats": (
        inline(f"<w15:dataBinding {BOUND}/>"),
        REPLACE,
        "a property of the document",
    ),
}


@pytest.mark.parametrize(("body", "edit", "said"), CONTROLS.values(), ids=CONTROLS)
def test_text_in_locked_and_bound_controls_stays(body: str, edit: ParagraphEdit, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        made(document(body), edit)
    assert refused.value.info.hint


EDITABLE = {
    "beside a locked one": (inline(LOCK), ParagraphEdit(1, " after", " later")),
    "control that must stay": (inline('<w:lock w:val="sdtLocked"/>'), REPLACE),
    "control in a group": (block("<w:group/>", inline("")), REPLACE),
}


@pytest.mark.parametrize(("body", "edit"), EDITABLE.values(), ids=EDITABLE)
def test_other_text_is_edited(body: str, edit: ParagraphEdit) -> None:
    before = document(body)
    after = made(before, edit)
    assert edit.new in settled_lines(after, "accept")[0]
    assert settled_lines(after, "reject") == settled_lines(before, "reject")
    assert members(after)["word/document.xml"].count(b"<w:sdt>") == body.count("<w:sdt>")


def protected(settings: str) -> bytes:
    return document(paragraph("kept text"), {"settings.xml": settings})


def signed() -> bytes:
    return document(paragraph("kept text"), members={"_xmlsignatures/sig1.xml": b"<Signature/>"})


PROTECTED: dict[str, tuple[bytes, type[ShouldersError], str]] = {
    **{
        kind: (
            protected(f'<w:documentProtection w:edit="{kind}" w:enforcement="1"/>'),
            PolicyRefusal,
            rf"protected against changes \({kind}\)",
        )
        for kind in ("readOnly", "forms", "comments")
    },
    "password for changes": (
        protected('<w:writeProtection w:cryptSpinCount="1" w:hash="aGFzaA==" w:salt="cw=="/>'),
        PolicyRefusal,
        "only with a password",
    ),
    "signed": (signed(), PolicyRefusal, "digital signature"),
    "encrypted": (encrypted(), InvalidRequest, "protected by a password"),
}


@pytest.mark.parametrize(("content", "kind", "said"), PROTECTED.values(), ids=PROTECTED)
def test_protected_documents_are_refused(
    content: bytes, kind: type[ShouldersError], said: str
) -> None:
    with pytest.raises(kind, match=said) as refused:
        made(content)
    assert refused.value.info.hint


@pytest.mark.parametrize(
    "settings",
    [
        '<w:documentProtection w:edit="readOnly" w:enforcement="0"/>',
        '<w:documentProtection w:edit="none" w:enforcement="1"/>',
        '<w:writeProtection w:recommended="1"/>',
    ],
    ids=["not enforced", "nothing", "recommended only"],
)
def test_settings_that_forbid_nothing(settings: str) -> None:
    assert settled_lines(made(protected(settings)), "accept") == ["other text"]


def test_protection_that_demands_tracking_is_followed() -> None:
    before = protected('<w:documentProtection w:edit="trackedChanges" w:enforcement="1"/>')
    plain = Author("AI", "2026-01-01T00:00:00Z", tracked=False)
    after = edited(WordDocument(before), [REPLACE], plain).content
    assert settled_lines(after, "accept") == ["other text"]
    assert settled_lines(after, "reject") == ["kept text"]


def strict(content: bytes) -> bytes:
    """Return a document with the namespaces of ISO 29500 strict."""
    old = "http://schemas.openxmlformats.org"
    names = {
        W: f"{STRICT}/wordprocessingml/main",
        f"{old}/officeDocument/2006": f"{STRICT}/officeDocument",
        f"{old}/drawingml/2006": f"{STRICT}/drawingml",
    }
    made: dict[str, bytes] = {}
    for name, part in members(content).items():
        made[name] = part
        for before, after in names.items():
            made[name] = made[name].replace(before.encode(), after.encode())
    return zipped(made)


def test_strict_document_is_edited_and_stays_strict() -> None:
    before = strict(document(paragraph("kept text") + paragraph("more")))
    after = made(before, ParagraphEdit(1, "kept text", "other text", "Why?"))
    parts = members(after)
    read = WordDocument(after)
    assert read.text == "other text\nmore"
    assert [(each.text, each.quote) for each in read.comments()] == [("Why?", "other text")]
    assert b"<w:ins " in parts["word/document.xml"]
    assert f'xmlns:w="{STRICT}/wordprocessingml/main"'.encode() in parts["word/comments.xml"]
    relation = f'Type="{STRICT}/officeDocument/relationships/comments"'.encode()
    assert relation in parts["word/_rels/document.xml.rels"]
    assert not any(b"openxmlformats.org/wordprocessingml" in part for part in parts.values())
