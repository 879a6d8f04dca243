"""The checks of cases; each function returns a ``Check`` that describes its assertion.

Checks of documents, exits or approvals hold for any model; wrap those that depend on the script in
``case.of_script``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation.case import Check
from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.wire import events as ev


def _equal(found: object, wanted: object) -> str | None:
    return None if found == wanted else f"it was {found!r}, not {wanted!r}"


def _holds(text: str, found: str) -> str | None:
    return None if text in found else f"{text!r} is not in {_short(found)!r}"


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"


def turn_exits(*names: ev.Exit) -> Check:
    """The turns ended in these ways, in order."""

    def problem(record: CaseRecord) -> str | None:
        found = [end.exit for end in record.of(ev.TurnEnd)]
        errors = [end.error.message for end in record.of(ev.TurnEnd) if end.error]
        return None if found == list(names) else f"the exits were {found} {errors}"

    return Check(f"exits {', '.join(names)}", problem)


def turn_waits() -> Check:
    """The turn has not ended and waits for the user."""
    return Check("the turn waits", lambda record: _equal(record.session.status, "waiting"))


def fails_with(code: str, *texts: str) -> Check:
    """The last turn ended with this error, whose text contains ``texts``."""

    def problem(record: CaseRecord) -> str | None:
        ends = record.of(ev.TurnEnd)
        error = ends[-1].error if ends else None
        if error is None or error.code != code:
            return f"the error was {error}"
        said = f"{error.message} {error.hint or ''}"
        return next((p for p in (_holds(text, said) for text in texts) if p), None)

    return Check(f"ends with {code}", problem)


def summary_says(text: str) -> Check:
    """The summary of the last turn contains this text."""

    def problem(record: CaseRecord) -> str | None:
        ends = record.of(ev.TurnEnd)
        return _holds(text, (ends[-1].summary or "") if ends else "")

    return Check(f"the summary says {text!r}", problem)


def steps(number: int) -> Check:
    """This number of model calls was made."""
    return Check(f"{number} steps", lambda record: _equal(record.steps, number))


def steps_at_most(number: int) -> Check:
    """At most this number of model calls was made."""
    return Check(
        f"at most {number} steps",
        lambda record: None if record.steps <= number else f"it took {record.steps}",
    )


def tokens_at_most(number: int) -> Check:
    """At most this number of tokens was used."""
    return Check(
        f"at most {number} tokens",
        lambda record: None if record.tokens <= number else f"it took {record.tokens}",
    )


def says(text: str) -> Check:
    """The model's text contains this."""
    return Check(f"says {text!r}", lambda record: _holds(text, record.model_text()))


def results(*wanted: tuple[str, str]) -> Check:
    """The calls had these tools and statuses, in order."""
    return Check("results", lambda record: _equal(record.results(), list(wanted)))


def changes(*titles: str) -> Check:
    """The conversation lists exactly these changes and runs."""
    return Check("the change list", lambda record: _equal(record.changes(), list(titles)))


def nothing_changed() -> Check:
    """No change or run is listed, and no notebook or file differs."""

    def problem(record: CaseRecord) -> str | None:
        different = [path for path, text in record.before.items() if record.file(path) != text]
        if record.changes() or different:
            return f"listed: {record.changes()}, different: {different}"
        return None

    return Check("nothing changed", problem)


def refused(code: str, *texts: str) -> Check:
    """A call got an error with this code, whose text for the model contains ``texts``."""

    def problem(record: CaseRecord) -> str | None:
        found = [text for found, text in record.errors() if found == code]
        if any(all(text in said for text in texts) for said in found):
            return None
        return f"the errors were {[(code, _short(text)) for code, text in record.errors()]}"

    return Check(f"a call is refused with {code}", problem)


def never_refused(code: str) -> Check:
    """No call got this error."""

    def problem(record: CaseRecord) -> str | None:
        found = [text for found, text in record.errors() if found == code]
        return f"{len(found)} calls did: {_short(found[0])}" if found else None

    return Check(f"no call is refused with {code}", problem)


def calls_executed(*tools: str) -> Check:
    """Exactly these calls were executed, in any order."""

    def problem(record: CaseRecord) -> str | None:
        calls = record.calls()
        found = sorted(calls[start.call_id].tool for start in record.of(ev.ToolStart))
        return _equal(found, sorted(tools))

    return Check("what was executed", problem)


def approvals_asked(*tools: str, kind: str | None = None) -> Check:
    """The user was asked about exactly these calls, in order, for this kind of reason."""

    def problem(record: CaseRecord) -> str | None:
        requests = record.of(ev.ApprovalRequest)
        found = [item.tool for item in requests if kind in (None, item.reason.kind)]
        return _equal(found, list(tools))

    return Check("what the user was asked about", problem)


def first_approval_asked(tool: str, kind: str) -> Check:
    """The user was first asked about this call, for this kind of reason."""

    def problem(record: CaseRecord) -> str | None:
        found = [(item.tool, item.reason.kind) for item in record.of(ev.ApprovalRequest)]
        return None if found[:1] == [(tool, kind)] else f"the user was asked about {found}"

    return Check(f"{tool} asks first ({kind})", problem)


def approved_before_run(tool: str) -> Check:
    """Each executed call of this tool was allowed by the user."""

    def problem(record: CaseRecord) -> str | None:
        calls = record.calls()
        answers = record.of(ev.ApprovalAnswer)
        allowed = {answer.call_id for answer in answers if answer.by == "user"}
        ran = [start.call_id for start in record.of(ev.ToolStart)]
        silent = [each for each in ran if calls[each].tool == tool and each not in allowed]
        return f"{len(silent)} were not" if silent else None

    return Check(f"{tool} runs only when the user has allowed it", problem)


