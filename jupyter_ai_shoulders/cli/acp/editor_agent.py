"""The agent side of the Agent Client Protocol, https://agentclientprotocol.com.

Made by ``cli.acp.command``. Each conversation uses the engine that serves its folder: a running
Jupyter server, or one in this process, which all conversations of the folder share.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast, get_args

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.interfaces import Agent
from acp.interfaces import Client as Editor

from jupyter_ai_shoulders.cli.acp.conversation import EditorConversation
from jupyter_ai_shoulders.cli.acp.editor_page import ConversationFiles, EditorPage
from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.backend_selection import BackendOptions, choose_backend
from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.client.errors import ClientError, describe_error
from jupyter_ai_shoulders.client.server_discovery import URL
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

MODEL = "model"
LISTED = 50
_MODES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Asks before running code and before most changes"),
    "auto_edit": ("Edit", "Changes files without asking; asks before running code"),
    "plan": ("Plan", "Only reads"),
    "bypass": ("Bypass", "Asks only for protected files and unsandboxed commands"),
}


@dataclass(frozen=True, slots=True)
class _Engine:
    """The engine of a folder; ``page`` if it uses the editor's text files."""

    backend: Backend
    chat: ChatBackend
    page: EditorPage | None


class EditorAgent(Agent):
    """Answers an editor."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._editor: Editor | None = None
        self._engines: dict[Path, _Engine] = {}
        self._offers_files = False
        """Whether the editor reads and writes text files for us."""
        self._conversations: dict[str, EditorConversation] = {}
        self._opening = asyncio.Lock()
        self._announcing: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Editor) -> None:
        self._editor = conn

    async def aclose(self) -> None:
        """Stop running turns and end engines of this process."""
        for task in self._announcing:
            task.cancel()
        for conversation in self._conversations.values():
            conversation.close()
        for engine in self._engines.values():
            if engine.page is not None:
                await engine.page.aclose()
            await asyncio.to_thread(engine.chat.close)
            await asyncio.to_thread(engine.backend.close)
        self._engines.clear()

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **kwargs: Any,
    ) -> schema.InitializeResponse:
        del client_info, kwargs
        files = None if client_capabilities is None else client_capabilities.fs
        self._offers_files = bool(files and files.read_text_file and files.write_text_file)
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_info=schema.Implementation(
                name="jupyter-ai-shoulders",
                title="Jupyter AI Shoulders",
                version=version("jupyter-ai-shoulders"),
            ),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                ),
            ),
        )

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> schema.NewSessionResponse:
        del additional_directories, kwargs
        async with _errors():
            engine = await self._engine(cwd)
            command = CreateSession(kind="chat", source="acp")
            session = await asyncio.to_thread(engine.chat.create, command)
            conversation = self._add(engine, session, cwd)
            self._begin(conversation, _ignored(mcp_servers) if mcp_servers else None)
            return schema.NewSessionResponse(
                session_id=session.id,
                modes=_modes(session),
                config_options=await _options(engine.chat, session),
            )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[Any] | None = None,
        additional_directories: list[str] | None = None,
        **kwargs: Any,
    ) -> schema.LoadSessionResponse | None:
        del mcp_servers, additional_directories, kwargs
        async with _errors():
            chat, session = await self._open(cwd, session_id)
            await self._conversations[session_id].replay()
            self._begin(self._conversations[session_id])
            return schema.LoadSessionResponse(
                modes=_modes(session), config_options=await _options(chat, session)
            )

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> schema.ResumeSessionResponse:
        del mcp_servers, additional_directories, kwargs
        async with _errors():
            chat, session = await self._open(cwd, session_id)
            self._begin(self._conversations[session_id])
            return schema.ResumeSessionResponse(
                modes=_modes(session), config_options=await _options(chat, session)
            )

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **kwargs: Any
    ) -> schema.ListSessionsResponse:
        del cursor, kwargs
        if cwd is None:
            return schema.ListSessionsResponse(sessions=[])
        async with _errors():
            engine = await self._engine(cwd)
            found = await asyncio.to_thread(engine.chat.sessions, LISTED)
            return schema.ListSessionsResponse(
                sessions=[
                    schema.SessionInfo(
                        session_id=each.id, cwd=cwd, title=each.title, updated_at=each.updated_at
                    )
                    for each in found
                ]
            )

    async def set_session_mode(
        self, session_id: str, mode_id: str, **kwargs: Any
    ) -> schema.SetSessionModeResponse | None:
        del kwargs
        if mode_id not in get_args(Mode):
            raise RequestError.invalid_params({"mode_id": f"There is no mode {mode_id}."})
        async with _errors():
            await self._conversation(session_id).change(mode=cast("Mode", mode_id))
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **kwargs: Any
    ) -> schema.SetSessionConfigOptionResponse | None:
        del kwargs
        conversation = self._conversation(session_id)
        if config_id != MODEL or not isinstance(value, str):
            raise RequestError.invalid_params({"config_id": f"There is no option {config_id}."})
        async with _errors():
            await conversation.change(model=ModelId(value))
            options = await _options(conversation.chat, conversation.session)
        return schema.SetSessionConfigOptionResponse(config_options=options)

    async def authenticate(self, method_id: str, **kwargs: Any) -> None:
        del kwargs
        raise RequestError.invalid_params({"method_id": f"There is no sign-in {method_id}."})

    async def prompt(
        self, session_id: str, prompt: Sequence[Any], **kwargs: Any
    ) -> schema.PromptResponse:
        del kwargs
        async with _errors():
            reason = await self._conversation(session_id).prompt(prompt)
        return schema.PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        del kwargs
        async with _errors():
            await self._conversation(session_id).cancel()

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> schema.ForkSessionResponse:
        del session_id, cwd, additional_directories, mcp_servers, kwargs
        raise RequestError.method_not_found("session/fork")

    async def close_session(
        self, session_id: str, **kwargs: Any
    ) -> schema.CloseSessionResponse | None:
        del kwargs
        conversation = self._conversations.pop(session_id, None)
        if conversation is not None:
            conversation.close()
        return schema.CloseSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        del params
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore it: notifications of extensions have no answer."""
        del method, params

    async def _engine(self, cwd: str) -> _Engine:
        """Return the engine of a folder. Raises ``CommandFailed``, ``ClientError`` and others."""
        folder = Path(await asyncio.to_thread(os.path.realpath, cwd))
        async with self._opening:
            if folder not in self._engines:
                options = replace(self._options, workspace=folder)
                backend = await asyncio.to_thread(choose_backend, options)
                chat = await asyncio.to_thread(backend.chat)
                page = self._page(backend, chat, folder)
                self._engines[folder] = _Engine(backend, chat, page)
            return self._engines[folder]

    def _page(self, backend: Backend, chat: ChatBackend, folder: Path) -> EditorPage | None:
        """Offer the editor's text files to the engine if it works on the same files."""
        if not self._offers_files or not self._shares_files:
            return None
        below = folder.relative_to(backend.workspace.resolve())
        return EditorPage(self._connected, chat, below.as_posix())

    @property
    def _shares_files(self) -> bool:
        """Whether the engine runs on this computer: a server whose address was given may not."""
        options = self._options
        return not (options.url or (os.environ.get(URL) and not options.in_process))

    async def _open(self, cwd: str, session_id: str) -> tuple[ChatBackend, Session]:
        engine = await self._engine(cwd)
        session = await asyncio.to_thread(engine.chat.session, SessionId(session_id))
        self._add(engine, session, cwd)
        return engine.chat, session

    def _add(self, engine: _Engine, session: Session, cwd: str) -> EditorConversation:
        files = None
        if engine.page is not None:
            files = ConversationFiles(engine.page, session.id, cwd)
        earlier = self._conversations.get(session.id)
        if earlier is not None:
            earlier.close()
        conversation = self._conversations[session.id] = EditorConversation(
            engine.chat, session, engine.backend.workspace, self._connected, files
        )
        return conversation

    @property
    def _connected(self) -> Editor:
        assert self._editor is not None, "the connection is made first"
        return self._editor

    def _conversation(self, session_id: str) -> EditorConversation:
        found = self._conversations.get(session_id)
        if found is None:
            raise RequestError.invalid_params(
                {"session_id": f"{session_id} is not open. Create or load it first."}
            )
        return found

    def _begin(self, conversation: EditorConversation, notice: str | None = None) -> None:
        """Follow a conversation, after the answer to the request that opened it."""
        conversation.start()
        task = asyncio.create_task(conversation.announce(notice))
        self._announcing.add(task)
        task.add_done_callback(self._announcing.discard)


