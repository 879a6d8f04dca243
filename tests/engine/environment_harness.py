"""An engine with a workspace that a test can change: the ``Environment`` as plain fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.environment.attachments import (
    AttachmentContent,
    describe_attachment,
)
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.engine.environment.snapshot import (
    InstructionSet,
    MemorySnapshot,
    SourceText,
    WorkspaceFact,
    WorkspaceSituation,
)
from jupyter_ai_shoulders.engine.ports import ResolvedModel
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.providers.base import ModelRequest, Provider
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider, ScriptEntry
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart
from jupyter_ai_shoulders.wire.sessions import Session
from tests.engine.engine_harness import (
    EngineHarness,
    FakeModels,
    MemoryFile,
    make_session,
    make_settings,
    model_spec,
)
from tests.engine.fake_tools import ToolProbe, registry


@dataclass
class FakeEnvironment:
    """The workspace; ``files`` maps descriptions of attachments to their contents."""

    system: str | None = None
    instructions: dict[str, str] = field(default_factory=dict[str, str])
    skills: tuple[Skill, ...] = ()
    skill_texts: dict[str, str] = field(default_factory=dict[str, str])
    now: WorkspaceSituation = field(default_factory=WorkspaceSituation)
    files: dict[str, str | AttachmentContent] = field(
        default_factory=dict[str, str | AttachmentContent]
    )
    problems: tuple[str, ...] = ()
    failure: ShouldersError | None = None
    captured: list[str] = field(default_factory=list[str])
    around_thread: tuple[WorkspaceFact, ...] = ()
    remembered: MemorySnapshot = field(default_factory=MemorySnapshot)

    async def load_instructions(self) -> InstructionSet:
        if self.failure is not None:
            raise self.failure
        return InstructionSet(
            system=SourceText(".shoulders/system.md", self.system) if self.system else None,
            instructions=tuple(SourceText(name, text) for name, text in self.instructions.items()),
            skills=self.skills,
            locale="en_GB",
            problems=self.problems,
        )

    async def memory(self, session: Session) -> MemorySnapshot:
        return self.remembered

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        return self.now

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        return self.around_thread if session.anchor is not None else ()

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        what = describe_attachment(attachment)
        self.captured.append(what)
        found = self.files.get(what)
        if found is None:
            raise NotFound("It is gone.")
        return (
            found
            if isinstance(found, AttachmentContent)
            else AttachmentContent((TextPart(text=found),))
        )

    async def skill(self, skill: Skill) -> SkillText | None:
        text = self.skill_texts.get(skill.name)
        return None if text is None else SkillText(text, skill.reviewed)


class ServedModels(FakeModels):
    """Models of any provider, by id."""

    def __init__(self, providers: dict[ModelSpec, Provider]) -> None:
        self.providers = {spec.id: (spec, provider) for spec, provider in providers.items()}
        self.default = next(iter(self.providers))

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        return ResolvedModel(*self.providers[model_id or self.default])


def make_engine_in_environment(
    place: FakeEnvironment, *script: ScriptEntry, **more: Any
) -> EngineHarness:
    """Return an engine in this environment that plays a script."""
    provider = ScriptedProvider(*script)
    return engine_in(place, FakeModels(provider, model_spec()), provider, **more)


def engine_in(
    place: FakeEnvironment,
    models: FakeModels,
    provider: ScriptedProvider | None = None,
    store: MemoryStore | None = None,
    **limits: Any,
) -> EngineHarness:
    """Return an engine in this environment with these models."""
    if store is None:
        store = MemoryStore()
        store.add(make_session())
    file, ids, probe = MemoryFile(), CountingIds(), ToolProbe()
    engine = Engine(
        EngineServices(
            log=store,
            sessions=store,
            blobs=store.blobs,
            models=models,
            tools=registry(probe),
            rules=PermissionStore(file),
            clock=store.clock,
            ids=ids,
            settings=make_settings(**limits),
            environment=place,
            background_tasks=BackgroundTasks(ids),
        ),
    )
    return EngineHarness(store, probe, provider or ScriptedProvider(), models, file, engine, ids)


def user_texts(request: ModelRequest) -> list[str]:
    """Return the user's texts in a request, in order."""
    return [
        part.text
        for message in request.messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, TextPart)
    ]


def newest(request: ModelRequest) -> str:
    """Return all text of the last message."""
    return "\n".join(part.text for part in request.messages[-1].parts if isinstance(part, TextPart))


def images(request: ModelRequest) -> list[ImagePart]:
    """Return the images of a request."""
    return [
        part
        for message in request.messages
        for part in message.parts
        if isinstance(part, ImagePart)
    ]


def rebases(w: EngineHarness) -> list[str]:
    """Return the reasons of all rebases, in order."""
    return [event.reason for event in w.of(ev.ContextRebase)]
