"""``references/styles``, ``references/citation`` and ``references/format``."""

from pathlib import Path

from tests.server.client import Api


async def test_styles_are_listed_with_the_default(api: Api) -> None:
    answer = await api.get("references/styles")
    names = [style["id"] for style in answer.body["styles"]]
    assert names == ["apa", "ieee", "nature", "vancouver", "chicago-author-date"]
    assert answer.body["default"] == "apa"


async def test_a_citation_has_the_syntax_of_its_document(api: Api) -> None:
    body = {"keys": ["knuth1984", "harris2020"], "text": "As said [@knuth1984]."}
    answer = await api.post("references/citation", body)
    assert answer.body == {"text": "[@knuth1984; @harris2020]", "syntax": "pandoc"}
    answer = await api.post("references/citation", {"keys": ["knuth1984"]})
    assert answer.body == {"text": "{cite}`knuth1984`", "syntax": "myst"}


async def test_the_citations_of_a_document_are_formatted(api: Api, bibliography: Path) -> None:
    body = {"clusters": [["harris2020"], ["nobody"], ["knuth1984", "harris2020"]], "style": "ieee"}
    answer = await api.post("references/format", body)
    assert answer.status == 200, answer
    assert answer.body["citations"] == ["[1]", "", "[1], [2]"]
    assert [entry["key"] for entry in answer.body["entries"]] == ["harris2020", "knuth1984"]
    assert answer.body["unknown"] == ["nobody"]
    assert answer.body["markdown"].startswith("\\[1\\] C. R. Harris")


async def test_an_unknown_style_is_not_found(api: Api, bibliography: Path) -> None:
    body = {"clusters": [["harris2020"]], "style": "turabian"}
    assert (await api.post("references/format", body)).status == 404