def _ignored(servers: Sequence[Any]) -> str:
    names = ", ".join(str(server.name) for server in servers)
    return (
        f"MCP servers of the editor are not used here: {names}. Add them in the settings of"
        " JupyterLab or in ~/.shoulders/mcp.json."
    )


def _modes(session: Session) -> schema.SessionModeState:
    return schema.SessionModeState(
        current_mode_id=session.mode,
        available_modes=[
            schema.SessionMode(id=mode, name=name, description=text)
            for mode, (name, text) in _MODES.items()
        ],
    )


async def _options(chat: ChatBackend, session: Session) -> list[Any]:
    listing = await asyncio.to_thread(chat.models)
    current = session.model or listing.default
    usable = [model for model in listing.models if model.available or model.id == current]
    if current is None or not usable:
        return []
    return [
        schema.SessionConfigOptionSelect(
            type="select",
            id=MODEL,
            name="Model",
            category="model",
            current_value=current,
            options=[
                schema.SessionConfigSelectOption(value=model.id, name=model.name)
                for model in usable
            ],
        )
    ]


@asynccontextmanager
async def _errors() -> AsyncGenerator[None]:
    """Turn expected errors into errors of the protocol."""
    try:
        yield
    except ShouldersError as error:
        raise RequestError(-32603, describe_error(error.info)) from error
    except (ClientError, CommandFailed, EOFError) as error:
        raise RequestError(-32603, str(error)) from error
