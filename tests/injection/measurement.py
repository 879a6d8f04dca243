"""Runs the cases and counts how they ended."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections import Counter, deque
from collections.abc import Collection, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.injection.actions import ACTIONS, QUICK, Action, run_own
from tests.injection.channels import CHANNELS, CONTROL, Channel
from tests.injection.conversation_cases import Case, Outcome
from tests.injection.host_session import InjectionHost, sandbox_here
from tests.injection.obeying_model import Script
from tests.injection.server_channels import SERVER_CHANNELS

MODES: tuple[Mode, ...] = ("ask", "auto_edit", "bypass")
COLUMNS: tuple[Outcome, ...] = ("not sent", "asked", "refused", "allowed edit", "violation")


@dataclass(slots=True)
class Measured:
    """How cases ended, by channel."""

    outcomes: dict[tuple[str, Mode], Counter[Outcome]] = field(
        default_factory=dict[tuple[str, Mode], Counter[Outcome]]
    )
    violations: list[str] = field(default_factory=list[str])
    silent_control: list[str] = field(default_factory=list[str])
    """Actions that start when nothing was injected: the measure sees them start."""
    stuck_control: list[str] = field(default_factory=list[str])
    """Actions that do not start even then, so that their cases say nothing."""

    def add(self, channel: Channel, case: Case, outcome: Outcome) -> None:
        """Count a case."""
        self.outcomes.setdefault((channel.name, case.mode), Counter())[outcome] += 1
        if outcome == "violation":
            self.violations.append(f"{channel.name} · {case.action.name} · {case.mode}")

    def total(self, modes: Collection[Mode], channel: str | None = None) -> Counter[Outcome]:
        """Return how the cases of these modes ended, of one channel or of all."""
        total: Counter[Outcome] = Counter()
        for (name, mode), counted in self.outcomes.items():
            if mode in modes and channel in {None, name}:
                total += counted
        return total


async def measure(*, quick: bool) -> Measured:
    """Run all cases; ``quick``: six actions in the mode ``ask``."""
    measured = Measured()
    actions = [action for action in ACTIONS if not quick or action.name in QUICK]
    modes = MODES[:1] if quick else MODES
    sandbox = await sandbox_here()
    by_workspace: dict[str, list[Channel]] = {}
    for channel in (*CHANNELS, *SERVER_CHANNELS):
        by_workspace.setdefault(channel.workspace, []).append(channel)
    for name, channels in by_workspace.items():
        with tempfile.TemporaryDirectory() as folder:
            stage = InjectionHost(Path(folder) / "stage", name, sandbox)
            await _measure_stage(stage, channels, actions, modes, measured)
    with tempfile.TemporaryDirectory() as folder:
        await _control(
            InjectionHost(Path(folder) / "stage", CONTROL.workspace, sandbox), actions, measured
        )
    return measured


async def _measure_stage(
    stage: InjectionHost,
    channels: Sequence[Channel],
    actions: Sequence[Action],
    modes: Sequence[Mode],
    measured: Measured,
) -> None:
    await stage.open()
    numbers = itertools.count(1)
    try:
        await _prepare(stage, channels)
        for channel, mode in itertools.product(channels, modes):
            chosen = [action for action in actions if action.is_tried(mode)]
            own = () if channel.own is None else (run_own(*channel.own),)
            for case in await _cases(stage, channel, [*chosen, *own], mode, numbers):
                measured.add(channel, case, case.outcome(stage))
    finally:
        await stage.aclose()


async def _prepare(stage: InjectionHost, channels: Sequence[Channel]) -> None:
    """Have conversations that others are shown, and what is known of kernels."""
    if stage.name != "plain":
        return
    documents = stage.host.services.documents
    await documents.variables.describe("variables.ipynb", "schema_only")
    stale = await documents.notebooks.open("stale.ipynb").read()
    documents.staleness.ran("kernel of stale.ipynb", stale.cells[0], 1)
    await documents.staleness.report(stale)
    anchor = next(channel.anchor for channel in channels if channel.anchor is not None)
    for text, place in (("INJECTED-thread", None), ("INJECTED-task", anchor)):
        session_id = stage.create(Script("", says=text), "ask", place)
        await stage.say(session_id)
        stage.said[text] = session_id


async def _cases(
    stage: InjectionHost,
    channel: Channel,
    actions: Iterable[Action],
    mode: Mode,
    numbers: Iterator[int],
) -> list[Case]:
    """Run a conversation for each action, and return them at their end."""
    cases: list[Case] = []
    for action in actions:
        script = Script(channel.marker, reads=deque(channel.reads))
        session_id = stage.create(script, mode, channel.anchor)
        cases.append(Case(action, action.call(next(numbers)), mode, session_id, script))
    stage.refresh()
    if channel.between is not None:
        await _together(stage, channel, (stage.say(case.session_id, mode=mode) for case in cases))
        await channel.between(stage, cases)
    await _together(
        stage, channel, (_act(stage, channel, case) for case in cases if not case.ended)
    )
    stage.tidy()
    return cases


async def _together(
    stage: InjectionHost, channel: Channel, turns: Iterable[Coroutine[None, None, None]]
) -> None:
    """Run turns at once, where their tools do not stand in each other's way."""
    if channel.together:
        await asyncio.gather(*turns)
        return
    for each in turns:
        stage.refresh()
        await each


async def _act(stage: InjectionHost, channel: Channel, case: Case) -> None:
    """Send the message of the turn in which the model obeys."""
    case.script.action = case.call
    context = MessageContext(
        active_document=channel.active,
        active_cell_id=channel.active_cell,
        selection=channel.selection,
        open_documents=(*stage.opened, *channel.also_open),
    )
    attachments = () if channel.attach is None else channel.attach(stage)
    await stage.say(
        case.session_id, channel.text, attachments=attachments, context=context, mode=case.mode
    )


async def _control(stage: InjectionHost, actions: Sequence[Action], measured: Measured) -> None:
    """See that each action starts by the rule when nothing was injected."""
    await stage.open()
    try:
        for case in await _cases(stage, CONTROL, actions, "ask", itertools.count(1)):
            started = case.outcome(stage) in {"violation", "allowed edit"}
            seen = measured.silent_control if started else measured.stuck_control
            seen.append(case.action.name)
    finally:
        await stage.aclose()


def table(measured: Measured) -> Iterator[str]:
    """Yield the lines of the report."""
    yield f"{'':32}{'cases':>7}" + "".join(f"{name:>14}" for name in COLUMNS)
    names = dict.fromkeys(name for name, _ in measured.outcomes)
    judged, bypass = MODES[:2], MODES[2:]
    for name in names:
        yield _row(name, measured.total(judged, name))
    yield ""
    yield from (f"violation: {violation}" for violation in measured.violations)
    tried = len(measured.silent_control) + len(measured.stuck_control)
    yield (
        f"control: {len(measured.silent_control)} of {tried} actions start when nothing was "
        f"injected {measured.stuck_control or ''}".rstrip()
    )
    if measured.total(bypass):
        yield _row("bypass, all channels", measured.total(bypass))
    yield _row("ask and auto_edit, all channels", measured.total(judged))


def _row(name: str, counted: Counter[Outcome]) -> str:
    counts = "".join(f"{counted[column]:>14}" for column in COLUMNS)
    return f"{name:32}{counted.total():>7}{counts}"
