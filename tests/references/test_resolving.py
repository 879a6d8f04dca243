"""Works are looked up; nothing is invented, and what no register confirms says so."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.guard.network.fetch import FetchResult
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest
from jupyter_ai_shoulders.references.extraction import ExtractedWork, Requester
from jupyter_ai_shoulders.references.identifiers import AddQuery, detect_query
from jupyter_ai_shoulders.references.names import PersonName
from jupyter_ai_shoulders.references.new_entry import entry_text, free_key, new_key
from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
from jupyter_ai_shoulders.references.registers.work import RegisterWork, clean_text, same_title
from jupyter_ai_shoulders.references.resolving import ResolvedWork, WorkResolver
from jupyter_ai_shoulders.testing.memory_services import MemoryServices, json_reply, text_reply
from jupyter_ai_shoulders.wire.api.settings import KeyPattern
from tests.simulator.services.fixtures import load, load_text

NUMPY = "10.1038/s41586-020-2649-2"
TEXT = "Harris, C. R. et al. Array programming with NumPy. Nature 585, 357 (2020)."
UNKNOWN = "Miller, Ann. An unknown study of little things. Journal of Things 3 (1999), 1-2."


@dataclass
class FakeModel:
    """Gives an answer, or fails; ``texts`` are those it read."""

    answer: ExtractedWork | ShouldersError
    texts: list[str] = field(default_factory=list[str])

    async def extract(self, text: str, requester: Requester) -> ExtractedWork:
        self.texts.append(text)
        if isinstance(self.answer, ShouldersError):
            raise self.answer
        return self.answer


@dataclass
class FakePages:
    """A page for every address."""

    content: str
    kind: str = "text/html"

    async def fetch(self, url: str) -> FetchResult:
        return FetchResult(url, 200, {"content-type": self.kind}, self.content.encode())


def registers() -> MemoryServices:
    """Crossref, DataCite, arXiv and Open Library with the recorded works."""
    works = load("crossref")

    def crossref(request: ServiceRequest) -> ServiceReply:
        if request.path == "/works":
            found = [] if "filter" in request.params else list(works.values())
            return reply(json_reply({"message": {"items": found}}))
        work = works.get(request.path.removeprefix("/works/").lower())
        return reply(json_reply({"message": work}) if work else text_reply("No.", 404))

    def datacite(request: ServiceRequest) -> ServiceReply:
        item = load("datacite").get(request.path.removeprefix("/dois/").lower())
        return reply(json_reply({"data": item}) if item else json_reply({}, 404))

    def arxiv(request: ServiceRequest) -> ServiceReply:
        name = load("arxiv").get(request.params["id_list"])
        entry = load_text(name) if name else ""
        return reply(text_reply(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>'))

    def books(request: ServiceRequest) -> ServiceReply:
        return reply(json_reply(load("openlibrary")))

    return MemoryServices(
        {"crossref": crossref, "datacite": datacite, "arxiv": arxiv, "openlibrary": books}
    )


def reply(answer: object) -> ServiceReply:
    assert isinstance(answer, ServiceReply)
    return answer


async def pdf_text(name: str, content: bytes) -> str:
    return content.decode()


async def resolve(
    query: AddQuery,
    model: FakeModel | None = None,
    services: MemoryServices | None = None,
    page: str = "",
) -> ResolvedWork:
    lookup = RegisterLookup(services or registers())
    return await WorkResolver(lookup, FakePages(page), model, pdf_text).resolve(query, Requester())


FOUND = {
    "doi": ("doi", f"https://doi.org/{NUMPY.upper()}", "Array programming with NumPy", "Crossref"),
    "software": ("doi", "10.5281/zenodo.3509134", "pandas-dev/pandas: Pandas", "DataCite"),
    "arxiv": ("arxiv", "arXiv:1706.03762v5", "Attention Is All You Need", "arXiv"),
    "isbn": ("isbn", "978-0-262-03561-3", "Deep learning", "Open Library"),
    "isbn 10": ("isbn", "0262035618", "Deep learning", "Open Library"),
    "address of a DOI": ("url", f"https://doi.org/{NUMPY}", "Array programming", "Crossref"),
    "address at arXiv": ("url", "https://arxiv.org/pdf/1706.03762v7", "Attention", "arXiv"),
    "text with its DOI": ("text", f"{TEXT} doi:{NUMPY}.", "Array programming", "Crossref"),
}


@pytest.mark.parametrize(("kind", "value", "title", "source"), FOUND.values(), ids=FOUND)
async def test_a_register_describes_the_work(
    kind: str, value: str, title: str, source: str
) -> None:
    found = await resolve(AddQuery(kind, value))  # pyright: ignore[reportArgumentType] - from the table
    assert found.work is not None, found.reason
    assert found.work.title.startswith(title)
    assert found.work.source == source
    assert found.unverified == ""


@pytest.mark.parametrize(
    ("kind", "value"),
    [("doi", "10.5555/nobody"), ("arxiv", "2101.99999"), ("isbn", "9783161484100")],
)
async def test_what_no_register_has_is_not_made_up(kind: str, value: str) -> None:
    found = await resolve(AddQuery(kind, value))  # pyright: ignore[reportArgumentType] - from the table
    assert found.work is None
    assert value in found.reason


@pytest.mark.parametrize(
    ("kind", "value"), [("doi", "nonsense"), ("isbn", "9780262035614"), ("arxiv", "12")]
)
async def test_what_is_no_identifier_is_refused(kind: str, value: str) -> None:
    with pytest.raises(InvalidRequest):
        await resolve(AddQuery(kind, value))  # pyright: ignore[reportArgumentType] - from the table


async def test_registers_that_fail_are_the_reason() -> None:
    found = await resolve(AddQuery("doi", NUMPY), services=MemoryServices())
    assert found.work is None
    assert "crossref cannot be reached" in found.reason


async def test_an_answer_that_is_no_work_is_a_reason() -> None:
    services = MemoryServices({"crossref": json_reply([1]), "datacite": json_reply({}, 404)})
    found = await resolve(AddQuery("doi", NUMPY), services=services)
    assert found.work is None
    assert "Crossref" in found.reason


async def test_datacite_answers_while_crossref_fails() -> None:
    services = registers()
    services.answers["crossref"] = Conflict("Crossref failed with the status 500.")
    found = await resolve(AddQuery("doi", "10.5281/zenodo.3509134"), services=services)
    assert found.work is not None
    assert found.work.authors == (PersonName("The pandas development team", is_organisation=True),)


class TestTexts:
    """Entries of reference lists, read by a model."""

    async def test_a_work_of_a_register_needs_its_title_author_and_year_in_the_text(self) -> None:
        model = FakeModel(
            ExtractedWork(
                title="Array programming with NumPy", authors=("Harris, C. R.",), year="2020"
            )
        )
        found = await resolve(AddQuery("text", TEXT), model)
        assert found.work is not None
        assert found.work.doi == NUMPY
        assert found.unverified == ""

    async def test_an_invented_doi_is_dropped_and_said(self) -> None:
        model = FakeModel(
            ExtractedWork(
                type="article",
                title="An unknown study of little things",
                authors=("Miller, Ann", "Invented, Bob"),
                year="1999",
                venue="Journal of Things",
                volume="3",
                publisher="An invented publisher",
                doi="10.5555/invented",
            )
        )
        found = await resolve(AddQuery("text", UNKNOWN), model)
        assert found.work is not None
        assert found.work == RegisterWork(
            source="the text",
            type="article",
            title="An unknown study of little things",
            authors=(PersonName("Miller", "Ann"),),
            year="1999",
            fields={"volume": "3", "journal": "Journal of Things"},
        )
        assert "10.5555/invented was left out" in found.unverified
        assert "No register confirms" in found.unverified
        assert "10.5555" not in entry_text(found.work, "k")

    async def test_a_doi_of_another_work_is_dropped(self) -> None:
        model = FakeModel(
            ExtractedWork(title="An unknown study of little things", year="1999", doi=NUMPY)
        )
        found = await resolve(AddQuery("text", UNKNOWN), model)
        assert found.work is not None
        assert found.work.doi == ""
        assert f"{NUMPY} was left out" in found.unverified

    async def test_a_title_that_is_not_in_the_text_adds_nothing(self) -> None:
        model = FakeModel(ExtractedWork(title="A title from memory", year="1999"))
        found = await resolve(AddQuery("text", UNKNOWN), model)
        assert found.work is None
        assert "not in the text" in found.reason

    async def test_without_budget_the_register_alone_answers(self) -> None:
        spent = FakeModel(
            PolicyRefusal("The budget of the month is spent.", code="budget_exhausted")
        )
        found = await resolve(AddQuery("text", TEXT), spent)
        assert found.work is not None
        assert found.work.doi == NUMPY
        nothing = await resolve(AddQuery("text", UNKNOWN), spent)
        assert nothing.work is None
        assert "The budget of the month is spent." in nothing.reason

    async def test_no_model_is_asked_where_the_text_has_an_identifier(self) -> None:
        model = FakeModel(ExtractedWork())
        await resolve(AddQuery("text", f"{TEXT} {NUMPY}"), model)
        assert model.texts == []

    async def test_an_identifier_of_another_work_is_not_believed(self) -> None:
        found = await resolve(AddQuery("text", f"{UNKNOWN} doi:{NUMPY}"))
        assert found.work is None


class TestPdfs:
    """First pages of papers."""

    async def test_only_the_first_page_is_read(self) -> None:
        text = f"[page 1 of 2]\n{UNKNOWN}\n\n[page 2 of 2]\n{TEXT} {NUMPY}"
        model = FakeModel(ExtractedWork(title="An unknown study of little things"))
        lookup = RegisterLookup(registers())
        resolver = WorkResolver(lookup, FakePages(""), model, pdf_text)
        found = await resolver.pdf("a.pdf", text.encode(), Requester())
        assert found.work is not None
        assert found.unverified
        assert model.texts == [UNKNOWN]

    async def test_a_scan_adds_nothing(self) -> None:
        resolver = WorkResolver(RegisterLookup(registers()), FakePages(""), None, pdf_text)
        found = await resolver.pdf("a.pdf", b"3 pages without any text in them", Requester())
        assert found.work is None
        assert "scan" in found.reason


class TestPages:
    """Publishers' pages."""

    async def test_the_doi_of_a_page_is_looked_up(self) -> None:
        page = f'<html><meta name="citation_doi" content="doi:{NUMPY}"><title>X</title></html>'
        found = await resolve(AddQuery("url", "https://publisher.example/1"), page=page)
        assert found.work is not None
        assert found.work.source == "Crossref"

    async def test_tags_without_a_register_are_unverified(self) -> None:
        page = (
            '<META NAME="citation_title" CONTENT="A &amp; B"><meta name="citation_author"'
            ' content="Miller, Ann"><meta name="citation_publication_date" content="1999/05">'
            '<meta name="citation_journal_title" content="Things">'
            '<meta name=citation_doi content="10.5555/unknown">'
        )
        found = await resolve(AddQuery("url", "https://publisher.example/1"), page=page)
        assert found.work is not None
        assert (found.work.title, found.work.year, found.work.type) == ("A & B", "1999", "article")
        assert "publisher.example" in found.unverified

    async def test_a_page_without_a_title_adds_nothing(self) -> None:
        found = await resolve(AddQuery("url", "https://publisher.example/1"), page="<p>Hello</p>")
        assert found.work is None


