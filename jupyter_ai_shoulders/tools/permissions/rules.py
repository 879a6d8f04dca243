"""Decides whether a call runs, asks or is refused: pure functions of values.

``engine.calls.approvals`` calls ``decide`` right before a call; ``tools.permissions.store`` creates
the rules from the user's file, ``engine.loop.event_reducer`` the grants from the log.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.sensitive_files.protected_files import protected_group_of
from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.definitions import changed_parts
from jupyter_ai_shoulders.tools.permissions.grants import Grant, grant_covers, normalize_path
from jupyter_ai_shoulders.tools.permissions.known_addresses import address_key
from jupyter_ai_shoulders.tools.permissions.patterns import glob_matches
from jupyter_ai_shoulders.tools.permissions.rule_matching import (
    ToolRule,
    names_document,
    rule_matches,
    target_paths,
)
from jupyter_ai_shoulders.tools.permissions.sealed_files import is_sealed
from jupyter_ai_shoulders.tools.permissions.taint import (
    TaintSource,
    blocking_sources,
    taint_warning,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.events import ApprovalReason, ApprovalScope, Risk
from jupyter_ai_shoulders.wire.sessions import Mode

ONCE: tuple[ApprovalScope, ...] = ("once",)
SECRET_SCOPES: tuple[ApprovalScope, ...] = ("once", "document")
"""A secret file may be allowed for the session, but never by a stored rule."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The permissions in force. ``broken`` says why the file as a whole cannot be read."""

    rules: tuple[ToolRule, ...] = ()
    disabled: frozenset[str] = frozenset()
    broken: str | None = None
    no_external: bool = False
    """Whether all external tools are switched off."""
    locked: tuple[ToolRule, ...] = ()
    """The administrator's rules; they deny or ask, and nothing overrides them."""
    programs: tuple[str, ...] = ()
    """Folders of the workspace that contain programs and libraries of the running server."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """The call to decide on."""

    tool: str
    risk: Risk
    external: bool
    subject: CallSubject
    taint: Sequence[TaintSource] = ()
    """Sources of text in the conversation that the user may not have written."""
    open_documents: Collection[str] = ()
    """The documents the user had open when they sent the message."""
    addresses: Collection[str] = ()
    """Keys of the web addresses that the user wrote or a search found (``known_addresses``)."""
    counterparts: Collection[str] = ()
    """Tools of ours that do the same; rules that restrict them restrict this call too."""


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run; ``reason`` names the rule or grant, None if the mode allows it."""

    reason: str | None = None
    names_document: bool = False
    """Whether the rule or grant names this document itself."""
    from_stored_rule: bool = False
    """Whether a rule of the permissions file allows it, not an answer or the conversation's mode.
    """


