"""Citations and bibliographies in the five shipped styles, and styles that cannot be used.

The golden file was compared with the examples that the styles' own guides give: APA's reference
examples, the IEEE reference guide, Nature's formatting guide, NLM's sample references, and the
Chicago Manual of Style's citation quick guide.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ai_shoulders.references.styles.citation_styles import SHIPPED, shipped_style
from jupyter_ai_shoulders.references.styles.messages import FormatAnswer, WorkRequest
from jupyter_ai_shoulders.references.styles.style_description import style_locale
from jupyter_ai_shoulders.references.styles.worker import format_document
from tests.references.styles.works import WORKS

GOLDEN = Path(__file__).parent / "golden" / "rendered.txt"
MINIMAL = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><title>Mine</title><id>mine</id></info>{macros}
<citation><layout prefix="{{" suffix="}}"><text {text}/></layout></citation></style>"""


def render(style: str, works: list[WorkRequest], clusters: list[list[str]]) -> FormatAnswer:
    return format_document(
        {
            "style": style,
            "locale": style_locale(style, "en-US"),
            "works": works,
            "clusters": clusters,
        }
    )


def article(key: str, **fields: str) -> WorkRequest:
    return {"key": key, "type": "article", "fields": {"title": "T", "year": "2020", **fields}}


def test_shipped_styles_render_a_dozen_works_as_their_guides_show() -> None:
    clusters = [[key] for key in WORKS] + [["Lovelace2020a", "Lovelace2020b", "Knuth1997"]]
    lines: list[str] = []
    for name in SHIPPED:
        answer = render(shipped_style(name), list(WORKS.values()), clusters)
        lines += [f"# {name}", " | ".join(answer["citations"])]
        lines += [entry["markdown"] for entry in answer["entries"]]
    assert "\n".join(lines) + "\n" == GOLDEN.read_text("utf-8")


@pytest.mark.parametrize(
    ("authors", "citations"),
    [
        pytest.param(
            ("Smith, Ann", "Smith, Bob"), ["(A. Smith, 2020)", "(B. Smith, 2020)"], id="initials"
        ),
        pytest.param(
            ("Smith, Ann", "Smith, Ann"), ["(Smith, 2020a)", "(Smith, 2020b)"], id="letters"
        ),
        pytest.param(("Smith, A", "Jones, B"), ["(Smith, 2020)", "(Jones, 2020)"], id="neither"),
    ],
)
def test_citations_that_would_read_the_same_are_told_apart(
    authors: tuple[str, str], citations: list[str]
) -> None:
    works = [article("a", author=authors[0]), article("b", author=authors[1], title="U")]
    assert render(shipped_style("apa"), works, [["a"], ["b"]])["citations"] == citations


def test_numbers_follow_the_order_of_citations() -> None:
    works = [article("a", author="A, B"), article("b", author="C, D")]
    answer = render(shipped_style("ieee"), works, [["b"], ["missing"], ["a", "b"]])
    assert answer["citations"] == ["[1]", "", "[1], [2]"]
    assert [entry["key"] for entry in answer["entries"]] == ["b", "a"]


def test_markup_in_fields_is_text() -> None:
    evil = article("a", author="X, Y", title="<img src=x onerror=alert(1)> <i>E. coli</i> & <b>x")
    [entry] = render(shipped_style("apa"), [evil], [["a"]])["entries"]
    assert "&lt;img src=x onerror=alert(1)&gt; <i>E. coli</i> &amp; &lt;b&gt;x" in entry["html"]
    assert "\\<img src=x" in entry["markdown"]


@pytest.mark.parametrize(
    ("style", "error"),
    [
        pytest.param("<style", "Couldn't find end of Start Tag", id="broken"),
        pytest.param("<html/>", "it is no CSL style", id="another document"),
        pytest.param(
            '<style xmlns="http://purl.org/net/xbiblio/csl"><info/></style>',
            "it has no part for citations",
            id="no citations",
        ),
        pytest.param(
            MINIMAL.format(
                macros='<macro name="m"><text macro="m"/></macro>', text='macro="m"'
            ).replace("{{", "("),
            "its macros call each other without end",
            id="endless macro",
        ),
        pytest.param(
            '<!DOCTYPE s [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
            + MINIMAL.format(macros="", text='value="&e;"'),
            "Attribute references external entity",
            id="entity",
        ),
    ],
)
def test_a_style_that_cannot_be_used_says_why(style: str, error: str) -> None:
    answer = render(style, [article("a", author="A, B")], [["a"]])
    assert error in answer["error"]
    assert "root:" not in str(answer)
