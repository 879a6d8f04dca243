"""A user's message as the model reads it: text, skills, attachments, and what was around them.

Pure; used by ``engine.user_side``. The demo provider reads the ``<workspace>`` block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from jupyter_ai_shoulders.core.secret_files import is_secret
from jupyter_ai_shoulders.engine.attachments import (
    AttachmentRecord,
    SkillRecord,
    describe,
    key_of,
    one_line,
)
from jupyter_ai_shoulders.engine.meta import FactRecord, changed, context_facts, meta_texts
from jupyter_ai_shoulders.engine.untrusted import UNREVIEWED, marked
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
"""Characters of a selection that are shown."""
AROUND_SELECTION = 200
"""Characters shown on either side of an attached selection (chapter 11)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a message is rendered with, all of it from the log."""

    zone: tzinfo = UTC
    secret: str = ""
    """Of the lines around data; empty in logs older than it."""
    facts: tuple[FactRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Enclosed:
    """What was captured for one message."""

    attachments: Mapping[int, AttachmentRecord] = field(default_factory=dict[int, AttachmentRecord])
    skills: tuple[SkillRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """The content of an attachment; a later one with the same key replaces it at a rebase."""

    key: str
    parts: tuple[UserPart, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Parts as they are sent, and what the model knows of the workspace after them."""

    parts: tuple[UserPart, ...]
    copies: tuple[Copy, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict[str, str])


def render(
    message: MessageAdd, setting: Setting, enclosed: Enclosed, told: Mapping[str, str]
) -> Rendered:
    """Return a message as the model reads it, after having been ``told`` something before."""
    secret = setting.secret
    texts = [message.text] if message.text.strip() else []
    texts += [_skill_text(skill, secret) for skill in enclosed.skills]
    attached: list[UserPart] = []
    copies: list[Copy] = []
    for index, attachment in enumerate(message.attachments):
        record = enclosed.attachments.get(index)
        parts = tuple(_attached(attachment, record, secret))
        attached += parts
        key = key_of(attachment)
        if key is not None and record is not None and record.content:
            copies.append(Copy(key, parts))
    context = message.context
    facts = (*context_facts(context), *setting.facts)
    news = changed(facts, told, has_context=context is not None)
    around = meta_texts(news, message.at, setting.zone, secret)
    if context is not None and context.selection is not None and not _in_secret(context):
        around.insert(0, _selected(context.selection, context.active_document, secret))
    return Rendered(
        parts=(
            *(TextPart(text=text) for text in texts),
            *(part for part in attached if isinstance(part, TextPart)),
            *(TextPart(text=text) for text in around),
            *(part for part in attached if isinstance(part, ImagePart)),
        ),
        copies=tuple(copies),
        told={**told, **{fact.name: fact.text for fact in news}},
    )


def _skill_text(skill: SkillRecord, secret: str) -> str:
    if not skill.reviewed:
        return marked(skill.text.strip(), f"skill {skill.name} {UNREVIEWED}", secret)
    return f'<skill name="{skill.name}">\n{skill.text.strip()}\n</skill>'


def _attached(
    attachment: Attachment, record: AttachmentRecord | None, secret: str
) -> Iterator[UserPart]:
    """Yield what an attachment is, then its content as data; images apart."""
    if isinstance(attachment, SelectionAttachment) and (record is None or record.note is None):
        yield TextPart(text=_selection_attached(attachment, secret))
        return
    if record is None:
        yield from _unopened(attachment)
        return
    what = describe(attachment)
    head = f"[attached {what}]" if record.note is None else f"[attached {what}; {record.note}]"
    texts = [part.text for part in record.content if isinstance(part, TextPart)]
    plain_image = isinstance(attachment, ImageAttachment) and record.note is None
    if texts or not plain_image:
        yield TextPart(text="\n".join([head, *(marked(text, what, secret) for text in texts)]))
    yield from (part for part in record.content if isinstance(part, ImagePart))


def _unopened(attachment: Attachment) -> Iterator[UserPart]:
    """Yield an attachment nothing was captured of: it is named; an inline image is shown."""
    if not isinstance(attachment, ImageAttachment):
        yield TextPart(text=f"[attached {describe(attachment)}]")
    elif attachment.data:
        yield ImagePart(media_type=attachment.media_type, data=attachment.data)


def _selection_attached(selection: SelectionAttachment, secret: str) -> str:
    before = selection.before[-AROUND_SELECTION:]
    after = selection.after[:AROUND_SELECTION]
    text = _shown(selection.text)
    if before.strip() or after.strip():
        text = f"{before}⟦{text}⟧{after}"
    what = describe(selection)
    head = f"[attached {what}]" if text is selection.text else f"[attached {what}, between ⟦ and ⟧]"
    return f"{head}\n{marked(text, what, secret)}"


def _selected(selection: Selection, document: str | None, secret: str) -> str:
    place = f' document="{_quoted(document)}"' if document else ""
    place += f' cell="{_quoted(selection.cell_id)}"' if selection.cell_id else ""
    text = marked(_shown(selection.text), "selection", secret)
    return f"<selection{place}>\n{text}\n</selection>"


def _in_secret(context: MessageContext) -> bool:
    """Return whether what is selected stands in a file that usually holds secrets."""
    return context.active_document is not None and is_secret(context.active_document)


def _quoted(name: str) -> str:
    return one_line(name).replace('"', "'")


def _shown(text: str) -> str:
    return text if len(text) <= SELECTION_LIMIT else text[:SELECTION_LIMIT] + "\n[…]"
