"""A server whose pages share notebooks through jupyter-collaboration, for the tests of rooms."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.collaboration_environment import collab_environment
from tests.support.forked_lab import ForkedLab
from tests.ui.support.notebook_scenario import LabWithModel


@contextmanager
def serve_rooms(tmp_path_factory: pytest.TempPathFactory, *args: str) -> Generator[LabWithModel]:
    """Run it with additional command line arguments."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    env = {**upstream.configure(root), **collab_environment()}
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), args=args, env=env)
    try:
        lab.start()
        yield LabWithModel(lab, upstream)
    finally:
        lab.stop()
        upstream.stop()
