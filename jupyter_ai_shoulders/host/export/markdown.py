"""A conversation as Markdown: complete, readable, folded where it is long.

Pure; used by ``host.export.exporter`` and, message by message, by ``notebook``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import assert_never

from jupyter_ai_shoulders.core.restore.description import describe_restore
from jupyter_ai_shoulders.host.export.markdown_escaping import (
    block_quote,
    code_block,
    contain_markdown,
    one_line,
    one_line_html,
)
from jupyter_ai_shoulders.tools.agent.withheld_tools import DELEGATE
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.conversation import views
from jupyter_ai_shoulders.wire.conversation.views import (
    AgentView,
    Conversation,
    MessageView,
    PartView,
    UserView,
)
from jupyter_ai_shoulders.wire.events import ActivityDiff, ActivityTerminal, ActivityText
from jupyter_ai_shoulders.wire.messages import Attachment
from jupyter_ai_shoulders.wire.parts import TextPart

_MARKS = {"error": "✗", "denied": "⊘", "skipped": "–", "cancelled": "–", "unknown": "?"}


def heading(conversation: Conversation, unreadable: int = 0) -> str:
    """Return the conversation's title and metadata."""
    session = conversation.session
    lines = [f"# {one_line(session.title if session else '') or 'Conversation'}", ""]
    if session is not None:
        lines.append(
            f"- Begun {one_line(session.created_at)}, updated {one_line(session.updated_at)}"
        )
        lines.append(f"- Model: {one_line(session.model or 'not chosen')}, mode: {session.mode}")
    lines.append(f"- {cost_line(conversation)}")
    if conversation.branches:
        count = len(conversation.branches)
        lines.append(f"- {count} earlier version{'s' * (count > 1)} of edited messages left out")
    if unreadable:
        counted = (
            "1 event could not be read and is"
            if unreadable == 1
            else (f"{unreadable} events could not be read and are")
        )
        lines.append(f"- **{counted} missing below**")
    return "\n".join(lines) + "\n"


def cost_line(conversation: Conversation) -> str:
    """Return the conversation's usage, in one line."""
    usage = conversation.usage
    cost = usage.cost_micro_usd
    dollars = "unknown cost" if cost is None else f"${cost / 1_000_000:.4f}"
    cached = f" ({usage.cache_read_tokens} from cache)" if usage.cache_read_tokens else ""
    return f"Used {usage.input_tokens} tokens in{cached}, {usage.output_tokens} out: {dollars}"


def message(item: MessageView) -> str:
    """Return one message with its heading."""
    match item:
        case UserView():
            return "\n\n".join(_user(item)) + "\n"
        case AgentView():
            return "\n\n".join(("## Agent", *filter(None, map(part, item.parts)))) + "\n"
        case _:
            assert_never(item)


def ending(conversation: Conversation) -> str:
    """Return the checklist and the queued messages."""
    blocks: list[str] = []
    if conversation.todo:
        marks = (
            f"{'  ' * i.depth}- [{'x' if i.done else ' '}] {one_line(i.text)}"
            for i in conversation.todo
        )
        blocks.append("## Checklist\n\n" + "\n".join(marks))
    blocks += (f"## You (waiting)\n\n{block_quote(item.text)}" for item in conversation.queued)
    return "\n\n".join(blocks) + "\n" if blocks else ""


def part(item: PartView) -> str:  # noqa: C901, PLR0911, PLR0912 one line for each kind of part
    """Return one part of the agent's answer; empty for a part without text."""
    match item:
        case views.TextView():
            return contain_markdown(item.text).strip("\n")
        case views.ReasoningView():
            return details("Thought process", code_block(item.text, "text")) if item.text else ""
        case views.CallView():
            return _call(item)
        case views.ActivityView():
            return _activity(item)
        case views.ClarifyView():
            return _question(item)
        case views.StdinView():
            return f"**Input asked for:** {one_line(item.prompt) or '(no prompt)'}"
        case views.ProposalView():
            return _proposal(item)
        case views.ArtifactView():
            said = f": {one_line(item.description)}" if item.description else ""
            return f"**Shared** {one_line(item.name)} ({item.size} bytes){said}"
        case views.NoticeView():
            return f"> **Notice:** {one_line(item.text)}"
        case views.RestoreView():
            return f"> {one_line(describe_restore(item))}"
        case views.ErrorView():
            return f"> **Error:** {one_line(item.error.message)}"
        case views.EndView():
            return _end(item)
        case _:
            assert_never(item)


