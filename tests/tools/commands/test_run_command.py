"""``run_command``: what it shows before, what it says after, and what holds it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.files.undo.shell_undo import ShellUndo
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import (
    NO_SANDBOX,
    SandboxCapabilities,
    detect_capabilities,
)
from jupyter_ai_shoulders.guard.sandbox.protected_paths import SandboxLocations
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    CallContext,
    Effect,
    Progress,
    Result,
    ToolOutput,
)
from jupyter_ai_shoulders.tools.commands.output_buffer import HEAD_LIMIT, LIVE_LIMIT, TAIL_LIMIT
from jupyter_ai_shoulders.tools.commands.run_command import (
    CommandPolicy,
    RunCommand,
    RunCommandArguments,
)
from jupyter_ai_shoulders.tools.permissions.grants import Grant
from jupyter_ai_shoulders.tools.permissions.rule_matching import ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.ids import CallId
from tests.files.file_workspace import FileWorkspace, file_workspace
from tests.guard.command_runner import PATH, is_running, pids, wait_for
from tests.tools.direct_calls import call, context, subject_of, text_of


@dataclass(slots=True)
class CommandHarness:
    """The tool, with a workspace."""

    here: FileWorkspace
    tool: RunCommand
    rules: CommandPolicy
    facts: SandboxCapabilities

    async def items(self, command: str, **given: Any) -> list[ToolOutput]:
        asked = self.tool.arguments(command=command, **given)
        async with aclosing(self.tool.run(asked, context())) as items:
            return [item async for item in items]


@asynccontextmanager
async def command_harness(
    folder: Path, facts: SandboxCapabilities | None = None
) -> AsyncGenerator[CommandHarness]:
    with file_workspace(folder) as here:
        spawners = SpawnerPool()
        real = facts or await detect_capabilities(spawners)
        places = SandboxLocations(
            here.root, here.root / ".shoulders", folder / "home", {"PATH": PATH}
        )

        async def told() -> SandboxCapabilities:
            return real

        made: list[CommandHarness] = []
        undo = ShellUndo(
            workspace=here.workspace,
            trash=here.trash,
            journal=here.journal,
            recovery=here.settling,
            ids=CountingIds(),
        )
        tool = RunCommand(
            folder=here.root,
            rules=lambda: made[0].rules,
            environment=lambda: {"PATH": PATH},
            spawners=spawners,
            sandbox=Sandbox(places, told),
            undo=undo,
        )
        made.append(CommandHarness(here, tool, CommandPolicy("sandbox"), real))
        try:
            yield made[0]
        finally:
            await tool.aclose()


HELD = SandboxCapabilities("landlock", covers=True, detail="for a test")


async def test_the_exact_line_is_shown_with_what_holds_it(tmp_path: Path) -> None:
    async with command_harness(tmp_path, HELD) as at:
        shown = await subject_of(at.tool, command="make  all | tee log")

        assert (shown.preview, shown.language) == ("make  all | tee log", "bash")
        assert shown.target.command == "make  all | tee log"
        assert shown.sandboxed is True
        assert shown.always_ask_reason is None
        assert shown.notes == ("Not covered by undo: it has a pipe.",)
        assert shown.undoable is False


async def test_a_line_that_can_be_taken_back_is_shown_as_such(tmp_path: Path) -> None:
    async with command_harness(tmp_path, HELD) as at:
        at.here.write("a", "x")

        shown = await subject_of(at.tool, command="mv a b")

        assert (shown.undoable, shown.notes) == (True, ())


@pytest.mark.parametrize("mode", ["host", "sandbox"])
async def test_without_a_sandbox_it_says_so_and_always_asks(tmp_path: Path, mode: Any) -> None:
    """Neither a rule, nor an answer, nor the mode bypass lets it pass."""
    async with command_harness(tmp_path, NO_SANDBOX if mode == "sandbox" else HELD) as at:
        at.rules = CommandPolicy(mode)
        shown = await subject_of(at.tool, command="ls")
        allowed = Rules(rules=(ToolRule("allow", "run_command"),))

        decision = decide(
            PermissionRequest("run_command", "execute", False, shown),
            allowed,
            [Grant("run_command")],
            mode="bypass",
            interactive=True,
        )

        assert shown.sandboxed is False
        assert isinstance(decision, Ask)
        assert (decision.reason.kind, decision.scopes) == ("sandbox", ("once",))


async def test_a_sandboxed_command_may_be_allowed_for_good(tmp_path: Path) -> None:
    async with command_harness(tmp_path, HELD) as at:
        shown = await subject_of(at.tool, command="ls")
        question = PermissionRequest("run_command", "execute", False, shown)
        grants = [Grant("run_command", command="ls")]

        assert isinstance(decide(question, Rules(), grants, mode="ask", interactive=True), Allow)


async def test_a_sandbox_that_cannot_hide_secrets_asks_and_names_them(tmp_path: Path) -> None:
    async with command_harness(tmp_path, replace(HELD, covers=False)) as at:
        at.here.write(".env", "KEY=1")
        at.here.write("deep/credentials", "x")

        shown = await subject_of(at.tool, command="ls")
        at.rules = CommandPolicy("sandbox_read_only")
        read_only = await subject_of(at.tool, command="ls")

        assert shown.sandboxed is True
        assert shown.always_ask_reason is not None
        assert ".env" in shown.always_ask_reason
        assert "credentials" in shown.always_ask_reason
        assert read_only.always_ask_reason is None


@pytest.mark.parametrize("mode", ["ask", "auto_edit", "bypass"])
async def test_a_line_that_names_instructions_asks_in_every_mode(tmp_path: Path, mode: Any) -> None:
    async with command_harness(tmp_path, HELD) as at:
        changes = await subject_of(at.tool, command="cp x AGENTS.md")
        looks = await subject_of(at.tool, command="cat AGENTS.md")

    assert looks.protected_path is None
    question = PermissionRequest("run_command", "execute", False, changes)
    grants = [Grant("run_command")]
    decision = decide(question, Rules(), grants, mode=mode, interactive=True)
    assert isinstance(decision, Ask)
    assert decision.scopes == ("once",)
    assert "AGENTS.md" in decision.reason.text


async def test_a_workspace_that_was_not_searched_whole_asks_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ai_shoulders.guard.sandbox.protected_paths._MOST_ENTRIES", 2)
    async with command_harness(tmp_path, HELD) as at:
        for number in range(4):
            at.here.write(f"{number}.txt", "x")

        shown = await subject_of(at.tool, command="ls")

    assert shown.always_ask_reason is not None
    assert "too large to search completely" in shown.always_ask_reason


CONFINED: dict[str, tuple[CommandPolicy, tuple[bool | None, bool | None, bool | None]]] = {
    "sandbox": (CommandPolicy("sandbox"), (True, False, False)),
    "network": (CommandPolicy("sandbox", network=True), (True, True, False)),
    "read-only": (CommandPolicy("sandbox_read_only"), (True, False, True)),
    "host": (CommandPolicy("host", network=True), (False, None, None)),
}


@pytest.mark.parametrize(("rules", "shown"), CONFINED.values(), ids=CONFINED.keys())
async def test_sandbox_and_network_are_shown(
    tmp_path: Path, rules: CommandPolicy, shown: tuple[bool | None, bool | None, bool | None]
) -> None:
    async with command_harness(tmp_path, HELD) as at:
        at.rules = rules
        subject = await subject_of(at.tool, command="ls")

        assert (subject.sandboxed, subject.network, subject.read_only) == shown


@pytest.mark.parametrize("judged", CONFINED.keys())
async def test_command_does_not_run_when_its_confinement_changed_after_it_was_judged(
    tmp_path: Path, judged: str
) -> None:
    async with command_harness(tmp_path, HELD) as at:
        at.rules = CONFINED[judged][0]
        subject = await subject_of(at.tool, command="touch x")
        given = at.tool.arguments(command="touch x")
        for other in CONFINED.keys() - {judged}:
            at.rules = CONFINED[other][0]
            async with aclosing(at.tool.run(given, replace(context(), subject=subject))) as items:
                (result,) = [item async for item in items]

            assert isinstance(result, Result)
            assert result.envelope.error is not None
            assert result.envelope.error.code == "stale"
        assert at.here.names() == []


async def test_command_runs_as_it_was_judged(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        subject = await subject_of(at.tool, command="echo x")
        given = at.tool.arguments(command="echo x")
        async with aclosing(at.tool.run(given, replace(context(), subject=subject))) as items:
            found = [item async for item in items]

        assert isinstance(found[-1], Result)
        assert found[-1].ok


async def test_where_a_sandbox_is_a_must_nothing_runs_without(tmp_path: Path) -> None:
    async with command_harness(tmp_path, NO_SANDBOX) as at:
        at.rules = CommandPolicy("sandbox", strict=True)

        with pytest.raises(PolicyRefusal, match="only in a sandbox"):
            await subject_of(at.tool, command="touch x")
        with pytest.raises(PolicyRefusal, match="only in a sandbox"):
            await call(at.tool, command="touch x")
        assert at.here.names() == []


async def test_commands_that_are_off_do_not_run_and_are_not_offered(tmp_path: Path) -> None:
    async with command_harness(tmp_path, HELD) as at:
        at.rules = CommandPolicy("none")

        with pytest.raises(PolicyRefusal, match="switched off"):
            await call(at.tool, command="touch x")
        assert at.here.names() == []

    class NoFile:
        def read(self) -> None:
            return None

        def write(self, text: str) -> None:
            raise AssertionError(text)

    assert PermissionStore(NoFile(), off=lambda: {"run_command"}).disabled == {"run_command"}


async def test_output_exit_code_and_time_are_told(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        done = await call(at.tool, command="echo one; echo two >&2")
        failed = await call(at.tool, command="echo no; exit 3")

        data: Any = done.envelope.data
        kind = at.facts.kind
        assert (data["exit_code"], data["sandbox"], data["status"]) == (0, kind, "ok")
        assert text_of(done).startswith("It ended with exit code 0 · ")
        assert {"one", "two"} <= set(text_of(done).splitlines())
        assert failed.envelope.error is not None
        assert failed.envelope.error.code == "command_failed"
        assert "exit code 3" in text_of(failed)
        assert "no" in text_of(failed).splitlines()


async def test_a_command_past_its_time_says_what_to_do(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        done = await call(at.tool, command="echo early; sleep 1000", timeout=1)

        assert done.envelope.error is not None
        assert done.envelope.error.code == "timeout"
        assert "after 1 s" in text_of(done)
        assert "background" in text_of(done)
        assert "early" in text_of(done)


async def test_what_it_left_running_is_told(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        done = await call(at.tool, command="sleep 1000 & setsid sleep 1000 & sleep 0.1")

        assert "2 processes it had left running were ended" in text_of(done)


async def test_output_streams_within_a_bound_and_keeps_head_and_tail(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        items = await at.items(
            "echo begin; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end"
        )
        (result,) = [item for item in items if isinstance(item, Result)]
        live = sum(
            len(item.text)
            for item in items
            if isinstance(item, Progress) and item.channel == "stdout"
        )

        assert live == LIVE_LIMIT
        text = text_of(result)
        assert "begin" in text
        assert text.rstrip().endswith("end")
        assert "characters left out" in text
        assert HEAD_LIMIT + TAIL_LIMIT < len(text) < HEAD_LIMIT + 2 * TAIL_LIMIT + 1_000


async def test_bars_of_progress_are_one_line(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        done = await call(at.tool, command="printf '10%%\\r50%%\\r100%%\\ndone\\n'")

        assert text_of(done).splitlines()[-2:] == ["100%", "done"]


async def test_a_cut_letter_and_bytes_that_are_no_text_come_through(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        command = "printf '\\xc3'; sleep 0.2; printf '\\xa4 \\xff\\n'"

        done = await call(at.tool, command=command)

        assert text_of(done).splitlines()[-1] == "ä \ufffd"


async def test_a_simple_line_is_taken_back_from_the_log(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        at.here.write("a", "of a")
        at.here.write("c", "of c")

        await call(at.tool, command="mv a b && rm c")
        (row, *_) = at.here.journal.recent()
        assert at.here.names() == ["b"]
        await at.here.undo.undo(row.id, at.here.journal.change(row.id).origin)

        assert at.here.names() == ["a", "c"]
        assert (at.here.read("a"), at.here.read("c")) == (b"of a", b"of c")


async def test_a_piped_line_is_a_row_that_cannot_be_taken_back(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        done = await call(at.tool, command="echo x | cat > y")

        (row,) = at.here.journal.recent()
        data: Any = done.envelope.data
        assert data["not_undoable"] == "it has a pipe"
        assert (row.kind, row.can_undo) == ("command", False)
        assert row.reason == "Not covered by undo: it has a pipe."


async def test_the_process_has_its_name_before_it_runs(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        effect = await at.tool.prepare(context())
        assert isinstance(effect, Effect)
        assert effect.pid is not None
        assert effect.process_start is not None
        assert is_running(effect.pid)

        done = await call(at.tool, command="cat /proc/$PPID/stat > /dev/null; echo $PPID")

        assert text_of(done).splitlines()[-1] == str(effect.pid)


async def test_what_was_prepared_and_never_run_ends_with_the_host(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        effect = await at.tool.prepare(context())

    assert effect.pid is not None
    assert not is_running(effect.pid)


async def test_a_cancelled_command_is_gone_before_the_call_ends(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        line = "setsid sleep 1000 & echo $! > a.pid; echo $$ > b.pid; wait"
        task = asyncio.create_task(at.items(line))
        await asyncio.to_thread(wait_for, at.here.root / "b.pid")

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert [is_running(pid) for pid in pids(at.here.root)] == [False, False]
        (row,) = at.here.journal.recent()
        assert row.can_undo is False


async def test_a_background_command_may_be_looked_at_while_it_runs(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        line = "echo early; echo $$ > a.pid; while ! test -e go; do sleep 0.01; done; echo late"
        looks: list[Result] = []
        ongoing: list[BackgroundCall] = []
        async with aclosing(_run(at, line, background=True)) as items:
            async for item in items:
                if isinstance(item, BackgroundCall):
                    ongoing.append(item)
                elif isinstance(item, Progress) and "early" in item.text:
                    looks.append(ongoing[0].current_result())
                    (at.here.root / "go").touch()
                elif isinstance(item, Result):
                    looks.append(item)

        first, last = looks
        assert ongoing[0].detached
        assert "still running" in text_of(first)
        assert "early" in text_of(first)
        assert text_of(last).splitlines()[-2:] == ["early", "late"]


def _run(at: CommandHarness, command: str, **given: Any) -> AsyncGenerator[ToolOutput]:
    asked = RunCommandArguments(command=command, **given)
    at_call: CallContext = replace(context(), call_id=CallId("call_2"))
    return at.tool.run(asked, at_call)


async def test_the_sandbox_is_looked_for_once(tmp_path: Path) -> None:
    asked: list[int] = []

    async def told(answers: list[int]) -> SandboxCapabilities:
        answers.append(1)
        await asyncio.sleep(0)
        return HELD

    places = SandboxLocations(tmp_path, tmp_path / ".shoulders", tmp_path / "home", {})
    box = Sandbox(places, partial(told, asked))

    assert await asyncio.gather(box.capabilities(), box.capabilities()) == [HELD, HELD]
    assert asked == [1]


async def test_instructions_that_a_command_made_are_set_aside_and_told(tmp_path: Path) -> None:
    async with command_harness(tmp_path) as at:
        at.here.write("make.sh", "echo 'Run it.' > AGENTS.md; echo x > plain.txt")
        (*_, result) = await at.items("bash make.sh")

        assert isinstance(result, Result)
        if at.facts.kind == "none":
            assert (at.here.root / "AGENTS.md").exists()
            return
        assert (at.here.root / "AGENTS.md.set-aside").read_text() == "Run it.\n"
        assert not (at.here.root / "AGENTS.md").exists()
        assert (at.here.root / "plain.txt").exists()
        assert "AGENTS.md (now AGENTS.md.set-aside)" in text_of(result)
        assert result.envelope.warning is not None


async def test_a_repository_that_would_run_something_is_set_aside_while_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "jupyter_ai_shoulders.tools.commands.new_file_monitor.CHECK_INTERVAL_S", 0.05
    )
    async with command_harness(tmp_path) as at:
        if at.facts.kind == "none":
            assert not at.facts.covers
            return
        line = (
            "mkdir -p a/.git; echo x > a/.git/commondir; until [ -e a/.git.set-aside ]; do :; done"
        )
        (*_, result) = await at.items(line, timeout=60)

        assert isinstance(result, Result)
        assert result.ok
        assert (at.here.root / "a/.git.set-aside/commondir").exists()
