"""Traits that an administrator or user sets in Jupyter's configuration, as ``c.Shoulders.…``.

Made by ``server.app`` and ``cli.in_process``; ``settings_from_traits`` turns it into the host's
settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from traitlets import Bool, Dict, Enum, Float, Int, List, Unicode
from traitlets.config import Configurable

_SHARED = (
    "JUPYTERHUB_API_URL",
    "JUPYTERHUB_API_TOKEN",
    "BINDER_SERVICE_HOST",
    "BINDER_LAUNCH_HOST",
)
"""Variables that JupyterHub or Binder sets for the servers it starts."""


class Shoulders(Configurable):
    """Settings of the AI colleague."""

    state_dir = Unicode(
        "",
        help="""Directory of the conversations and caches, absolute or relative to the root
        directory. Set it when the workspace is read-only or on a network file system.
        Empty: `.shoulders` in the root directory.""",
    ).tag(config=True)

    models = Dict(
        help="""Models and providers, in the form of `.shoulders/models.json`. They win over those
        in the files.""",
    ).tag(config=True)

    settings = Dict(
        help="""Preferences that users cannot change, in the form of `.shoulders/settings.json`, for
        instance `{"models": {"mode": "local"}}`.""",
    ).tag(config=True)

    budget_month_usd = Float(
        None,
        allow_none=True,
        min=0.0,
        help="""How many US dollars each user may spend on models in a calendar month. Users can
        set lower personal limits, not higher ones.""",
    ).tag(config=True)

    budget_day_usd = Float(
        None, allow_none=True, min=0.0, help="The same for a day of the server's time zone."
    ).tag(config=True)

    budget_session_usd = Float(
        None, allow_none=True, min=0.0, help="The same for one conversation."
    ).tag(config=True)

    budget_turn_usd = Float(
        None,
        allow_none=True,
        min=0.0,
        help="The same for one turn: all that follows one message of the user.",
    ).tag(config=True)

    default_mode = Enum(
        ["ask", "auto_edit", "plan"],
        default_value="ask",
        help="""Mode of new conversations: `ask` before anything with an effect outside an open
        document, `auto_edit` to let undoable edits run, `plan` to let nothing run but reads.""",
    ).tag(config=True)

    titles = Bool(
        True,
        help="""Let a small model name new conversations after their first turn. It reads the
        beginning of question and answer. Local models' conversations are named by themselves.""",
    ).tag(config=True)

    step_limit = Int(
        25, min=1, help="How many times the model is called in one turn, at most."
    ).tag(config=True)

    run_patience = Float(
        60.0,
        allow_none=True,
        min=0.0,
        help="""How many seconds the agent waits for a cell it runs. Then it may do other things;
        the cell keeps running, its outputs keep coming, and the agent continues by itself
        when it has ended. None: it always waits for the end.""",
    ).tag(config=True)

    busy_kernel = Enum(
        ["queue", "refuse"],
        default_value="queue",
        help="""What the agent does when a kernel is busy with something of yours: `queue` its cell
        behind that, or `refuse` to run it.""",
    ).tag(config=True)

    turn_time_limit = Float(
        0.0,
        min=0.0,
        help="""How many seconds the agent may work in one turn; waiting for you does not count.
        0: no limit.""",
    ).tag(config=True)

    compaction = Enum(
        ["auto", "ask", "off"],
        default_value="auto",
        help="""What happens when a conversation outgrows its model: earlier messages are summarised
        for the model (you still see all of them), you are asked first, or the turn ends.""",
    ).tag(config=True)

    allow_bypass = Bool(
        True,
        help="""Whether the mode `bypass`, in which nothing asks, may be chosen for a conversation.
        It ends with the server, and is never the default.""",
    ).tag(config=True)

    rules = List(
        Dict(),
        help="""Permission rules that users cannot loosen, in the form of those in
        `.shoulders/tools.json`, for instance
        `[{"action": "deny", "tool": "run_command"}, {"action": "ask", "tool": "git_commit"}]`.
        They deny or ask; an invalid one denies.""",
    ).tag(config=True)

    folder_trust = Enum(
        ["ask", "always", "never"],
        default_value="ask",
        help="""What happens with settings that come with a folder, for instance in a cloned
        repository: rules that allow, model servers, instructions, skills. `ask`: each user
        decides, item by item; until then only what restricts applies. `always`: they apply.
        `never`: they never apply. What users set in the AI settings themselves always does.""",
    ).tag(config=True)

    trusted_folders = List(
        Unicode(),
        help="""Folders whose own settings apply without being asked about, with all folders in
        them, for instance `["/srv/courses"]`. They win over `Shoulders.folder_trust`.""",
    ).tag(config=True)

    services = Dict(
        help="""Addresses of the web services that tools use, where they are not the usual ones: a
        mirror, or a server of your own, for instance
        `{"searxng": {"base_url": "http://search.example.org"}}`. The services: `openalex`, `exa`,
        `crossref`, `datacite`, `arxiv`, `openlibrary`, `doi`, `brave`, `tavily`, `searxng`,
        `zotero`. `"mailto"` beside them is an address that Crossref and others may write to; they
        answer faster when they have one. Users set the addresses of SearXNG and Zotero in the AI
        settings; these here win.""",
    ).tag(config=True)

    tool_packages = List(
        Unicode(),
        default_value=None,
        allow_none=True,
        help="""Names of the installed packages whose tools the agent gets, for instance
        `["acme-tools"]`. None: of all that bring some. Empty: of none; they are not even
        imported.""",
    ).tag(config=True)

    acp_agents = Dict(
        help="""Agents of other makers that answer in the panel (Agent Client Protocol), by name,
        for
        instance `{"mine": {"command": ["my-agent", "--acp"], "env": {"MY_KEY": "${MY_KEY}"}}}`, or
        changes of known ones: `{"goose": {"disabled": true}}`. Fields: `command`, `title`,
        `install`, `env`, `proxy` (its models are called through the model proxy), `disabled`. They
        win over `acp_agents` in a user's `~/.shoulders/settings.json`.""",
    ).tag(config=True)

    lock_acp_agents = Bool(
        False,
        help="""Whether only the agents of `Shoulders.acp_agents` can be used: none that are found
        on the machine, none of users.""",
    ).tag(config=True)

    qdrant_url = Unicode(
        help="""Address of a Qdrant server that keeps the vectors of search by meaning, for
        instance `https://qdrant.example.org:6333`; needs `pip install
        jupyter-ai-shoulders[qdrant]`. Each user and folder sees only its own. Empty: they are kept
        in each state directory.""",
    ).tag(config=True)

    qdrant_api_key = Unicode(help="""The key for `qdrant_url`.""").tag(config=True)

    allow_commands = Bool(
        None,
        allow_none=True,
        help="""Whether the agent may run commands in a shell, if users let it. None: yes, but not
        on a JupyterHub or Binder. What holds commands is a setting: `commands.mode` is `sandbox`,
        `sandbox_read_only`, `host` (nothing holds them, and each asks) or `none`. Put it into
        `Shoulders.settings` to fix it for all; a sandbox fixed so is a must: where the system has
        none, no command runs.""",
    ).tag(config=True)

    keys_from_kernels = Enum(
        ["leave", "remove"],
        default_value=None,
        allow_none=True,
        help="""What becomes of the variables with keys of model providers in the environment the
        server was started with: `leave` them where they are, so that kernels and terminals inherit
        them, or `remove` them from the server's environment once they were read, so that kernels,
        terminals and other programs it starts do not get them. None: `remove` on a JupyterHub or
        Binder, `leave` elsewhere. It is not a barrier: a process of the same user can still read
        the server's memory and `/proc`. See `administration.md`.""",
    ).tag(config=True)

    page_grace = Float(
        600.0,
        min=0.0,
        help="""How many seconds a page with unsaved text of yours may be away (a closed laptop)
        before the agent's edits are written to the file. Until then the agent works on what the
        page last showed, and the file stays as it is. Where all that is unsaved is the agent's, ten
        seconds are enough. What you typed is never written: it is kept aside, and offered when the
        notebook is opened again.""",
    ).tag(config=True)

    mcp_server = Bool(
        True,
        help="""Whether programs such as Claude Code may read, edit and run notebooks through the
        MCP server at `shoulders/mcp`, with a token of this server or one of limited scope that a
        user made. Their calls are asked about and recorded like those of the side panel.""",
    ).tag(config=True)

    mcp_servers = Dict(
        help="""MCP servers that all users have, in the form of `.mcp.json`, for instance
        `{"docs": {"type": "http", "url": "https://mcp.example.org/mcp"}}`. They win over servers of
        the same name in `~/.shoulders/mcp.json` and in the folder, and are not asked about. A
        server with a `command` is started with the user's permissions. `${NAME}` stands for a value
        of the user's keys or the environment, which each user is asked for if it is missing.""",
    ).tag(config=True)

    mcp_servers_locked = Bool(
        False,
        help="""Whether only the servers of `Shoulders.mcp_servers` exist: users add none, and
        those of a folder are not offered. With an empty `Shoulders.mcp_servers` there are none.""",
    ).tag(config=True)

    mcp_call_timeout = Float(
        600.0,
        min=1.0,
        help="""How many seconds a call of a tool of an MCP server may take; waiting for the user
        does not count.""",
    ).tag(config=True)

    mcp_silence_timeout = Float(
        60.0,
        min=1.0,
        help="""How many seconds a call of a tool of an MCP server may take without a report of
        progress; waiting for the user does not count.""",
    ).tag(config=True)

    report_activity = Bool(
        True,
        help="""Count a running turn as activity of the server, so that a hub does not stop the
        server while the agent works.""",
    ).tag(config=True)

    metrics = Bool(
        True,
        help="""Add metrics to the server's `/metrics`. Who may read them is
        `ServerApp.authenticate_prometheus`; they hold no text, paths or names of users.""",
    ).tag(config=True)

    metrics_users = Bool(
        False,
        help="""Count turns and their cost by user, too. Everybody who may read `/metrics` then
        sees who used how much.""",
    ).tag(config=True)

    otel = Bool(
        None,
        allow_none=True,
        help="""Send OpenTelemetry spans of turns, steps, model calls and tool calls. None: if one
        of the variables `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and
        `OTEL_TRACES_EXPORTER` is set. Needs the extra `otel`.""",
    ).tag(config=True)

    otel_content = Bool(
        False,
        help="""Add messages, answers, arguments and results to the spans, with keys masked. Those
        who read the traces then read the conversations.""",
    ).tag(config=True)

    def removes_keys(self, environ: Mapping[str, str]) -> bool:
        """Return whether programs started by the server get no provider keys."""
        if self.keys_from_kernels is None:
            return is_shared(environ)
        return self.keys_from_kernels == "remove"


def is_shared(environ: Mapping[str, str]) -> bool:
    """Return whether a JupyterHub or Binder started this server."""
    return any(name in environ for name in _SHARED)