def offered_reads_only() -> Check:
    """No request offered a tool that changes or runs anything."""

    def problem(record: CaseRecord) -> str | None:
        offered = {tool.name for request in record.requests for tool in request.tools}
        acting = sorted(name for name in offered if record.risks.get(name) != "read")
        return f"{acting} were offered" if acting or not offered else None

    return Check("only reading tools are offered", problem)


def never_offered(name: str) -> Check:
    """No request offered this tool."""

    def problem(record: CaseRecord) -> str | None:
        offered = {tool.name for request in record.requests for tool in request.tools}
        return "it was" if name in offered else None

    return Check(f"{name} is not offered", problem)


def proposed(path: str, cell_id: str, old: str, new: str) -> Check:
    """A proposal for this cell is pending."""

    def problem(record: CaseRecord) -> str | None:
        found = [
            (each.proposal.document, each.proposal.cell_id, each.proposal.old, each.proposal.new)
            for each in record.of(ev.ProposalAdd)
        ]
        return None if (path, cell_id, old, new) in found else f"the proposals are {found}"

    return Check(f"a proposal for cell {cell_id}", problem)


def todo(*items: tuple[str, bool]) -> Check:
    """The final checklist has these items."""

    def problem(record: CaseRecord) -> str | None:
        found = [(item.text, item.done) for item in record.conversation().todo]
        return _equal(found, list(items))

    return Check("the checklist", problem)


def request_has(request: int, *texts: str) -> Check:
    """The n-th request contains these texts, apart from the model's own messages."""

    def problem(record: CaseRecord) -> str | None:
        read = record.request_text(request)
        missing = [text for text in texts if text not in read]
        return f"missing: {missing}; it ends with {read[-300:]!r}" if missing else None

    return Check(f"request {request} tells the model", problem)


def system_prompt_has(request: int, text: str) -> Check:
    """The system prompt of the n-th request contains this text."""

    def problem(record: CaseRecord) -> str | None:
        made = 0 < request <= len(record.requests)
        return _holds(text, record.requests[request - 1].system if made else "")

    return Check(f"request {request} is instructed {text!r}", problem)


def request_carries(request: int, text: str) -> Check:
    """The n-th request contains this text anywhere, including the model's own and summaries."""
    return Check(
        f"request {request} carries {text!r}",
        lambda record: _holds(text, record.request_history(request)),
    )


def shows_messages(number: int) -> Check:
    """The user's view shows this number of their messages."""

    def problem(record: CaseRecord) -> str | None:
        roles = [message.role for message in record.conversation().messages]
        return _equal(roles.count("user"), number)

    return Check(f"{number} messages are shown", problem)


def request_lacks(request: int, text: str) -> Check:
    """The n-th request does not contain this text."""

    def problem(record: CaseRecord) -> str | None:
        if abs(request) > len(record.requests):
            return f"there were only {len(record.requests)} requests"
        return f"it reads {text!r}" if text in record.request_text(request) else None

    return Check(f"request {request} does not say {text!r}", problem)


def noticed(code: str, times: int = 1) -> Check:
    """A notice was given this number of times."""
    return Check(f"the notice {code}", lambda record: _equal(record.notices().count(code), times))


def noticed_at_least_once(code: str) -> Check:
    """A notice was given."""
    return Check(
        f"a notice {code}",
        lambda record: None if code in record.notices() else f"there were {record.notices()}",
    )


def no_notices_but(*known: str) -> Check:
    """Only these notices were given."""

    def problem(record: CaseRecord) -> str | None:
        others = [code for code in record.notices() if code not in known]
        return f"there were {others}" if others else None

    return Check("no other notices", problem)


def cell_reads(path: str, cell_id: str, source: str) -> Check:
    """A cell's source on the disk equals a text."""
    return Check(
        f"cell {cell_id} of {path}",
        lambda record: _equal(record.source(path, cell_id), source),
    )


def cell_has(path: str, cell_id: str, text: str) -> Check:
    """A cell's source on the disk contains a text."""
    return Check(
        f"cell {cell_id} of {path}",
        lambda record: _holds(text, record.source(path, cell_id) or ""),
    )


def sources(path: str, *wanted: str) -> Check:
    """The sources of all cells on the disk, in order."""

    def problem(record: CaseRecord) -> str | None:
        found = [record.source(path, cell_id) for cell_id in record.cells(path)]
        return _equal(found, list(wanted))

    return Check(f"the cells of {path}", problem)


def output_has(path: str, cell_id: str, text: str) -> Check:
    """A cell's saved output contains a text."""
    return Check(
        f"output of cell {cell_id}", lambda record: _holds(text, record.output(path, cell_id))
    )


def only_line_changed(path: str, old: str, new: str) -> Check:
    """The file differs only in one piece of text."""

    def problem(record: CaseRecord) -> str | None:
        wanted = record.before[path].replace(old.encode(), new.encode())
        return None if record.file(path) == wanted else "other bytes differ too, or none do"

    return Check(f"only that piece of {path} changed", problem)


def same_file(path: str) -> Check:
    """A file is unchanged, byte for byte."""

    def problem(record: CaseRecord) -> str | None:
        return None if record.file(path) == record.before.get(path) else "it is not"

    return Check(f"{path} is as it was", problem)


def in_kernel(expression: str, value: str) -> Check:
    """An expression of ``Case.inspects`` has this value in the kernel."""
    return Check(
        f"{expression} in the kernel",
        lambda record: _equal(record.kernel.get(expression), value),
    )