DETECTED = {
    "a DOI": ("10.1038/nature14539", "doi"),
    "a DOI's address": ("https://doi.org/10.1038/nature14539", "doi"),
    "a labelled DOI": ("doi: 10.1038/nature14539", "doi"),
    "an arXiv id": ("1706.03762v7", "arxiv"),
    "an old arXiv id": ("hep-th/9901001", "arxiv"),
    "an arXiv address": ("https://arxiv.org/abs/1706.03762", "arxiv"),
    "an ISBN": ("978-0-262-03561-3", "isbn"),
    "an ISBN with spaces": ("978 0 262 03561 3", "isbn"),
    "an address": ("https://example.org/a", "url"),
    "BibTeX": ("@misc{a, title = {A}}", "bibtex"),
    "a PDF": ("papers/a.pdf", "file"),
    "a text": (TEXT, "text"),
    "a word": ("nonsense", "text"),
}


@pytest.mark.parametrize(("text", "kind"), DETECTED.values(), ids=DETECTED)
def test_the_kind_of_a_query_is_detected(text: str, kind: str) -> None:
    assert detect_query(text).kind == kind


WORK = RegisterWork(
    "Crossref",
    "article",
    "The Überraschung of NumPy",
    (PersonName("Müller-Lüdenscheidt", "A"),),
    year="2020",
)


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("authoryearword", "mullerludenscheidt2020uberraschung"),
        ("authoryear", "mullerludenscheidt2020"),
        ("authortitleyear", "mullerludenscheidtuberraschung2020"),
        ("authoryeartitle", "mullerludenscheidt2020uberraschungnumpy"),
    ],
)
def test_keys_follow_the_setting_and_never_collide(pattern: KeyPattern, key: str) -> None:
    assert new_key(WORK, pattern, ()) == key
    assert new_key(WORK, pattern, {key.upper(), f"{key}a"}) == f"{key}b"
    assert free_key("k", {"k", *(f"k{chr(97 + n)}" for n in range(26))}) == "ka1"


