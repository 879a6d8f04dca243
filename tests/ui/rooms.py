"""A server whose notebooks pages share through jupyter-collaboration, for the tests of rooms."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.collab import collab_environment
from tests.lab import Lab
from tests.ui.desk import Served
from tests.upstream import Upstream, in_order


@contextmanager
def serve_rooms(tmp_path_factory: pytest.TempPathFactory, *args: str) -> Generator[Served]:
    """Run it with more arguments of its command line."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = Upstream(in_order(), tmp_path_factory.mktemp("upstream")).start()
    env = {**upstream.configure(root), **collab_environment()}
    lab = Lab(root, tmp_path_factory.mktemp("lab"), args=args, env=env)
    try:
        lab.start()
        yield Served(lab, upstream)
    finally:
        lab.stop()
        upstream.stop()
