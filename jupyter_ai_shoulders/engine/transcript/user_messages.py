"""The user's side of what comes next: messages, what they enclose, and the guards' remarks.

Used by ``engine.transcript.messages``. A message is rendered anew until the first request with it
is made; from then on it stays as it was sent (``settle``).
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
    """Takes what is said to the model, in order, and renders it."""

    def __init__(self) -> None:
        self._setting = RenderSettings()
        self._items: list[UserPart | ev.MessageAdd] = []
        """What is said next; messages are settled when their first step begins."""
        self._remarks: list[str] = []
        """What the guards say before the next step (``engine.guardrails.progress_guard``)."""
        self._queued: dict[MessageId, ev.MessageAdd] = {}
        self._enclosed: dict[MessageId, CapturedContext] = {}
        self._told: Mapping[str, str] = {}
        """What the model has been told of the workspace, by name."""
        self._copies: list[AttachmentCopy] = []
        """Contents of attachments in settled messages, oldest first."""

    # what the log says of messages to come

    def set_zone(self, zone: tzinfo) -> None:
        """Give local times in this zone from now on."""
        self._setting = replace(self._setting, zone=zone)

    @property
    def secret(self) -> str:
        """What data is marked with (``engine.guardrails.untrusted_text``)."""
        return self._setting.secret

    def set_secret(self, secret: str) -> None:
        """Mark data with this secret from now on."""
        self._setting = replace(self._setting, secret=secret)

    def set_facts(self, facts: tuple[FactRecord, ...]) -> None:
        """Say what the workspace is like now."""
        self._setting = replace(self._setting, facts=facts)

    def enclose(self, record: AttachmentRecord | SkillRecord) -> None:
        """Put into its message what was captured for it."""
        enclosed = self._enclosed_with(record.message_id)
        if isinstance(record, AttachmentRecord):
            attachments = {**enclosed.attachments, record.index: record}
            enclosed = replace(enclosed, attachments=attachments)
        else:
            enclosed = replace(enclosed, skills=(*enclosed.skills, record))
        self._enclosed[record.message_id] = enclosed

    def unsettled(self) -> list[tuple[ev.MessageAdd, CapturedContext]]:
        """Return the messages that were never sent, with what was captured for them."""
        return [
            (item, self._enclosed_with(item.message_id))
            for item in self._items
            if isinstance(item, ev.MessageAdd)
        ]

    def superseded(self) -> list[str]:
        """Return what stands in the conversation more than once; a rebase leaves the latest."""
        return list(dict.fromkeys(copy.key for copy in self._superseded()))

    def last_told_context(self) -> list[str]:
        """Return what the page said is in front of the user, as the model was told last."""
        return [f"{name}: {self._told[name]}" for name in IN_CONTEXT if name in self._told]

    # what is said

    def say(self, item: UserPart | ev.MessageAdd) -> None:
        """Say this next."""
        self._items.append(item)

    def begin(self, items: Iterable[UserPart | ev.MessageAdd]) -> None:
        """Say nothing but this next: what was said before has its reply."""
        self._items = list(items)

    def queue(self, message: ev.MessageAdd) -> None:
        """Hold a message until the log says what became of it."""
        self._queued[message.message_id] = message

    def leave_queue(self) -> None:
        """Forget the messages that wait."""
        self._queued.clear()

    def take_queued(self, event: ev.MessageUpdate) -> ev.MessageAdd | None:
        """Return the queued message when its turn has come; else change it or take it out."""
        queued = self._queued.pop(event.message_id, None)
        if queued is not None and event.status == "queued":
            text = queued.text if event.text is None else event.text
            self._queued[event.message_id] = queued.model_copy(update={"text": text})
        return queued if event.status == "consumed" else None

    def remind(self, text: str) -> None:
        """Remark something before the next step."""
        self._remarks.append(text)

    def begin_step(self, notice: str | None) -> None:
        """Keep everything as it is sent now, with the remarks and what the step is told."""
        self.settle()
        for text in (*self._remarks, notice):
            remark = None if text is None else TextPart(text=text)
            if remark is not None and remark not in self._items[-1:]:
                self._items.append(remark)
        self._remarks = []

    def rendered(self) -> RenderedMessage:
        """Return the user's side as it would be sent now, without remarks."""
        whole = RenderedMessage((), told=self._told)
        for item in self._items:
            if not isinstance(item, ev.MessageAdd):
                whole = replace(whole, parts=(*whole.parts, item))
                continue
            enclosed = self._enclosed_with(item.message_id)
            one = render_user_message(item, self._setting, enclosed, whole.told)
            parts, copies = (*whole.parts, *one.parts), (*whole.copies, *one.copies)
            whole = RenderedMessage(parts, copies, one.told)
        return whole

    def with_remarks(self, parts: Iterable[UserPart], notices: Iterable[str]) -> list[UserPart]:
        """Return the parts with the remarks of the next step and more ``notices``."""
        parts = list(parts)
        told = (TextPart(text=text) for text in (*self._remarks, *notices))
        return [*parts, *(part for part in told if part not in parts[-1:])]

    def settle(self) -> None:
        """Keep what is said as it is sent: a request with it is made now."""
        if any(isinstance(item, ev.MessageAdd) for item in self._items):
            rendered = self.rendered()
            self._items = list(rendered.parts)
            self._copies += rendered.copies
            self._told = rendered.told

    # rebases

    def drop_superseded(self) -> set[int]:
        """Take out copies that a later one replaces; return the ``id`` of each of their parts."""
        replaced = {id(part) for copy in self._superseded() for part in copy.parts}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) not in replaced]
        self._items = [item for item in self._items if id(item) not in replaced]
        return replaced

    def forget_told_facts(self, sent: set[int]) -> None:
        """Tell the workspace whole in the next message; of parts sent only ``sent`` remain."""
        self._told = {}
        there = sent | {id(item) for item in self._items}
        self._copies = [copy for copy in self._copies if id(copy.parts[0]) in there]

    def _superseded(self) -> list[AttachmentCopy]:
        """Return the settled copies that a later one replaces."""
        coming = self.rendered().copies
        later = {copy.key: place for place, copy in enumerate([*self._copies, *coming])}
        return [copy for place, copy in enumerate(self._copies) if later[copy.key] > place]

    def _enclosed_with(self, message_id: MessageId) -> CapturedContext:
        return self._enclosed.get(message_id, CapturedContext())
