"""Ports of running servers, from Jupyter's runtime directory."""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.host.tools.command_execution import running_server_ports


def test_ports_of_all_servers_are_found(tmp_path: Path) -> None:
    for name, text in {
        "jpserver-1.json": '{"port": 8888, "token": "x"}',
        "nbserver-2.json": '{"port": 8889}',
        "jpserver-3.json": '{"port": 0, "sock": "/run/x"}',
        "jpserver-4.json": '{"port": 70000}',
        "jpserver-5.json": "{",
        "kernel-6.json": '{"port": 5}',
    }.items():
        (tmp_path / name).write_text(text)

    assert running_server_ports(tmp_path) == {8888, 8889}


def test_without_a_runtime_directory_there_are_none(tmp_path: Path) -> None:
    assert running_server_ports(tmp_path / "none") == set()
