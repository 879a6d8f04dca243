"""Descriptions of restored files for the model and for exports."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.restore.description import describe_restored_document
from jupyter_ai_shoulders.wire.event_types.restore import FileOutcome
from jupyter_ai_shoulders.wire.events import RestoredDocument
from jupyter_ai_shoulders.wire.ids import ProposalId


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ("rewritten", "a.txt was given its earlier text."),
        ("merged", "a.txt was given its earlier text; what the user changed since stays."),
        ("removed", "a.txt was moved to the trash."),
        ("returned", "a.txt was brought back."),
        ("moved", "a.txt was given its earlier name."),
        ("kept", "a.txt was not touched, because the user changed it since."),
    ],
)
def test_what_became_of_a_file_is_said(outcome: FileOutcome, text: str) -> None:
    assert describe_restored_document(RestoredDocument(document="a.txt", file=outcome)) == text


def test_a_proposal_of_the_earlier_text_is_said() -> None:
    kept = RestoredDocument(document="a.txt", file="kept", proposal_id=ProposalId("proposal_1"))

    assert describe_restored_document(kept).endswith("since. Its earlier text is proposed to them.")
