"""Examples in the documentation work and its links are valid."""

import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.merge import CatalogueSource, merge_catalogue
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from tests.files.file_workspace import file_workspace
from tests.tools.direct_calls import call, subject_of

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(path: Path, language: str) -> list[str]:
    """Return the code blocks of one language."""
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, path.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_documents_lead_to_files(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text("utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_provider_of_the_documents_is_one() -> None:
    (example,) = blocks(ROOT / "docs" / "add-a-provider.md", "json")
    catalogue = merge_catalogue([CatalogueSource("models.json", example)], {"GATEWAY_API_KEY": "x"})
    assert not catalogue.problems
    assert all(model.prices for model in catalogue.models.values())
    assert catalogue.models


async def test_the_tool_of_the_documents_is_one(tmp_path: Path) -> None:
    source, _ = blocks(ROOT / "docs" / "write-a-tool.md", "python")
    module: dict[str, Any] = {}
    exec(compile(source, "count_words.py", "exec"), module)  # a reader would put this into a file
    with file_workspace(tmp_path) as here:
        (here.root / "poem.md").write_text("Penguins swim in winter")
        tool = module["CountWords"](here.texts)
        offered = ToolRegistry([tool], str).definitions("workspace", "plan", ())
        assert [definition.name for definition in offered] == ["count_words"]
        assert (await subject_of(tool, path="poem.md")).target_label == "poem.md"
        result = await call(tool, path="poem.md")
        assert result.envelope.data == {"words": 4}
