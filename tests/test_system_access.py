"""Only the guard opens files, connects or starts processes; checked in the source.

Each exception states the permitted use and its reason. An unneeded exception fails the test, as
does any new access without the guard.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import jupyter_ai_shoulders
from tests.support.system_access_scanner import Kind, SystemAccess, find_system_access

PACKAGE = Path(jupyter_ai_shoulders.__file__).parent

FILES: frozenset[Kind] = frozenset({"files"})
NETWORK: frozenset[Kind] = frozenset({"network"})
PROCESSES: frozenset[Kind] = frozenset({"processes"})


@dataclass(frozen=True, slots=True)
class Excepted:
    """Permitted access without the guard: kinds of access or single uses, and the reason."""

    why: str
    kinds: Collection[Kind] = ()
    uses: Collection[str] = ()


OWN_DATA = ("import importlib.resources", "importlib.resources.files", "….read_text")
OWN_DATA_WHY = "reads the text files this package ships"
ARCHIVES = ("zipfile.ZipFile", "zipfile.LargeZipFile")
VERSIONS = ("….read_text",)
IMPORTS = ("import importlib.import_module",)
LATE = "imports a module of this package, named in its own table, on first use"

EXCEPTIONS: Mapping[str, Excepted] = {
    # Designed exceptions: storage, the provider transport, Jupyter's managers.
    "storage.*": Excepted("keeps the state directory, which no tool path leads to", FILES),
    "retrieval.*": Excepted("keeps the search index in the state directory", FILES),
    "retrieval.vectors.optional_packages": Excepted(
        "imports the vector engine and its client, named in the source; the client connects to the "
        "server of the setting only",
        (),
        ("importlib.import_module",),
    ),
    "host.memory.memory_places": Excepted(
        "compares the state directory with that of the user", (), ("os.path.realpath",)
    ),
    "host.search.document_source": Excepted(
        "compares size and time of files; reads them through the guard", (), ("os.stat",)
    ),
    "host.search.index_ownership": Excepted(
        "makes the folder of the index in the state directory", (), ("….mkdir",)
    ),
    "providers.http.client": Excepted("the provider transport", NETWORK),
    "providers.http.loopback": Excepted(
        "makes sockets for the provider transport that reach only this machine", NETWORK
    ),
    "providers.http.network_errors": Excepted("names the provider transport's errors", NETWORK),
    "notebook.base": Excepted("Jupyter's kernel managers and clients", PROCESSES),
    "notebook.kernel_channels": Excepted(
        "sockets of Jupyter's kernel clients", {*NETWORK, *PROCESSES}
    ),
    "notebook.kernels.execute_request": Excepted("Jupyter's kernel clients", PROCESSES),
    "notebook.kernels.connection": Excepted("Jupyter's kernel clients", PROCESSES),
    "notebook.kernels.message_decoding": Excepted("Jupyter's message format", PROCESSES),
    "notebook.kernels.local_kernels": Excepted(
        "Jupyter's kernel manager, and the folder of its connection files",
        PROCESSES,
        ("….mkdir",),
    ),
    "notebook.backends.disk.trust": Excepted("Jupyter's own database of signatures", FILES),
    "server.adapters.contents_manager": Excepted(
        "compares the contents manager's root", (), ("….resolve",)
    ),
    "server.kernels.gateway": Excepted("Jupyter's gateway client", {*NETWORK, *PROCESSES}),
    "server.kernels.kernel_directory": Excepted("Jupyter's kernel manager", PROCESSES),
    # The user's side: a kernel, a script or a terminal, which no call of the agent reaches.
    "client.server_discovery": Excepted(
        "reads what Jupyter servers wrote about themselves",
        FILES,
        ("os.kill", "os.getppid", "pathlib.Path.cwd", "….resolve", "….read_text", "….glob"),
    ),
    "cli.acp.command": Excepted(
        "keeps everything but the protocol away from standard output",
        (),
        ("os.dup", "os.dup2", "os.fdopen"),
    ),
    "cli.acp.editor_agent": Excepted(
        "finds the folder that the editor names", (), ("os.path.realpath",)
    ),
    "cli.acp.prompt_blocks": Excepted(
        "compares paths of the editor with the workspace", (), ("os.path.realpath",)
    ),
    "cli.mcp.command": Excepted(
        "names this program and the folder as the user gave them", (), ("….resolve", "….absolute")
    ),
    "cli.mcp.local_server": Excepted("finds the folder that the user names", (), ("….resolve",)),
    "cli.export": Excepted("finds the folder of the file that the user names", (), ("….resolve",)),
    "client.interrupts": Excepted(
        "lets Ctrl+C wait for a message to be sent", (), ("signal.getsignal", "signal.signal")
    ),
    "cli.backend_selection": Excepted(
        "looks whether there is what the user names on the command line",
        (),
        ("….resolve", "….is_dir", "….is_file"),
    ),
    "cli.doctor.install": Excepted(
        "reads Jupyter's own files of configuration",
        (),
        ("….is_file", "….glob", "….read_text"),
    ),
    "cli.doctor.imports": Excepted(
        "imports what a server would, in a process that does nothing else", (), IMPORTS
    ),
    "client.agent_database": Excepted(
        "opens the agent's database read-only, where the server says it is", FILES
    ),
    "client.connection": Excepted("the way to the Jupyter server", NETWORK),
    "cli.chat.editor_socket": Excepted("reads and writes a socket of client.page_socket", NETWORK),
    "client.page_socket": Excepted("the same, as a page goes it", NETWORK),
    "kernel.panel.bundle": Excepted(
        "reads the page half of the panel, which this package ships",
        (),
        ("….exists", "….read_bytes"),
    ),
    "kernel.panel.lazy_protocol": Excepted(LATE, (), ("import LazyModule",)),
    "kernel.panel.server_relay": Excepted(
        "hands the Jupyter server's answers to the panel", NETWORK
    ),
    "kernel.panel.websocket_relay": Excepted(
        "relays the panel's socket to the Jupyter server", NETWORK
    ),
    # The user's own settings and keys, outside every workspace.
    "providers.catalogue.loader": Excepted(
        "reads the user's models.json, and the catalogue this package ships", FILES
    ),
    "providers.credentials.key_store": Excepted(
        "looks whether the user's keys.env changed, and asks the system's keyring", FILES, IMPORTS
    ),
    "providers.private_file": Excepted("writes the user's keys.env and models.json", FILES),
    "host.settings.preferences": Excepted("looks whether settings.json changed", (), ("….stat",)),
    # The package's own data, and imports by a fixed name.
    "assist.inline_completion.prompt": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "core.sensitive_files.secret_files": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "core.redaction.secret_patterns": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "core.sensitive_files.protected_files": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "engine.environment.skills": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "engine.request.system_prompt": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "host.key_environment": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "notebook.snippets.bundler": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "kernel.prompt_text": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "tools.code_analysis.effect_table": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "tools.permissions.programs": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "tools.registry": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "client.lazy_imports": Excepted(
        "imports httpx, websocket and pydantic, and modules of this package, by names in its own "
        "text, on first use",
        (),
        IMPORTS,
    ),
    "host.preload": Excepted(LATE, (), IMPORTS),
    "providers.adapter_factory": Excepted(LATE, (), IMPORTS),
    "server.app": Excepted(
        f"{LATE}, and names the user's models.json", (), (*IMPORTS, "pathlib.Path.home")
    ),
    "server.lazy_routes": Excepted(LATE, (), IMPORTS),
    "server.config_reference": Excepted(
        "writes the reference into the source tree, for developers", (), ("….write_text",)
    ),
    "wire.schema": Excepted(
        "writes the schema into the source tree, for developers", (), ("….mkdir", "….write_text")
    ),
    # Uses only names, or works in memory.
    "files.previews.archives": Excepted("unpacks bytes in memory", (), ARCHIVES),
    "files.word.parsing.package": Excepted("unpacks and packs bytes in memory", (), ARCHIVES[:1]),
    "references.styles.worker": Excepted("ends its own process", (), ("os._exit",)),
    "references.styles.citation_styles": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "tools.conversation.share_artifact": Excepted("packs bytes in memory", (), ARCHIVES),
    "files.previews.formats": Excepted(
        "imports a reader of documents by a name from a fixed table",
        (),
        ("importlib.import_module",),
    ),
    "host.mcp_server.protocol": Excepted(OWN_DATA_WHY, (), OWN_DATA),
    "mcp_client.process_transport": Excepted(
        "queues of messages in memory, between the SDK and a process of the guard", NETWORK
    ),
    "server.mcp.endpoint": Excepted(
        "imports the MCP SDK and the modules that need it on the first request", (), IMPORTS
    ),
    "host.tools.command_execution": Excepted(
        "tells the sandbox where the workspace and the home really are, and reads where Jupyter's "
        "own servers listen, in their runtime directory",
        (),
        ("os.path.realpath", "pathlib.Path.home", "….glob", "….read_bytes"),
    ),
    "host.settings.workspace_trust": Excepted(
        "tells where the workspace, the home and trusted folders really are",
        (),
        ("os.path.realpath",),
    ),
    "host.ports": Excepted("where settings are kept by default", (), ("pathlib.Path.home",)),
    "host.context.instruction_cache": Excepted(
        "looks whether the user's instruction files changed; reads them through the guard",
        (),
        ("os.lstat", "….is_dir"),
    ),
    # For developers and tests: these start servers and end processes on purpose.
    "core.crash_points": Excepted(
        "ends this process where a test asks for it", {*FILES, *PROCESSES}
    ),
    "evaluation.*": Excepted("scripts of developers, outside the server", {*FILES, *NETWORK}),
}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def found_in_the_package() -> dict[str, list[SystemAccess]]:
    """Return the system accesses of each module outside the guard."""
    return {
        module: found
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (module := module_of(path)).startswith("guard.")
        if (found := find_system_access(path.read_text("utf-8")))
    }


def excepted(module: str, reach: SystemAccess, exceptions: Mapping[str, Excepted]) -> set[str]:
    """Return the exceptions that cover a use."""
    return {
        name
        for name, exception in exceptions.items()
        if fnmatchcase(module, name)
        and (
            reach.kind in exception.kinds
            or any(reach.what == use or reach.what.startswith(f"{use}.") for use in exception.uses)
        )
    }


def violations(
    found: Mapping[str, list[SystemAccess]], exceptions: Mapping[str, Excepted]
) -> list[str]:
    return [
        f"{module}:{reach.line} {reach.kind}: {reach.what}"
        for module, places in found.items()
        for reach in places
        if not excepted(module, reach, exceptions)
    ]


def test_everything_that_reaches_out_goes_through_the_guard_or_is_an_exception_that_is_needed():
    found = found_in_the_package()
    assert violations(found, EXCEPTIONS) == [], (
        "use the guard, or add an exception above with its reason"
    )
    used = {
        name
        for module, places in found.items()
        for reach in places
        for name in excepted(module, reach, EXCEPTIONS)
    }
    assert set(EXCEPTIONS) - used == set()


def test_no_tool_may_reach_out_by_itself():
    tools = {name: exception for name, exception in EXCEPTIONS.items() if name.startswith("tools.")}
    assert not any(exception.kinds for exception in tools.values())
    uses = {use for exception in tools.values() for use in exception.uses}
    assert uses == {*OWN_DATA, *ARCHIVES}


PLANTED = {
    "open('x')": "files",
    "import io; io.open('x')": "files",
    "from io import open as peep\npeep('x')": "files",
    "import os; os.remove('x')": "files",
    "from os import remove": "files",
    "import os as system; system.scandir('.')": "files",
    "import os.path; os.path.exists('x')": "files",
    "from os import path; path.getsize('x')": "files",
    "import os; os.system('x')": "processes",
    "import os; run = os.execv": "processes",
    "import os; getattr(os, 'sys' + 'tem')('x')": "hidden",
    "import os; getattr(os, 'popen')('x')": "hidden",
    "from pathlib import Path\nPath('x').read_text()": "files",
    "from pathlib import Path\nPath('x').open()": "files",
    "from pathlib import Path\n(Path('x') / 'y').unlink()": "files",
    "from pathlib import Path\ndef f(where: Path): return where.stat()": "files",
    "from pathlib import Path\ndef f(where: Path | None): return (where / 'a').open()": "files",
    "def f(workspace): return (workspace.directory / name).exists()": "files",
    "def f(workspace): return workspace.directory.iterdir()": "files",
    "import asyncio\nasync def f(p): await asyncio.to_thread(p.write_bytes, b'')": "files",
    "import shutil": "files",
    "from shutil import copy": "files",
    "def f():\n    import tempfile": "files",
    "import sqlite3": "files",
    "import zipfile; zipfile.ZipFile('x')": "files",
    "import subprocess": "processes",
    "from subprocess import run": "processes",
    "import asyncio; asyncio.create_subprocess_exec('x')": "processes",
    "from asyncio import create_subprocess_shell as start": "processes",
    "def f(loop): return loop.subprocess_exec": "processes",
    "import ctypes": "processes",
    "from multiprocessing import Process": "processes",
    "import socket": "network",
    "from urllib.request import urlopen": "network",
    "import urllib.request as web": "network",
    "import httpx": "network",
    "from httpx import get": "network",
    "from jupyter_ai_shoulders.client.lazy_imports import httpx": "network",
    "import aiohttp": "network",
    "import asyncio; asyncio.open_connection('x', 1)": "network",
    "def f(loop): return loop.create_connection": "network",
    "from tornado.httpclient import AsyncHTTPClient": "network",
    "__import__('os').remove('x')": "hidden",
    "import importlib; importlib.import_module('socket')": "hidden",
    "from importlib import import_module": "hidden",
    "from jupyter_ai_shoulders.client.lazy_imports import LazyModule": "hidden",
    "eval('open')": "hidden",
    "exec('x')": "hidden",
}


@pytest.mark.parametrize(("source", "kind"), PLANTED.items(), ids=PLANTED.keys())
def test_planted_violation_is_found(source: str, kind: str):
    found = {"tools.planted": find_system_access(source)}
    assert kind in {reach.kind for reach in found["tools.planted"]}
    assert violations(found, EXCEPTIONS)


@pytest.mark.parametrize(
    "source",
    [
        *("'a'.replace('b', 'c')", "import os; os.environ['x']; os.sep; os.getpid()"),
        *("import os; os.path.join('a', 'b'); os.O_RDONLY", "import io; io.BytesIO()"),
        *("from pathlib import Path\nPath('a') / 'b'", "notebooks.open('x')"),
        *(
            "from pathlib import PurePosixPath",
            "workspace.read(path)",
            "import re; re.compile('x')",
        ),
        *("def open(x): ...\nopen(1)", "from zipfile import ZIP_DEFLATED", "import asyncio"),
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import httpx",
    ],
)
def test_harmless_code_is_let_alone(source: str):
    assert find_system_access(source) == []
