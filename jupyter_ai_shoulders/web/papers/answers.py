"""The parts of answers about papers that are used; sources are cited in ``web.papers.sources``."""

from __future__ import annotations

from pydantic import Field

from jupyter_ai_shoulders.web.service_answers import VendorModel


class OpenAlexAuthor(VendorModel):
    """An author."""

    display_name: str | None = None


class OpenAlexAuthorship(VendorModel):
    """A place in the list of authors."""

    author: OpenAlexAuthor | None = None


class OpenAlexSource(VendorModel):
    """A journal or repository."""

    display_name: str | None = None


class OpenAlexLocation(VendorModel):
    """Where a work was published."""

    source: OpenAlexSource | None = None


class OpenAlexAccess(VendorModel):
    """Where a work can be read freely."""

    oa_url: str | None = None


class OpenAlexBiblio(VendorModel):
    """Its place in a volume."""

    volume: str | None = None
    issue: str | None = None
    first_page: str | None = None
    last_page: str | None = None


class OpenAlexWork(VendorModel):
    """A work."""

    id: str
    doi: str | None = None
    title: str | None = None
    publication_year: int | None = None
    type: str | None = None
    cited_by_count: int | None = None
    authorships: tuple[OpenAlexAuthorship, ...] = ()
    primary_location: OpenAlexLocation | None = None
    open_access: OpenAlexAccess | None = None
    biblio: OpenAlexBiblio | None = None
    abstract_inverted_index: dict[str, tuple[int, ...]] | None = None
    is_retracted: bool | None = None


class OpenAlexMeta(VendorModel):
    """How many works there are."""

    count: int


class OpenAlexAnswer(VendorModel):
    """``GET /works``."""

    meta: OpenAlexMeta
    results: tuple[OpenAlexWork, ...]


class ExaWork(VendorModel):
    """A result."""

    url: str
    title: str | None = None
    author: str | None = None
    publishedDate: str | None = None  # noqa: N815 - the service's name
    text: str | None = None


class ExaAnswer(VendorModel):
    """``POST /search``."""

    results: tuple[ExaWork, ...]


class CrossrefAuthor(VendorModel):
    """A person, or an organisation with a ``name``."""

    given: str | None = None
    family: str | None = None
    name: str | None = None


class CrossrefDate(VendorModel):
    """Year, month and day, as far as they are known."""

    date_parts: tuple[tuple[int | None, ...], ...] = Field(default=(), alias="date-parts")


class CrossrefUpdate(VendorModel):
    """A notice about the work."""

    type: str | None = None


class CrossrefWork(VendorModel):
    """A work."""

    DOI: str
    title: tuple[str, ...] = ()
    author: tuple[CrossrefAuthor, ...] = ()
    issued: CrossrefDate | None = None
    type: str | None = None
    container_title: tuple[str, ...] = Field(default=(), alias="container-title")
    is_referenced_by_count: int | None = Field(default=None, alias="is-referenced-by-count")
    volume: str | None = None
    issue: str | None = None
    page: str | None = None
    abstract: str | None = None
    updated_by: tuple[CrossrefUpdate, ...] = Field(default=(), alias="updated-by")


class CrossrefMessage(VendorModel):
    """The works of an answer."""

    items: tuple[CrossrefWork, ...]
    total_results: int = Field(alias="total-results")


class CrossrefAnswer(VendorModel):
    """``GET /works``."""

    message: CrossrefMessage
