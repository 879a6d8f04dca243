"""How the client finds a server, and its token."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.client import ServerNotFound
from jupyter_ai_shoulders.client.server_discovery import (
    RunningServer,
    ServerAddress,
    find_server,
    running_servers,
)

HERE = "http://127.0.0.1:8888/"
HUB = "http://127.0.0.1:8888/user/ada/"

TOLD = {"SHOULDERS_PROXY_URL": f"{HERE}shoulders/proxy", "SHOULDERS_PROXY_SECRET": "sec"}
"""Variables that the server at ``HERE`` sets in its kernels."""


def server(
    url: str = HERE, root: Path = Path("/elsewhere"), pid: int = 1, **known: str
) -> RunningServer:
    return RunningServer(url, known.get("token", "told"), root, pid, known.get("socket", ""))


@pytest.mark.parametrize(
    ("arguments", "environ", "servers", "address"),
    [
        ((HERE, "given"), {"SHOULDERS_URL": "http://x/"}, [server()], ServerAddress(HERE, "given")),
        (("http://127.0.0.1:8888", None), {}, [server()], ServerAddress(HERE, "told")),
        (("http://far/", None), {}, [server()], ServerAddress("http://far/", None)),
        (("http://far/", None), {"SHOULDERS_TOKEN": "t"}, [], ServerAddress("http://far/", "t")),
        ((None, None), {"SHOULDERS_URL": HERE}, [server()], ServerAddress(HERE, "told")),
        ((None, None), {}, [server()], ServerAddress(HERE, "told")),
        ((None, "given"), {}, [server()], ServerAddress(HERE, "given")),
        ((None, None), {}, [server(token="")], ServerAddress(HERE, None)),
        ((None, None), {}, [server(socket="/s")], ServerAddress(HERE, "told", "/s")),
        (
            (None, None),
            {},
            [server("http://a/"), server("http://b/", pid=os.getppid())],
            ServerAddress("http://b/", "told"),
        ),
        (
            (None, None),
            {},
            [server("http://a/"), server("http://b/", Path.cwd().resolve())],
            ServerAddress("http://b/", "told"),
        ),
        (
            (None, None),
            {
                "SHOULDERS_URL": HUB,
                "JUPYTERHUB_SERVICE_PREFIX": "/user/ada/",
                "JUPYTERHUB_API_TOKEN": "hub",
            },
            [],
            ServerAddress(HUB, "hub"),
        ),
        (
            ("http://far/", None),
            {"JUPYTERHUB_SERVICE_PREFIX": "/user/ada/", "JUPYTERHUB_API_TOKEN": "hub"},
            [],
            ServerAddress("http://far/", None),
        ),
        (
            ("http://far/user/ada/", None),
            {"JUPYTERHUB_SERVICE_PREFIX": "/user/ada/", "JUPYTERHUB_API_TOKEN": "hub"},
            [],
            ServerAddress("http://far/user/ada/", None),
        ),
        (
            ("http://hub/user/ada/", None),
            {
                "JUPYTERHUB_SERVICE_PREFIX": "/user/ada/",
                "JUPYTERHUB_API_TOKEN": "hub",
                "JUPYTERHUB_PUBLIC_URL": "http://hub/user/ada/",
            },
            [],
            ServerAddress("http://hub/user/ada/", "hub"),
        ),
        ((None, None), {"SHOULDERS_URL": HERE, **TOLD}, [], ServerAddress(HERE, "sec")),
        ((HERE, None), TOLD, [], ServerAddress(HERE, "sec")),
        (
            (None, None),
            {"SHOULDERS_URL": "http://far/", **TOLD},
            [],
            ServerAddress("http://far/", None),
        ),
        (
            ("http://far/", None),
            {"SHOULDERS_URL": HERE, **TOLD},
            [],
            ServerAddress("http://far/", None),
        ),
    ],
)
def test_a_server_is_found(
    arguments: tuple[str | None, str | None],
    environ: dict[str, str],
    servers: list[RunningServer],
    address: ServerAddress,
) -> None:
    assert find_server(*arguments, environ=environ, servers=servers) == address


def test_a_token_is_not_shown_with_its_address() -> None:
    assert "told" not in f"{server()} {ServerAddress(HERE, 'told')}"


def test_no_server_is_said_with_what_to_do() -> None:
    with pytest.raises(ServerNotFound, match="Start one, or: Give Client"):
        find_server(environ={}, servers=[])


def test_several_servers_are_named() -> None:
    servers = [server("http://a/"), server("http://b/")]
    with pytest.raises(ServerNotFound, match=r"http://a/ \(/elsewhere\), http://b/"):
        find_server(environ={}, servers=servers)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def said(**values: Any) -> str:
    known = {
        "url": "http://h:9/x/",
        "hostname": "h",
        "port": 9,
        "base_url": "/x/",
        "sock": "",
        "token": "t",
        "root_dir": "/w",
        "pid": os.getpid(),
        "secure": False,
    }
    return json.dumps({**known, **values})


def test_what_servers_wrote_is_read(runtime: Path) -> None:
    files = {
        "jpserver-1.json": said(),
        "jpserver-2.json": said(hostname="0.0.0.0"),
        "jpserver-3.json": said(hostname="", secure=True),
        "jpserver-4.json": said(sock="/run/j.sock"),
        "jpserver-5.json": said(pid=2**22 + 1),
        "jpserver-6.json": "{",
        "jpserver-7.json": "[]",
        "jpserver-8.json": "{}",
        "other.json": said(),
    }
    for name, text in files.items():
        (runtime / name).write_text(text)

    found = [(each.url, each.socket) for each in running_servers()]

    assert found == [
        ("http://h:9/x/", ""),
        ("http://127.0.0.1:9/x/", ""),
        ("https://127.0.0.1:9/x/", ""),
        ("http://localhost/x/", "/run/j.sock"),
    ]


def test_no_folder_of_servers_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/nothing/there")
    assert running_servers() == []
