"""The tool that adds a work to the bibliography."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import assert_never
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.references.extraction import Requester
from jupyter_ai_shoulders.references.identifiers import AddQuery
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Effect,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff, change_data
from jupyter_ai_shoulders.tools.files.access import origin_of
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker
from jupyter_ai_shoulders.tools.notebook.access import failure_result
from jupyter_ai_shoulders.tools.references.adding import Addition, ReferenceAdder, the_query
from jupyter_ai_shoulders.tools.references.read import reference_line
from jupyter_ai_shoulders.wire.api.references import PostReference
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.versions import ABSENT, text_version

_TITLE_LENGTH = 80


class AddReferenceArguments(ToolArguments):
    """Arguments of ``add_reference``: exactly one of them."""

    doi: str | None = Field(default=None, min_length=1, max_length=1_000, description="A DOI.")
    arxiv: str | None = Field(default=None, min_length=1, max_length=200, description="arXiv id.")
    url: str | None = Field(
        default=None, min_length=1, max_length=4_000, description="The publisher's page."
    )
    isbn: str | None = Field(default=None, min_length=1, max_length=200, description="An ISBN.")
    bibtex: str | None = Field(
        default=None, min_length=1, max_length=100_000, description="A whole BibTeX entry."
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=10_000,
        description="An entry of a reference list, as it is written there.",
    )
    file: str | None = Field(
        default=None, min_length=1, max_length=4_096, description="A PDF of the workspace."
    )

    @model_validator(mode="after")
    def _one_source(self) -> AddReferenceArguments:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("give exactly one of doi, arxiv, url, isbn, bibtex, text and file")
        return self

    def to_query(self) -> AddQuery:
        """Return the source that is given."""
        return the_query(PostReference(**self.model_dump()))


class AddReference(BaseTool[AddReferenceArguments]):
    """Looks a work up in public registers and adds it to the main bibliography."""

    name = "add_reference"
    category = "references"
    risk = "write"
    external = True
    arguments = AddReferenceArguments

    def __init__(self, adder: ReferenceAdder, versions: FileReadTracker) -> None:
        self._adder = adder
        self._versions = versions

    async def subject(self, args: AddReferenceArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown; a BibTeX entry with its change of the file."""
        query, library = args.to_query(), self._adder.library
        path = library.settings().main_file
        preview, language, effect = query.value, None, Effect()
        if query.kind == "bibtex":
            language = "bibtex"
            with contextlib.suppress(ShouldersError):  # ``run`` says what is wrong with it
                plan, _ = await self._adder.plan_bibtex(query.value)
                if plan is not None:
                    preview = await asyncio.to_thread(bounded_diff, plan.before, plan.after)
                    language = "diff"
                    effect = Effect(
                        before_version=ABSENT if plan.version is None else plan.version,
                        expected_version=text_version(plan.after),
                    )
        return CallSubject(
            title=_title(query),
            target_label=path,
            target=Target(path=path, domain=_domain(query)),
            preview=preview,
            language=language,
            undoable=True,
            in_page=library.in_page(path),
            effect=effect,
        )

    async def run(
        self, args: AddReferenceArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Add it. Raises like ``ReferenceAdder.add``."""
        query = args.to_query()
        if query.kind != "bibtex":
            yield Progress("status", "Asking the registers of publications")
        requester = Requester(context.session_id, context.turn_id)
        outcome = await self._adder.add(query, origin_of(context), requester)
        result = await asyncio.to_thread(_result, outcome)
        yield replace(result, seen=self._seen(outcome, context))

    def _seen(self, outcome: Addition, context: CallContext) -> tuple[SeenVersion, ...]:
        """Return what the conversation knows of the bibliography: the entry that it added."""
        made = outcome.change
        if made is None or made.after_version is None:
            return ()
        path, text = made.plan.path, made.plan.after
        snapshot = TextSnapshot(
            path, text, made.after_version, "disk", dirty=False, encoding="utf-8", newline="\n"
        )
        known = context.seen.get((path, None))
        whole = known is not None and known == made.plan.version
        return (self._versions.note(snapshot, whole=whole, before=known),)


def _result(outcome: Addition) -> Result:
    added, change = outcome.added, outcome.change
    if added.reference is None:
        return failure_result(
            ErrorInfo(
                code="not_found",
                message=f"Nothing was added. {added.reason}",
                hint="Check the identifier, or give another one; never make up an entry.",
            ),
            kind="not_found",
        )
    data = {
        "status": added.status,
        "reference": added.reference.model_dump(mode="json"),
        "reason": added.reason,
        "source": added.source,
    }
    line = reference_line(added.reference)
    if change is None:
        text = f"Nothing was added: {added.reason}\n{line}"
        return Result(ToolEnvelope(ok=True, kind="text", data={**data}), text_content(text))
    plan = change.plan
    diff = bounded_diff(plan.before, plan.after)
    text = f"Added to {plan.path} from {added.source}:\n{line}\n{added.reason}".rstrip()
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="diff",
            data={**change_data(plan.path, plan.before, plan.after, diff), **data},
            warning=added.reason or None,
        ),
        content=text_content(text),
        after_version=change.after_version,
    )


def _title(query: AddQuery) -> str:
    value = " ".join(query.value.split())
    shown = value if len(value) <= _TITLE_LENGTH else f"{value[:_TITLE_LENGTH]}…"
    match query.kind:
        case "doi":
            title = f"Add the reference with the DOI {shown}"
        case "arxiv":
            title = f"Add the reference arXiv:{shown}"
        case "isbn":
            title = f"Add the book with the ISBN {shown}"
        case "url":
            title = f"Add the reference of {shown}"
        case "bibtex":
            title = "Add a BibTeX entry"
        case "text":
            title = "Add a reference from a text"
        case "file":
            title = f"Add the paper {shown} to the references"
        case _:
            assert_never(query.kind)
    return title


def _domain(query: AddQuery) -> str | None:
    return (urlsplit(query.value).hostname or None) if query.kind == "url" else None