@dataclass(frozen=True, slots=True)
class Ask:
    reason: ApprovalReason
    scopes: tuple[ApprovalScope, ...]


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run; ``text`` explains it to the model and the user."""

    text: str
    code: ErrorCode = "denied"


Decision = Allow | Ask | Deny


def decide(
    request: PermissionRequest,
    rules: Rules,
    grants: Sequence[Grant],
    *,
    mode: Mode,
    interactive: bool,
) -> Decision:
    """Decide on a call: hard deny > deny > answered before > ask > allow > mode.

    A protected path, a tagged cell or a rule of the administrator asks regardless of rules and
    grants. A grant answers an asking rule of the user, so it takes precedence. Permission given
    before the agent read foreign text does not cover calls that text may have prompted
    (``tools.permissions.taint``); they ask. In a session without a user, asking means refusing.
    """
    decision = (
        _refused(request, rules, mode)
        or _locked(request, rules)
        or _approved(request)
        or _protected(request, rules)
        or _secret(request, grants)
        or _always_asked(request, mode)
        or _unsandboxed(request)
        or _granted(request, [grant for grant in grants if grant.informed])
        or _unknown_address(request)
        or _suspended(
            request,
            _granted(request, grants)
            or _ruled(request, rules)
            or _redefined(request, rules, grants)
            or _by_mode(request, mode),
            mode,
        )
    )
    if isinstance(decision, Ask) and not interactive:
        return Deny(
            "This call needs an approval, and nobody can give it in this session. "
            f"{decision.reason.text}",
            "approval_required",
        )
    return decision


def _refused(request: PermissionRequest, rules: Rules, mode: Mode) -> Deny | None:
    off = _switched_off(request, rules)
    if off is not None:
        return Deny(off, "disabled")
    if request.risk != "read" and any(map(is_sealed, target_paths(request.subject.target))):
        return Deny("Tools never change permissions, settings or keys.")
    if mode == "plan" and (request.risk != "read" or request.external):
        return Deny("In plan mode only reading is allowed; switch the mode to act.")
    for rule in (*rules.locked, *rules.rules):
        if rule.problem is not None and _invalid_covers(rule, request):
            return Deny(f"{rule.source} is invalid ({rule.problem}), so it denies. Correct it.")
        if _applies(rule, "deny", request):
            return Deny(f"{rule.source} denies it.")
    return None


def _switched_off(request: PermissionRequest, rules: Rules) -> str | None:
    for name in (request.tool, *request.counterparts):
        if name in rules.disabled:
            return f"The tool {name} is switched off in the permissions."
    if request.external and rules.no_external:
        return "Tools that send data outside this computer are switched off."
    return None


def _invalid_covers(rule: ToolRule, request: PermissionRequest) -> bool:
    if rule.tool is None:
        return request.risk != "read" or request.external
    names = (request.tool, *request.counterparts)
    return any(glob_matches(rule.tool, name) for name in names)


def _applies(
    rule: ToolRule, action: Literal["allow", "ask", "deny"], request: PermissionRequest
) -> bool:
    """Return whether a valid rule with this action covers the call."""
    names = (request.tool, *(() if action == "allow" else request.counterparts))
    return (
        rule.action == action
        and rule.problem is None
        and any(rule_matches(rule, name, request.subject.target) for name in names)
    )


def _approved(request: PermissionRequest) -> Allow | Ask | None:
    """Allow what the user allowed in the question before."""
    if request.subject.asks_after_foreign_text and request.taint:
        return Ask(ApprovalReason(kind="taint", text=taint_warning(request.taint)), ONCE)
    return Allow("allowed in the question before") if request.subject.is_approved else None


def _locked(request: PermissionRequest, rules: Rules) -> Ask | None:
    for rule in rules.locked:
        if _applies(rule, "ask", request):
            return Ask(ApprovalReason(kind="rule", text=f"{rule.source} says to ask."), ONCE)
    return None


def _protected(request: PermissionRequest, rules: Rules) -> Ask | None:
    named = request.subject.protected_path
    if named is None and (request.risk == "read" or request.subject.dry_run):
        return None
    for path in target_paths(request.subject.target) if named is None else (named,):
        then = _autorun_note(normalize_path(path), rules.programs)
        if then is not None:
            text = f"Changes to {path} always need your approval. {then}."
            return Ask(ApprovalReason(kind="protected", text=text), ONCE)
    return None


def _autorun_note(path: str, programs: Sequence[str]) -> str | None:
    """Return a note on when a file runs automatically; None if it does not."""
    if (group := protected_group_of(path)) is not None:
        return group.then
    if any(f"{path}/".startswith(f"{folder}/") for folder in programs):
        return "The running server has its programs and libraries there"
    return None


def _secret(request: PermissionRequest, grants: Sequence[Grant]) -> Allow | Ask | None:
    """Allow reading a secret file only if the user allowed this file, in every mode."""
    if not request.subject.reads_secret:
        return None
    named = _granted(request, [grant for grant in grants if grant.path is not None])
    path = request.subject.target.path
    text = f"{path} usually holds keys or passwords; they would be sent to the model's provider."
    return named or Ask(ApprovalReason(kind="protected", text=text), SECRET_SCOPES)


def _always_asked(request: PermissionRequest, mode: Mode) -> Ask | None:
    """Ask for a cell the user tagged, except in ``bypass``."""
    asks = request.subject.always_ask_reason
    if asks is None or mode == "bypass":
        return None
    return Ask(ApprovalReason(kind="run_policy", text=asks), ONCE)


def _unsandboxed(request: PermissionRequest) -> Ask | None:
    """Ask for a command without a sandbox, in every mode."""
    if request.subject.sandboxed is not False:
        return None
    text = "Not sandboxed: this command runs with your full permissions."
    return Ask(ApprovalReason(kind="sandbox", text=text), ONCE)


def _unknown_address(request: PermissionRequest) -> Ask | None:
    """Ask for an address that neither the user nor a search named, whatever was allowed before.

    Text that the agent read may have made it up, to send something in it.
    """
    address = request.subject.address
    if address is None or address_key(address) in request.addresses:
        return None
    text = "Neither you nor a search in this conversation named this address."
    if not request.taint:
        return Ask(ApprovalReason(kind="taint", text=text), ONCE)
    text = f"{text} {taint_warning(request.taint)}"
    scopes = _scopes(request.subject.target, always=False)
    return Ask(ApprovalReason(kind="taint", text=text), scopes)


def _granted(request: PermissionRequest, grants: Sequence[Grant]) -> Allow | None:
    target = request.subject.target
    for grant in grants:
        if grant.tool == request.tool and grant_covers(grant, target):
            return Allow(
                "allowed earlier in this conversation", names_document=grant.path is not None
            )
    return None


def _suspended(request: PermissionRequest, decision: Allow | Ask, mode: Mode) -> Allow | Ask:
    """Ask despite earlier permission if the conversation has read foreign text."""
    path = request.subject.target.path
    shown = request.subject.in_page or path in request.open_documents
    # An "always" answer stores a rule that names the document, so it vouches for the document.
    vouched = (
        isinstance(decision, Ask)
        or decision.names_document
        or (shown and not decision.from_stored_rule)
    )
    sources = blocking_sources(
        request.taint,
        request.risk,
        request.subject,
        external=request.external,
        vouched=vouched,
    )
    if not sources:
        return decision
    warning = taint_warning(sources)
    if isinstance(decision, Ask):
        text = f"{decision.reason.text} {warning}"
        scopes: tuple[ApprovalScope, ...] = tuple(
            scope for scope in decision.scopes if scope != "always"
        )
        return Ask(decision.reason.model_copy(update={"text": text}), scopes)
    if mode != "bypass" and isinstance(_by_mode(request, mode), Allow):
        return decision  # the mode alone allows it: the change is reviewed and can be undone
    text = f"Approval is needed although {decision.reason or 'this mode never asks'}. {warning}"
    scopes = _scopes(request.subject.target, always=False)
    return Ask(ApprovalReason(kind="taint", text=text), scopes)


def _ruled(request: PermissionRequest, rules: Rules) -> Ask | Allow | None:
    for rule in rules.rules:
        if _applies(rule, "ask", request):
            reason = ApprovalReason(kind="rule", text=f"{rule.source} says to ask.")
            return Ask(reason, _scopes(request.subject.target, always=False))
    if rules.broken is not None and (request.risk != "read" or request.external):
        reason = ApprovalReason(kind="rule", text=rules.broken)
        return Ask(reason, _scopes(request.subject.target, always=False))
    for rule in rules.rules:
        if _applies(rule, "allow", request):
            return Allow(
                f"{rule.source} allows it",
                names_document=names_document(rule, request.subject.target),
                from_stored_rule=True,
            )
    return None


def _redefined(request: PermissionRequest, rules: Rules, grants: Sequence[Grant]) -> Ask | None:
    """Ask in every mode for a tool that was allowed when its server described it differently."""
    target = request.subject.target
    allowed = [
        rule.match.definition
        for rule in reversed(rules.rules)
        if rule.action == "allow" and rule.tool == request.tool and rule.match is not None
    ]
    allowed += [grant.definition for grant in reversed(grants) if grant.tool == request.tool]
    last = next((each for each in allowed if each is not None), None)
    if last is None or target.definition is None:
        return None
    changed = changed_parts(last, target.definition)
    text = f"Since you allowed this tool, its server changed its {changed}."
    return Ask(ApprovalReason(kind="rule", text=text), _scopes(target, always=True))


def _by_mode(request: PermissionRequest, mode: Mode) -> Allow | Ask:
    reason = None if mode == "bypass" else _asks_because(request, mode)
    if reason is None:
        return Allow()
    return Ask(
        ApprovalReason(kind="mode", text=reason), _scopes(request.subject.target, always=True)
    )


def _asks_because(request: PermissionRequest, mode: Mode) -> str | None:
    subject = request.subject
    if request.external:
        return "This uses the network."
    if request.risk == "read" or subject.dry_run:
        return None
    if request.risk == "execute":
        return "This runs code."
    return _change_asks_because(subject, mode)


def _change_asks_because(subject: CallSubject, mode: Mode) -> str | None:
    if subject.moves_or_removes:
        return "This moves or removes a file."
    if not subject.undoable:
        return "This cannot be undone."
    if mode == "auto_edit" or subject.in_page or subject.asks_after_foreign_text:
        return None
    return f"This changes {subject.changes}."


def _scopes(target: Target, *, always: bool) -> tuple[ApprovalScope, ...]:
    scopes: list[ApprovalScope] = ["once"]
    if target.path is not None and target.new_path is None:
        scopes.append("document")
    scopes.append("session")
    if always and target.new_path is None:  # a file is not moved twice
        scopes.append("always")
    return tuple(scopes)
