"""State that one process shares between its conversations, from start to end.

Made by ``host.build``; used by the server's handlers, the evaluation and tests.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import get_args

from jupyter_ai_shoulders.assist.inline_completion.service import CompletionService
from jupyter_ai_shoulders.assist.titles import Titler
from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.changes.proposals.undone import UndoneProposalTracker
from jupyter_ai_shoulders.changes.recording.cell_operations import settle_interrupted_cells
from jupyter_ai_shoulders.changes.review.inline_answers import InlineAnswerWriter
from jupyter_ai_shoulders.changes.review.service import ReviewService
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.files.open_files.open_text_files import OpenTextFiles
from jupyter_ai_shoulders.host.automation.automation import Automation
from jupyter_ai_shoulders.host.context.mentions import Mentions
from jupyter_ai_shoulders.host.delegation.orphans import OrphanedSubAgents
from jupyter_ai_shoulders.host.documents.word import WordPages
from jupyter_ai_shoulders.host.export.exporter import Exporter
from jupyter_ai_shoulders.host.external_agents.protocol_services import ProtocolServices
from jupyter_ai_shoulders.host.presence.away_report import AwayReports
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence
from jupyter_ai_shoulders.host.sessions.background_runs import BackgroundRuns
from jupyter_ai_shoulders.host.sessions.forks import Forks
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.settings.workspace_trust import TrustReview
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.host.state.permission_revocation import revoke_permissions
from jupyter_ai_shoulders.host.threads.run_notifications import RunNotifications
from jupyter_ai_shoulders.host.threads.service import ThreadService
from jupyter_ai_shoulders.host.threads.thread_import import ThreadImport
from jupyter_ai_shoulders.host.tools.installed_packages import InstalledTools
from jupyter_ai_shoulders.host.usage.service import OwnerUsage
from jupyter_ai_shoulders.host.web.service_settings import ServiceSettings
from jupyter_ai_shoulders.notebook.page_frames import PageFrameHandler
from jupyter_ai_shoulders.storage.artifacts import ArtifactFiles
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import PageFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId

_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Host:
    """Everything one process shares between its conversations."""

    services: SharedServices
    """The services that the parts share: settings, storage, documents, files, models, budgets."""
    tools: ToolRegistry
    installed: InstalledTools
    """Tools of other packages, and their errors."""
    rules: PermissionStore
    trust: TrustReview
    """Settings that came with the workspace, and the user's answers about them."""
    engine: Engine
    session_service: SessionService
    review: ReviewService
    cell_answers: InlineAnswerWriter
    usage: OwnerUsage
    proposals: ProposalService
    titler: Titler
    mentions: Mentions
    inline_completion: CompletionService
    runs: BackgroundRuns
    forks: Forks
    threads: ThreadService
    run_notifications: RunNotifications
    undone_proposals: UndoneProposalTracker
    thread_import: ThreadImport
    presence: PagePresence
    artifacts: ArtifactFiles
    protocols: ProtocolServices
    automation: Automation

    def __post_init__(self) -> None:
        """Name the shared services that handlers use."""
        services, store = self.services, self.services.store
        self.settings = services.settings
        self.hub = store.hub
        self.log = store.log
        self.sessions = store.sessions
        self.blobs = store.blobs
        self.database = store.directory.database
        """For readers in threads."""
        self.models = services.models
        self.pages = services.ports.pages
        self.search = services.search
        self.web_services = ServiceSettings(services.web)
        self.references = services.references
        self.citations = services.citations
        self.live = services.documents.live
        self.files = services.files
        self.word = WordPages(services.documents.workspace, services.files.word)
        self.frames = PageFrameRouter(services.documents.frames, services.files.live)
        self.pending_edits = services.pending_edits
        self.anchors = services.anchors
        self.commands = services.commands
        self.budgets = services.budgets
        self.preferences = services.preferences
        self.memory = services.memory
        self.redact = services.redact
        """Removes provider keys from text that is shown."""
        self.load_instructions = services.environment.load_instructions
        """Returns the current instructions and skills."""
        self.exporter = Exporter(store.log)
        self.orphaned_sub_agents = OrphanedSubAgents(store.sessions, store.log, self.engine)
        store.hub.add(self.orphaned_sub_agents)
        self.away = AwayReports(self.presence, store.sessions, store.log)
        self._recovery = asyncio.Lock()
        self._recovered = False
        self._reported: str | None = None

    async def ready(self) -> None:
        """Recover the state of the last process, once.

        While the state directory is unusable, each request tries again; requests that need it fail
        with the reason, and everything else works.
        """
        if self._recovered:
            return
        async with self._recovery:
            if not self._recovered:
                await self.installed.load()
                await self.protocols.offers.start()
                await self._recover()

    def trust_changed(self) -> None:
        """Make pages fetch everything that depends on folder trust."""
        for part in get_args(SettingsPart):
            self.pages.settings_changed(part)
        self.pages.tools_changed()

    def state_error(self) -> ErrorInfo | None:
        """Return why conversations cannot be stored now, None when they can."""
        return self.services.store.problem()

    def state_notice(self) -> ErrorInfo | None:
        """Return ``state_error``, or else what a damaged file lost while that file is kept."""
        return self.state_error() or self.services.store.damage()

    async def file_saved(self, path: str) -> None:
        """Note that the user saved a file in the lab."""
        self.automation.activity.saved(path)
        await self.trust.on_file_saved(path)

    async def renamed(self, old: str, new: str) -> None:
        """Update everything that refers to a renamed notebook or file."""
        self.live.renamed(old, new)
        self.files.live.renamed(old, new)
        self.pending_edits.renamed(old, new)
        await self.anchors.renamed(old, new)

    async def aclose(self) -> None:
        """Stop running turns and write everything to the disk, in less than five seconds."""
        self.run_notifications.close()
        self.installed.close()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.services.store.aclose)
            stack.push_async_callback(self.automation.close_notifications)
            stack.push_async_callback(self.budgets.aclose)
            stack.push_async_callback(self.models.aclose)
            stack.push_async_callback(self.services.documents.aclose)
            stack.push_async_callback(self.commands.aclose)
            stack.push_async_callback(self.protocols.aclose)
            stack.push_async_callback(self.files.aclose)
            stack.push_async_callback(self.services.environment.aclose)
            stack.push_async_callback(self.mentions.aclose)
            stack.push_async_callback(self.trust.aclose)
            stack.push_async_callback(self.search.aclose)
            stack.push_async_callback(self.proposals.aclose)
            stack.push_async_callback(self.titler.aclose)
            stack.push_async_callback(self.orphaned_sub_agents.aclose)
            stack.push_async_callback(self.inline_completion.aclose)
            await self.automation.aclose()
            await self.engine.stop()

    async def _recover(self) -> None:
        try:
            own = await asyncio.to_thread(self.services.store.origin.is_own)
            await self.services.notifications.load()
            await self.services.store.open()
            crash_point("host.store.opened")
            foreign = [] if own else revoke_permissions(self.sessions, self.log)
            if not own:
                await self.automation.schedules.withdraw_foreign()
            await self.pending_edits.load()
            await self.files.start()
            await self.services.agent_database.settle()
            await self.engine.start()
            crash_point("host.engine.started")
            for session_id in foreign:
                await self.engine.cancel(session_id)
            if not own:
                await asyncio.to_thread(self.services.store.origin.claim)
            await self.threads.delete_unstarted()
            self.run_notifications.take_up()
            await self.undone_proposals.catch_up()
            await self.orphaned_sub_agents.catch_up()
            await self.services.documents.start()
            await settle_interrupted_cells(self.files.journal, self.services.documents.notebooks)
            await self.engine.restores.resume_unfinished()
            await self.automation.start()
        except StateUnavailable as error:
            if str(error) != self._reported:
                _log.warning("Conversations are not available: %s %s", error, error.info.hint)
            self._reported = str(error)
            self.automation.take_over_later(self.ready)
        else:
            self._recovered = True


class PageFrameRouter:
    """Routes frames of pages to notebooks and text files; used by the page socket."""

    def __init__(self, notebooks: PageFrameHandler, texts: OpenTextFiles) -> None:
        self._notebooks = notebooks
        self._texts = texts

    def connected(self, client_id: ClientId) -> None:
        """Register a connected page; it announces its open documents again."""
        self._notebooks.connected(client_id)
        self._texts.connected(client_id)

    def disconnected(self, client_id: ClientId) -> None:
        """Record that a page's socket closed, for whatever reason."""
        self._notebooks.disconnected(client_id)
        self._texts.disconnected(client_id)

    async def handle(self, client_id: ClientId, frame: PageFrame) -> None:
        """Handle a frame of a page without waiting. Raises ``InvalidRequest``."""
        self._texts.handle(client_id, frame)
        await self._notebooks.handle(client_id, frame)
