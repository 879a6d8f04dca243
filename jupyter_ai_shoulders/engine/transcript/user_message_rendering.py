"""Renders a user's message for the model: text, skills, attachments and context.

Pure; used by ``engine.transcript.user_messages``. The demo provider reads the ``<workspace>``
block. See docs/design/context-and-prompts.md#attachments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.engine.environment.attachments import (
    AttachmentRecord,
    SkillRecord,
    attachment_key,
    describe_attachment,
    one_line,
)
from jupyter_ai_shoulders.engine.environment.workspace_facts import (
    FactRecord,
    changed_facts,
    context_facts,
    render_facts,
)
from jupyter_ai_shoulders.engine.guardrails.untrusted_text import UNREVIEWED, mark_untrusted
from jupyter_ai_shoulders.wire.events import MessageAdd
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    ImageAttachment,
    MessageContext,
    Selection,
    SelectionAttachment,
)
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart, UserPart

SELECTION_LIMIT = 8_000
"""Characters shown of a selection."""
AROUND_SELECTION = 200
"""Characters shown on either side of an attached selection."""


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """The settings of rendering, all from the log."""

    zone: tzinfo = UTC
    secret: str = ""
    """The secret in the lines around data; empty in logs without one."""
    facts: tuple[FactRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class CapturedContext:
    """The context captured for one message."""

    attachments: Mapping[int, AttachmentRecord] = field(default_factory=dict[int, AttachmentRecord])
    skills: tuple[SkillRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachmentCopy:
    """The content of an attachment; a rebase replaces it by a later one with the same key."""

    key: str
    parts: tuple[UserPart, ...]


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """The parts to send, and the workspace facts the model knows after them."""

    parts: tuple[UserPart, ...]
    copies: tuple[AttachmentCopy, ...] = ()
    known_facts: Mapping[str, str] = field(default_factory=dict[str, str])


def render_user_message(
    message: MessageAdd,
    setting: RenderSettings,
    enclosed: CapturedContext,
    known_facts: Mapping[str, str],
) -> RenderedMessage:
    """Return a message as the model reads it; ``known_facts`` are the facts it knows already."""
    secret = setting.secret
    texts = [message.text] if message.text.strip() else []
    texts += [_skill_text(skill, secret) for skill in enclosed.skills]
    attached: list[UserPart] = []
    copies: list[AttachmentCopy] = []
    for index, attachment in enumerate(message.attachments):
        record = enclosed.attachments.get(index)
        parts = tuple(_attached(attachment, record, secret))
        attached += parts
        key = attachment_key(attachment)
        if key is not None and record is not None and record.content:
            copies.append(AttachmentCopy(key, parts))
    context = message.context
    facts = (*context_facts(context), *setting.facts)
    changed = changed_facts(facts, known_facts, has_context=context is not None)
    around = render_facts(changed, message.at, setting.zone, secret)
    if context is not None and context.selection is not None and not _in_secret(context):
        around.insert(0, _selected(context.selection, context.active_document, secret))
    return RenderedMessage(
        parts=(
            *(TextPart(text=text) for text in texts),
            *(part for part in attached if isinstance(part, TextPart)),
            *(TextPart(text=text) for text in around),
            *(part for part in attached if isinstance(part, ImagePart)),
        ),
        copies=tuple(copies),
        known_facts={**known_facts, **{fact.name: fact.text for fact in changed}},
    )


def _skill_text(skill: SkillRecord, secret: str) -> str:
    if not skill.reviewed:
        return mark_untrusted(skill.text.strip(), f"skill {skill.name} {UNREVIEWED}", secret)
    return f'<skill name="{skill.name}">\n{skill.text.strip()}\n</skill>'


def _attached(
    attachment: Attachment, record: AttachmentRecord | None, secret: str
) -> Iterator[UserPart]:
    """Yield the description of an attachment, then its content as data; images separately."""
    if isinstance(attachment, SelectionAttachment) and (record is None or record.note is None):
        yield TextPart(text=_selection_attached(attachment, secret))
        return
    if record is None:
        yield from _unopened(attachment)
        return
    what = describe_attachment(attachment)
    head = f"[attached {what}]" if record.note is None else f"[attached {what}; {record.note}]"
    texts = [part.text for part in record.content if isinstance(part, TextPart)]
    plain_image = isinstance(attachment, ImageAttachment) and record.note is None
    if texts or not plain_image:
        yield TextPart(
            text="\n".join([head, *(mark_untrusted(text, what, secret) for text in texts)])
        )
    yield from (part for part in record.content if isinstance(part, ImagePart))


def _unopened(attachment: Attachment) -> Iterator[UserPart]:
    """Yield an attachment without a capture: its name, or an inline image."""
    if not isinstance(attachment, ImageAttachment):
        yield TextPart(text=f"[attached {describe_attachment(attachment)}]")
    elif attachment.data:
        yield ImagePart(media_type=attachment.media_type, data=attachment.data)


def _selection_attached(selection: SelectionAttachment, secret: str) -> str:
    before = selection.before[-AROUND_SELECTION:]
    after = selection.after[:AROUND_SELECTION]
    text = _shown(selection.text)
    if before.strip() or after.strip():
        text = f"{before}⟦{text}⟧{after}"
    what = describe_attachment(selection)
    head = f"[attached {what}]" if text is selection.text else f"[attached {what}, between ⟦ and ⟧]"
    return f"{head}\n{mark_untrusted(text, what, secret)}"


def _selected(selection: Selection, document: str | None, secret: str) -> str:
    place = f' document="{_quoted(document)}"' if document else ""
    place += f' cell="{_quoted(selection.cell_id)}"' if selection.cell_id else ""
    text = mark_untrusted(_shown(selection.text), "selection", secret)
    return f"<selection{place}>\n{text}\n</selection>"


def _in_secret(context: MessageContext) -> bool:
    """Return whether the selection is in a file that usually holds secrets."""
    return context.active_document is not None and is_secret(context.active_document)


def _quoted(name: str) -> str:
    return one_line(name).replace('"', "'")


def _shown(text: str) -> str:
    return text if len(text) <= SELECTION_LIMIT else text[:SELECTION_LIMIT] + "\n[…]"