def details(summary: str, body: str) -> str:
    """Return a block that is folded until its line is clicked."""
    return f"<details>\n<summary>{one_line_html(summary)}</summary>\n\n{body}\n\n</details>"


def _user(item: UserView) -> Iterator[str]:
    yield f"## You · {one_line(item.at)}"
    if item.text:
        yield block_quote(item.text)
    if item.attachments:
        yield "Attached: " + ", ".join(one_line(_attached(a)) for a in item.attachments)


def _attached(attachment: Attachment) -> str:
    values = attachment.model_dump()
    where = [
        str(values[name]) for name in ("path", "cell_id", "name", "session_id") if values.get(name)
    ]
    return " ".join([attachment.kind, *where])


def _call(item: views.CallView) -> str:
    mark = _MARKS.get(item.state, "")
    target = f" · {item.target}" if item.target else ""
    state = "" if item.state == "ok" else f" ({item.state})"
    return details(f"{mark} {item.title}{target}{state}".strip(), "\n\n".join(_call_body(item)))


def _call_body(item: views.CallView) -> Iterator[str]:
    yield f"Tool: {one_line(item.tool)}"
    if item.arguments is not None:
        yield code_block(_json(item.arguments), "json")
    elif item.raw is not None:
        yield code_block(item.raw)
    if item.answer is not None:
        answer = item.answer
        said = f": {one_line(answer.feedback)}" if answer.feedback else ""
        yield f"Approval: {answer.decision} ({answer.scope}, by {answer.by}){said}"
    data = item.result.data if item.result is not None else None
    if item.tool == DELEGATE and isinstance(data, dict):
        yield f"Conversation of the sub-agent: {one_line(str(data.get('conversation')))}"
    texts = [content.text for content in item.content if isinstance(content, TextPart)]
    images = len(item.content) - len(texts)
    if texts:
        yield code_block("\n".join(texts))
    elif item.result is not None and item.result.error is not None:
        yield code_block(item.result.error.message)
    if images:
        yield f"({images} image{'s' * (images > 1)} not included)"
    if item.handle is not None:
        yield "(The whole output is longer; it is kept with the conversation.)"


def _activity(item: views.ActivityView) -> str:
    """Return what an agent of another program did by itself."""
    mark = "✗ " if item.status == "failed" else ""
    blocks: list[str] = []
    for piece in item.content:
        match piece:
            case ActivityText(text=text):
                blocks.append(code_block(text, "text"))
            case ActivityDiff(path=path, old=old, new=new):
                blocks.append(f"{one_line(path)}\n\n{code_block(_diff(old or '', new), 'diff')}")
            case ActivityTerminal():
                pass  # the command is a call of its own
            case _:
                assert_never(piece)
    title = f"{mark}{item.kind}: {one_line_html(item.title)}"
    return details(title, "\n\n".join(blocks)) if blocks else f"- {title}"


def _diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    return "\n".join(list(lines)[2:])


def _question(item: views.ClarifyView) -> str:
    lines = [f"**Question:** {one_line(item.question)}"]
    lines += (f"- {one_line(option)}" for option in item.options)
    answer = "(not answered)" if item.answer is None else one_line(", ".join(item.answer))
    return "\n".join([*lines, "", f"**Answer:** {answer}"])


def _proposal(item: views.ProposalView) -> str:
    proposal = item.proposal
    cell = f" · cell {proposal.cell_id}" if proposal.cell_id else ""
    summary = f"Proposal for {proposal.document}{cell} ({proposal.state})"
    return details(
        summary, f"Before:\n\n{code_block(proposal.old)}\n\nAfter:\n\n{code_block(proposal.new)}"
    )


def _end(item: views.EndView) -> str:
    if item.exit in {"final_response", "ended_by_tool"} and not item.summary:
        return ""
    error = f": {one_line(item.error.message)}" if item.error else ""
    said = f"\n\n{block_quote(item.summary)}" if item.summary else ""
    return f"*Turn ended: {item.exit.replace('_', ' ')}{error}*{said}"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
