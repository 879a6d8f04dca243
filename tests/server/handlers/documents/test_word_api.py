"""``GET word``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.files.word.raw_documents import document, paragraph
from tests.server.client import Api


async def test_word_document_is_shown_as_page(api: Api, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.docx").write_bytes(document(paragraph("Hello <b>")))
    answer = await api.request("GET", "word", params={"path": "a.docx"})
    assert answer.status == 200, answer
    assert answer.body["html"] == '<p data-paragraph="1">Hello &lt;b&gt;</p>'
    assert [each["text"] for each in answer.body["paragraphs"]] == ["Hello <b>"]


@pytest.mark.parametrize(
    ("path", "status"),
    [("no.docx", 404), ("a.txt", 400), ("../a.docx", 400), ("bad.docx", 400), (".ssh/a.docx", 403)],
)
async def test_other_paths_are_refused(api: Api, jp_root_dir: Path, path: str, status: int) -> None:
    (jp_root_dir / "bad.docx").write_bytes(b"no zip")
    (jp_root_dir / "a.txt").write_bytes(b"text")
    answer = await api.request("GET", "word", params={"path": path})
    assert answer.status == status, answer
    assert answer.body["error"]["message"]
