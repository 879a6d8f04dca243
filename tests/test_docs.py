"""What stands in the documents is so: examples can be read, links lead somewhere."""

import re
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.catalogue_merge import Source, merge_catalogue

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of one language."""
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, path.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_documents_lead_to_files(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text("utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_provider_of_the_documents_is_one() -> None:
    (example,) = blocks(ROOT / "docs" / "add-a-provider.md", "json")
    catalogue = merge_catalogue([Source("models.json", example)], {"GATEWAY_API_KEY": "x"})
    assert not catalogue.problems
    assert all(model.prices for model in catalogue.models.values())
    assert catalogue.models
