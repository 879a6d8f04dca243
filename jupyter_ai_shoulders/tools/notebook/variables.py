"""The tool that describes the variables of a notebook's kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import cast

from pydantic import Field

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.kernels.variable_info import VariableSnapshot, variable_lines
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Result,
    Target,
    ToolArguments,
    ToolOutput,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess, file_name
from jupyter_ai_shoulders.wire.api.settings import DataValues
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

LEVELS: dict[DataValues, str] = {
    "schema_only": "values are not included: the user's settings keep them in",
    "samples": "with a few values",
    "full": "with values",
}


class InspectVariablesArguments(ToolArguments):
    """Arguments of ``inspect_variables``."""

    path: str = Field(description="Workspace-relative path of the notebook.")
    names: tuple[str, ...] | None = Field(
        default=None,
        max_length=50,
        description="Variables to look into more closely; none: all, more briefly.",
    )


class InspectVariables(BaseTool[InspectVariablesArguments]):
    """Returns names, types, shapes, columns and sizes; values as far as the user allows."""

    name = "inspect_variables"
    category = "notebook"
    risk = "read"
    arguments = InspectVariablesArguments

    def __init__(
        self, access: NotebookAccess, variables: Variables, level: Callable[[], DataValues]
    ) -> None:
        self._access = access
        self._variables = variables
        self._level = level

    async def subject(self, args: InspectVariablesArguments, context: CallContext) -> CallSubject:
        path = (await self._access.open(args.path)).path
        count = len(args.names or ())
        some = "Inspect 1 variable" if count == 1 else f"Inspect {count} variables"
        return CallSubject(
            title=some if count else "Inspect variables",
            target_label=file_name(path),
            target=Target(path=path),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: InspectVariablesArguments, context: CallContext
    ) -> AsyncIterator[ToolOutput]:
        path = (await self._access.open(args.path)).path
        names = tuple(dict.fromkeys(args.names or ()))
        look = await self._variables.describe(path, self._level(), names)
        found = {variable.name for variable in look.namespace.variables}
        missing = [name for name in names if name not in found]
        if names and not found:
            raise NotFound(
                f"The kernel of {path} has no variable {', '.join(map(repr, missing))}.",
                hint="Call it without names to see which there are.",
            )
        yield _result(path, look, missing)


def _result(path: str, look: VariableSnapshot, missing: list[str]) -> Result:
    namespace = look.namespace
    notes = [f"Not defined: {', '.join(missing)}."] if missing else []
    if look.why_old is not None:
        notes.append(
            f"This is {look.age_s:.0f} s old, because {look.why_old}; it may have changed since."
        )
    warning = " ".join(notes) or None
    header = (
        f"Variables of {path} · kernel {look.kernel_name} · {namespace.total} in all · "
        f"{LEVELS[look.level]}"
    )
    lines = [header, *([warning] if warning else []), *variable_lines(namespace)]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="listing",
            data=_data(path, look),
            warning=warning,
            meta=ResultMeta(
                total=namespace.total, truncated=bool(namespace.more or namespace.unlisted) or None
            ),
        ),
        content=text_content("\n".join(lines)),
    )


def _data(path: str, look: VariableSnapshot) -> JsonObject:
    told = look.namespace.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return {
        "path": path,
        "kernel_id": look.kernel_id,
        "kernel_name": look.kernel_name,
        "level": look.level,
        "age_s": round(look.age_s, 1),
        **cast("JsonObject", told),
    }
