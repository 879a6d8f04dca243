"""Results of web tools, and the routes of the web services' settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel


class WebResult(WireModel):
    """One result of ``web_search``."""

    title: str
    url: str
    snippet: str
    date: str | None = None
    """As the service states it."""


class Paper(WireModel):
    """One work of ``search_papers``, slimmed; what its source does not say is null."""

    title: str
    authors: tuple[str, ...] = ()
    more_authors: int = 0
    """How many authors are left out."""
    year: int | None = None
    doi: str | None = None
    """Without ``https://doi.org/``."""
    url: str | None = None
    citations: int | None = None
    type: str | None = None
    venue: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    abstract: str | None = None
    """Its first 300 characters."""
    open_access_url: str | None = None
    is_retracted: bool = False


class PaperSearch(WireModel):
    """The data of a ``search_papers`` result."""

    query: str
    source: str
    """The service that answered."""
    total: int
    works: tuple[Paper, ...]
    notes: tuple[str, ...] = ()
    """What failed, and what is missing because of it."""


class WebServiceInfo(WireModel):
    """A web service as the settings page shows it."""

    id: str
    title: str
    purpose: str
    """What it is used for."""
    kinds: tuple[Literal["papers", "web_search", "register", "library"], ...]
    key_variable: str | None
    """The environment variable of its key; null where it takes none."""
    key_required: bool
    key_source: Literal["environment", "keyring", "file"] | None
    """Where its key is; null without one."""
    key_last4: str | None
    key_url: str | None
    """The page where its keys are made."""
    address: str
    """Its address; empty where the user must give one."""
    address_editable: bool
    address_locked: bool
    """Whether the administrator gave the address."""


class WebServiceList(WireModel):
    """``GET services``."""

    services: tuple[WebServiceInfo, ...]
    disabled: str | None
    """Why no service is called: external tools are switched off; null otherwise."""


class PutServiceKey(CommandModel):
    """``PUT services/{id}/key``; null removes the stored key."""

    key: str | None = Field(default=None, max_length=4096, repr=False)


class PutServiceAddress(CommandModel):
    """``PUT services/{id}/address``; null removes it."""

    address: str | None = Field(default=None, max_length=2048)


class ServiceTest(WireModel):
    """``POST services/{id}/test``."""

    ok: bool
    message: str
    hint: str | None = None
