"""The kernel's variables in a message: in its environment and attachments."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.context import attachment_content as captures_module
from jupyter_ai_shoulders.host.context.attachment_content import AttachmentReader
from jupyter_ai_shoulders.host.context.environment import (
    REFRESH_SECONDS,
    InstructionSources,
    WorkspaceEnvironment,
)
from jupyter_ai_shoulders.notebook.base import KernelHandle
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.kernels.variable_info import (
    ColumnInfo,
    NamespaceInfo,
    VariableInfo,
    VariableSnapshot,
)
from jupyter_ai_shoulders.testing.memory_notebooks import MemoryNotebooks
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.api.settings import DataValues
from jupyter_ai_shoulders.wire.messages import MessageContext, VariableAttachment
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.engine.engine_harness import make_session

PATH = "a.ipynb"


class OneKernel(LocalKernels):
    """An idle kernel for one notebook."""

    async def find(self, path: str) -> KernelHandle | None:
        manager = SimpleNamespace(execution_state="idle")
        return KernelHandle("k1", "ir", "R", manager, cast("Any", None))


FRAME = VariableInfo(
    name="df",
    type="pandas.DataFrame",
    shape=(3, 1),
    columns=(ColumnInfo(name="price", dtype="float64", nulls=0, sample=("1.5",)),),
    columns_total=1,
)


class FakeVariables:
    """A kernel's last known variables, and whether it was asked again."""

    def __init__(self, **changes: Any) -> None:
        namespace = NamespaceInfo(variables=(FRAME,), total=1, functions=("load",))
        self.answer = replace(
            VariableSnapshot("k1", "ir", "R", "schema_only", namespace), **changes
        )
        self.levels: list[DataValues] = []
        self.refreshed: list[tuple[str, float]] = []

    async def describe(
        self, path: str, level: DataValues, names: Sequence[str] = ()
    ) -> VariableSnapshot:
        assert path == PATH
        self.levels.append(level)
        return replace(self.answer, level=level, namespace=self.answer.namespace.only(names))

    def last_of(self, handle: KernelHandle) -> VariableSnapshot | None:
        return self.answer if handle.kernel_id == "k1" else None

    def refresh_soon(self, handle: KernelHandle, delay_s: float = 0.0) -> None:
        self.refreshed.append((handle.kernel_id, delay_s))


def variable_captures(
    root: Path, known: FakeVariables | None, level: DataValues
) -> AttachmentReader:
    store = MemoryStore()
    return AttachmentReader(
        workspace=Workspace(root),
        notebooks=MemoryNotebooks(),
        blobs=store.blobs,
        log=store,
        sessions=store,
        redact=lambda text: text,
        variables=known,
        level=lambda: level,
    )


async def attached_variable(
    tmp_path: Path, name: str, known: FakeVariables, level: DataValues = "schema_only"
) -> AttachmentContent:
    attachment = VariableAttachment(kind="variable", path=PATH, name=name)
    captures = variable_captures(tmp_path, known, level)
    found = await captures.capture(attachment, make_session(), images=False)
    assert found is not None
    return found


async def test_an_attached_variable_is_told_as_far_as_the_user_lets_it_out(tmp_path: Path):
    known = FakeVariables()
    told = await attached_variable(tmp_path, "df", known, "samples")
    assert known.levels == ["samples"]
    assert told.content == (
        TextPart(text="df: pandas.DataFrame · 3 × 1\n    price: float64 · 0 missing · values: 1.5"),
    )
    assert (told.note, told.warn) == (None, False)


async def test_an_attached_variable_of_a_busy_kernel_says_how_old_it_is(tmp_path: Path):
    told = await attached_variable(
        tmp_path, "df", FakeVariables(age_s=61.0, why_old="the kernel is busy")
    )
    assert told.note == "as it was 61 s ago: the kernel is busy"


async def test_an_attached_variable_that_is_gone_is_said(tmp_path: Path):
    told = await attached_variable(tmp_path, "other", FakeVariables())
    assert (told.content, told.note, told.warn) == ((), "the kernel has no such variable", True)


async def test_an_attached_variable_of_a_kernel_that_hangs_does_not_hold_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Hanging(FakeVariables):
        async def describe(
            self, path: str, level: DataValues, names: Sequence[str] = ()
        ) -> VariableSnapshot:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(captures_module, "VARIABLE_SECONDS", 0.05)
    told = await attached_variable(tmp_path, "df", Hanging())
    assert told.note == "its kernel did not answer in time"


async def test_the_last_known_variables_are_told_and_asked_for_again_later(tmp_path: Path):
    known = FakeVariables(age_s=125.0)
    places = InstructionSources(Workspace(tmp_path), tmp_path / ".shoulders", {})
    kernels = OneKernel(tmp_path)
    around = WorkspaceEnvironment(
        places,
        kernels,
        variable_captures(tmp_path, None, "schema_only"),
        lambda text: text,
        MemoryStore().clock,
        variables=known,
    )
    facts = (await around.situation(MessageContext(active_document=PATH))).facts[:2]
    assert facts == (
        WorkspaceFact(
            "kernel of the active document", "ir, R, idle, variables known from 2 min ago"
        ),
        WorkspaceFact(
            "variables of the kernel",
            "df: pandas.DataFrame · 3 × 1 · columns: price float64\nfunctions: load",
            is_data=True,
            path=PATH,
        ),
    )
    assert known.refreshed == [("k1", REFRESH_SECONDS)]
    assert "1.5" not in facts[1].text
