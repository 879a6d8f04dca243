"""A server whose web services are the simulators, and a workspace with a bibliography."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from traitlets.config import Config

from tests.simulator.services import ServiceSimulator

BIBLIOGRAPHY = r"""% Kept as it is
@string{nat = {Nature}}

@article{harris2020,
  author  = {Harris, Charles R. and van der Walt, St{\'e}fan J.},
  title   = {Array programming with {NumPy}},
  journal = nat,
  year    = 2020,
  doi     = {10.1038/s41586-020-2649-2},
}

@book{knuth1984, title = "The {\TeX}book", author = "Donald E. Knuth",
 year = 1984, publisher = {Addison}}
"""


@pytest.fixture
def services(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ServiceSimulator]:
    """The web services."""
    simulator = ServiceSimulator()
    jp_asyncio_loop.run_until_complete(simulator.__aenter__())
    yield simulator
    jp_asyncio_loop.run_until_complete(simulator.__aexit__(None, None, None))


@pytest.fixture
def jp_server_config(jp_server_config: Config, services: ServiceSimulator) -> Config:
    """Web services at the simulators; Zotero does not run unless a test says so."""
    services.refuse_connections("zotero")
    jp_server_config.Shoulders.services = services.trait
    return jp_server_config


@pytest.fixture
def bibliography(jp_root_dir: Path) -> Path:
    """The main bibliography."""
    path = jp_root_dir / "references.bib"
    path.write_text(BIBLIOGRAPHY)
    return path
