"""Describes calls before they run: presentation, validity and permission.

``describe`` is used by ``engine.calls.model_call`` when the model made a call, ``judge`` by
``engine.session.effect_runner`` right before the call would run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.engine.calls.approval_integrity import (
    canonical_hash,
    confinement_of,
    fact_hashes,
)
from jupyter_ai_shoulders.engine.loop.operations import Allowed, NeedsApproval
from jupyter_ai_shoulders.engine.loop.state import CallState, DeferToUser, RejectCall, SessionState
from jupyter_ai_shoulders.engine.loop.synthetic_results import error_text
from jupyter_ai_shoulders.engine.transcript.unwrap_call_tool import UnwrappedCall, unwrap_call
from jupyter_ai_shoulders.providers.base import ToolCallReady
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Tool, ToolArguments
from jupyter_ai_shoulders.tools.code_analysis.effects import code_effects
from jupyter_ai_shoulders.tools.external_agents.counterparts import COUNTERPARTS
from jupyter_ai_shoulders.tools.load_tools import LOAD_TOOLS
from jupyter_ai_shoulders.tools.notebook.run_durations import duration_text
from jupyter_ai_shoulders.tools.permissions.command_rules import command_reach
from jupyter_ai_shoulders.tools.permissions.grants import Grant, PlannedGrants, target_of
from jupyter_ai_shoulders.tools.permissions.rules import (
    ONCE,
    Allow,
    Ask,
    Deny,
    PermissionRequest,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.read_output import READ_OUTPUT
from jupyter_ai_shoulders.tools.registry import INTERNAL, InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ApprovalReason,
    ApprovalScope,
    CommandReach,
    EffectKind,
    Risk,
    ToolCall,
)
from jupyter_ai_shoulders.wire.sessions import Mode, ToolsMode

GOES_ROUND = ApprovalReason(
    kind="loop", text="The agent made this call four times with the same result."
)


@dataclass(frozen=True, slots=True)
class Approvals:
    """Evaluates calls by their tools and the permission rules."""

    tools: ToolRegistry
    rules: PermissionStore
    planned: PlannedGrants

    async def describe(self, ready: ToolCallReady, context: CallContext) -> ToolCall:
        """Return the event of a call the model made, valid or not."""
        names = self.tools.names(context.toolset)
        disabled = self._switched_off() | context.withheld
        made = unwrap_call(ready, self.tools, set(names) - disabled)
        tool = self._find_tool(made.tool, context)
        checked = self._checked(made, tool, [name for name in names if name not in disabled])
        problem = checked if isinstance(checked, str) else None
        subject = None
        if tool is not None and not isinstance(checked, str):
            subject = await _subject(tool, checked, context)
        return ToolCall(
            call_id=context.call_id,
            tool=made.tool,
            arguments=None if problem else made.arguments,
            raw=ready.raw if problem or made.via else None,
            invalid=problem,
            risk=tool.risk if tool else "read",
            external=tool.external if tool else False,
            title=subject.title if subject else made.tool.replace("_", " ").capitalize(),
            target=subject.target_label if subject else None,
            state=ready.state,
            via=made.via,
            package=self.tools.package_of(made.tool),
        )

    async def judge(
        self,
        call: CallState,
        context: CallContext,
        state: SessionState,
        mode: Mode,
        tools_mode: ToolsMode,
    ) -> Allowed | NeedsApproval | RejectCall | DeferToUser:
        """Return whether the call may run. Raises what a bug in a tool raises."""
        refused = self._refused(call, tools_mode)
        tool = self._find_tool(call.tool, context)
        if tool is not None and tool.category == INTERNAL and _is_led_by_model(state):
            tool = None
        if refused is not None or tool is None or call.arguments is None:
            return refused or RejectCall("error", _invalid_call(call, known=tool is not None))
        try:
            args = self.tools.validate(call.tool, call.arguments)
            if isinstance(args, InvalidCall):
                return RejectCall("error", args.error)
            if tools_mode == "parse_only" and not _is_conversation_tool(tool):
                return DeferToUser()
            subject = await tool.subject(args, context)
        except ShouldersError as error:
            return RejectCall("error", error.info)
        question = PermissionRequest(
            call.tool,
            tool.risk,
            tool.external,
            subject,
            state.taint,
            state.opened,
            state.addresses,
            COUNTERPARTS.get(call.tool, ()),
        )
        decision = decide(
            question,
            self.rules.rules,
            self._grants(state, context),
            mode=mode,
            interactive=state.policy.interactive,
        )
        if isinstance(decision, Allow) and state.policy.interactive:
            repeated = _is_led_by_model(state) and state.progress.should_ask(
                call.tool, call.arguments
            )
            decision = Ask(GOES_ROUND, ONCE) if repeated else decision
        return _outcome(decision, call.arguments, subject, tool)

    def _grants(self, state: SessionState, context: CallContext) -> Sequence[Grant]:
        """Return the grants of the conversation, and those of a plan that leads the turn."""
        if state.turn is None:
            return state.grants
        return (*state.grants, *self.planned(context.session_id, state.turn.model))

    def check_policy(self, call: CallState, subject: CallSubject | None) -> ErrorInfo | None:
        """Return why a call may not run; the rules may have changed since it was judged.

        ``subject`` is the call's current subject, None for reads.
        """
        refused = self._refused(call, "enabled")
        if refused is not None:
            return refused.error
        tool = self.tools.get(call.tool)
        if tool is None:
            return _invalid_call(call, known=False)
        target = target_of(call.arguments or {}, call.tool)
        seen = subject or CallSubject(title=call.title, target_label=None, target=target)
        question = PermissionRequest(
            call.tool,
            tool.risk,
            tool.external,
            seen,
            counterparts=COUNTERPARTS.get(call.tool, ()),
        )
        decision = decide(question, self.rules.rules, (), mode="bypass", interactive=True)
        if isinstance(decision, Deny):
            return ErrorInfo(code=decision.code, message=decision.text)
        return None

    def _find_tool(self, name: str, context: CallContext) -> Tool[Any] | None:
        """Return the tool if the conversation's toolset has it, or it serves agents of others."""
        tool = self.tools.get(name)
        if tool is not None and tool.category == INTERNAL:
            return tool
        has = name in self.tools.names(context.toolset) and name not in context.withheld
        return tool if has else None

    def _switched_off(self) -> frozenset[str]:
        try:
            return self.rules.disabled
        except StateUnavailable:
            return frozenset()  # reported when the call is judged, which precedes every run

    def _checked(
        self, made: UnwrappedCall, tool: Tool[Any] | None, available: Sequence[str]
    ) -> ToolArguments | str:
        """Return the arguments, or why the call is invalid; ``available`` names the available
        tools.
        """
        if tool is not None and (made.problem or made.arguments is None):
            return made.problem or "The arguments are not a JSON object."
        names = [*available, made.tool] if tool is not None else available
        checked = self.tools.validate(made.tool, made.arguments or {}, names)
        return error_text(checked.error) if isinstance(checked, InvalidCall) else checked

    def _refused(self, call: CallState, tools_mode: ToolsMode) -> RejectCall | None:
        if tools_mode == "disabled":
            message = "Tools are switched off in this conversation."
            return RejectCall("error", ErrorInfo(code="disabled", message=message))
        if call.tool in self.rules.disabled:
            message = f"The tool {call.tool} is switched off in the permissions."
            return RejectCall("error", ErrorInfo(code="disabled", message=message))
        return None