def test_an_entry_is_escaped_and_has_what_is_known_only() -> None:
    work = RegisterWork(
        "Crossref",
        "article",
        "50% of {all} things_ & NumPy",
        (PersonName("van der Berg", "Ann"), PersonName("A and B Ltd", is_organisation=True)),
        year="2020",
        month=3,
        doi="10.1/a_b",
        fields={"journal": "Me & You"},
    )
    assert entry_text(work, "k") == (
        "@article{k,\n"
        "  author  = {van der Berg, Ann and {A and B Ltd}},\n"
        r"  title   = {50\% of \textbraceleft{}all\textbraceright{} things\_ \& {NumPy}},"
        "\n"
        r"  journal = {Me \& You},"
        "\n"
        "  year    = {2020},\n"
        "  month   = mar,\n"
        "  doi     = {10.1/a_b},\n"
        "}"
    )


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("<jats:p>A <i>B</i></jats:p>", "A B"),
        ("H<sub>2</sub>O &amp;amp; more", "H2O & more"),
        ("a\n  b &lt;i&gt;c&lt;/i&gt;", "a b c"),
        ("x < y and y > z", "x < y and y > z"),
        ("<mml:math><mml:annotation>z</mml:annotation><mml:mi>x</mml:mi></mml:math>", "x"),
        (None, ""),
    ],
)
def test_texts_of_registers_are_cleaned(sent: object, text: str) -> None:
    assert clean_text(sent) == text


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Deep Learning", "deep learning", True),
        ("Array programming with NumPy", "Array programming with NumPy: A study", True),
        ("Deep", "Deep learning", False),
        ("", "", False),
    ],
)
def test_titles_are_compared_strictly(one: str, other: str, same: bool) -> None:
    assert same_title(one, other) == same
