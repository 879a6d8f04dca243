"""Collects the next user message: messages, attached context and guard notices.

Used by ``engine.transcript.messages``. A message is rendered again until the first request with it;
from then on it stays as sent (``settle``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import tzinfo

from jupyter_ai_shoulders.engine.environment.attachments import AttachmentRecord, SkillRecord
from jupyter_ai_shoulders.engine.environment.workspace_facts import IN_CONTEXT, FactRecord
from jupyter_ai_shoulders.engine.transcript.user_message_rendering import (
    AttachmentCopy,
    CapturedContext,
    RenderedMessage,
    RenderSettings,
    render_user_message,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import MessageId
from jupyter_ai_shoulders.wire.parts import TextPart, UserPart


class UserMessageBuffer:
    """Collects what to tell the model next, in order, and renders it."""

    def __init__(self) -> None:
        self._setting = RenderSettings()
        self._items: list[UserPart | ev.MessageAdd] = []
        """The next items; messages are settled when their first step starts."""
        self._remarks: list[str] = []
        """Guard notices before the next step (``engine.guardrails.progress_guard``)."""
        self._queued: dict[MessageId, ev.MessageAdd] = {}
        self._enclosed: dict[MessageId, CapturedContext] = {}
        self._known_facts: Mapping[str, str] = {}
        """The workspace facts the model knows, by name."""
        self._copies: list[AttachmentCopy] = []
        """Contents of attachments in settled messages, oldest first."""

    # context of later messages

    def set_zone(self, zone: tzinfo) -> None:
        """Use this zone for local times from now on."""
        self._setting = replace(self._setting, zone=zone)

    @property
    def secret(self) -> str:
        """The secret that marks data (``engine.guardrails.untrusted_text``)."""
        return self._setting.secret

    def set_secret(self, secret: str) -> None:
        """Mark data with this secret from now on."""
        self._setting = replace(self._setting, secret=secret)

    @property
    def facts(self) -> tuple[FactRecord, ...]:
        """The current workspace facts."""
        return self._setting.facts

    def set_facts(self, facts: tuple[FactRecord, ...]) -> None:
        """Set the current workspace facts."""
        self._setting = replace(self._setting, facts=facts)

    def enclose(self, record: AttachmentRecord | SkillRecord) -> None:
        """Add captured context to its message."""
        enclosed = self._enclosed_with(record.message_id)
        if isinstance(record, AttachmentRecord):
            attachments = {**enclosed.attachments, record.index: record}
            enclosed = replace(enclosed, attachments=attachments)
        else:
            enclosed = replace(enclosed, skills=(*enclosed.skills, record))
        self._enclosed[record.message_id] = enclosed

    def unsettled(self) -> list[tuple[ev.MessageAdd, CapturedContext]]:
        """Return the messages that were never sent, with their captured context."""
        return [
            (item, self._enclosed_with(item.message_id))
            for item in self._items
            if isinstance(item, ev.MessageAdd)
        ]

    def superseded(self) -> list[str]:
        """Return the attachments present more than once; a rebase keeps the latest."""
        return list(dict.fromkeys(copy.key for copy in self._superseded()))

    def last_told_context(self) -> list[str]:
        """Return the page context the model was last told."""
        return [
            f"{name}: {self._known_facts[name]}" for name in IN_CONTEXT if name in self._known_facts
        ]

    # items

    def say(self, item: UserPart | ev.MessageAdd) -> None:
        """Add an item."""
        self._items.append(item)

    def begin(self, items: Iterable[UserPart | ev.MessageAdd]) -> None:
        """Replace all items: earlier ones have their reply."""
        self._items = list(items)

    def queue(self, message: ev.MessageAdd) -> None:
        """Hold a queued message until the log decides about it."""
        self._queued[message.message_id] = message

    def leave_queue(self) -> None:
        """Forget the queued messages."""
        self._queued.clear()

    def take_queued(self, event: ev.MessageUpdate) -> ev.MessageAdd | None:
        """Return the queued message if it joins the turn now; otherwise change or remove it."""
        queued = self._queued.pop(event.message_id, None)
        if queued is not None and event.status == "queued":
            text = queued.text if event.text is None else event.text
            self._queued[event.message_id] = queued.model_copy(update={"text": text})
        return queued if event.status == "consumed" else None

    def remind(self, text: str) -> None:
        """Add a notice before the next step."""
        self._remarks.append(text)

    def begin_step(self, notice: str | None) -> None:
        """Settle everything as sent now, with the notices and the step's own notice."""
        self.settle()
        for text in (*self._remarks, notice):
            remark = None if text is None else TextPart(text=text)
            if remark is not None and remark not in self._items[-1:]:
                self._items.append(remark)
        self._remarks = []

    def rendered(self) -> RenderedMessage:
        """Return the user's message as it would be sent now, without notices."""
        whole = RenderedMessage((), known_facts=self._known_facts)
        for item in self._items:
            if not isinstance(item, ev.MessageAdd):
                whole = replace(whole, parts=(*whole.parts, item))
                continue
            enclosed = self._enclosed_with(item.message_id)
            one = render_user_message(item, self._setting, enclosed, whole.known_facts)
            parts, copies = (*whole.parts, *one.parts), (*whole.copies, *one.copies)
            whole = RenderedMessage(parts, copies, one.known_facts)
        return whole

    def with_remarks(self, parts: Iterable[UserPart], notices: Iterable[str]) -> list[UserPart]:
        """Return the parts with the notices of the next step and ``notices``."""
        parts = list(parts)
        texts = (TextPart(text=text) for text in (*self._remarks, *notices))
        return [*parts, *(part for part in texts if part not in parts[-1:])]

    def settle(self) -> None:
        """Settle the items as sent: the request is being made."""
        if any(isinstance(item, ev.MessageAdd) for item in self._items):
            rendered = self.rendered()
            self._items = list(rendered.parts)
            self._copies += rendered.copies
            self._known_facts = rendered.known_facts

    # rebases

    def drop_superseded(self) -> set[int]:
        """Remove copies that a later one replaces; return the ``id`` of each removed part."""
        replaced = {id(part) for copy in self._superseded() for part in copy.parts}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) not in replaced]
        self._items = [item for item in self._items if id(item) not in replaced]
        return replaced

    def forget_told_facts(self, sent: set[int]) -> None:
        """State all facts again in the next message; of sent parts only ``sent`` remain."""
        self._known_facts = {}
        there = sent | {id(item) for item in self._items}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) in there]

    def _superseded(self) -> list[AttachmentCopy]:
        """Return the settled copies that a later one replaces."""
        if not self._copies:
            return []
        coming = self.rendered().copies
        later = {copy.key: place for place, copy in enumerate([*self._copies, *coming])}
        return [copy for place, copy in enumerate(self._copies) if later[copy.key] > place]

    def _enclosed_with(self, message_id: MessageId) -> CapturedContext:
        return self._enclosed.get(message_id, CapturedContext())