def arguments_hash(arguments: JsonObject) -> str:
    """Return the SHA-256 of the arguments' canonical JSON."""
    return canonical_hash(arguments)


async def _subject(
    tool: Tool[Any], args: ToolArguments, context: CallContext
) -> CallSubject | None:
    """Return the call's subject; None when its target cannot be inspected (the call will fail)."""
    try:
        return await tool.subject(args, context)
    except ShouldersError:
        return None


def _invalid_call(call: CallState, *, known: bool) -> ErrorInfo:
    return ErrorInfo(
        code="invalid_arguments" if known else "unknown_tool",
        message=call.invalid or f"There is no tool named {call.tool!r}.",
    )


def _is_led_by_model(state: SessionState) -> bool:
    """Return whether a language model chooses the calls, so that it may loop by itself."""
    return state.turn is not None and not is_external_agent(state.turn.model)


def _is_conversation_tool(tool: Tool[Any]) -> bool:
    """Return whether the call concerns the conversation itself, so only the engine can run it."""
    return tool.category == "loop" or tool.name in {LOAD_TOOLS, READ_OUTPUT}


def _loggable_scopes(
    scopes: tuple[ApprovalScope, ...], arguments: JsonObject, tool: str
) -> tuple[ApprovalScope, ...]:
    """Return the scopes whose reach can be recorded in the log.

    The scope of a document needs a path in the arguments, that of a command a rule that covers it.
    """
    target = target_of(arguments, tool)
    left_out: set[ApprovalScope] = set()
    if target.path is None:
        left_out.add("document")
    if target.command is not None and command_reach(target.command) is None:
        left_out |= {"session", "always"}
    return tuple(scope for scope in scopes if scope not in left_out)


def _reach(arguments: JsonObject, tool: str) -> CommandReach | None:
    command = target_of(arguments, tool).command
    return None if command is None else command_reach(command)


def _effects(subject: CallSubject, risk: Risk) -> tuple[EffectKind, ...] | None:
    """Return the effects found in the code; None for calls that run no code."""
    if risk != "execute" or subject.preview is None or subject.language is None:
        return None
    return code_effects(subject.preview, subject.language)


def _with_notes(reason: ApprovalReason, subject: CallSubject) -> ApprovalReason:
    took = (
        ()
        if subject.last_duration_ms is None
        else (f"It took {duration_text(subject.last_duration_ms)} last time.",)
    )
    text = " ".join((reason.text, *took, *subject.notes))
    return reason.model_copy(update={"text": text})


def _outcome(
    decision: Allow | Ask | Deny, arguments: JsonObject, subject: CallSubject, tool: Tool[Any]
) -> Allowed | NeedsApproval | RejectCall:
    match decision:
        case Allow(reason=because):
            return Allowed(because, confinement_of(subject))
        case Deny(text=text, code=code):
            return RejectCall("denied", ErrorInfo(code=code, message=text))
        case Ask():
            return NeedsApproval(
                arguments=arguments,
                arguments_hash=arguments_hash(arguments),
                preview=subject.preview,
                language=subject.language,
                reason=_with_notes(decision.reason, subject),
                scopes=_loggable_scopes(decision.scopes, arguments, tool.name),
                confinement=confinement_of(subject),
                reach=_reach(arguments, tool.name),
                effects=_effects(subject, tool.risk),
                fact_hashes=fact_hashes(
                    subject, arguments=arguments, external=tool.external, risk=tool.risk
                ),
            )
        case _:
            assert_never(decision)
