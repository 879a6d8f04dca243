"""The scripted domain: every case passes, told when it strays and not told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from jupyter_ai_shoulders.evaluation import Report, evaluate
from jupyter_ai_shoulders.evaluation.cases.catalogue import CASES
from tests.support.case_selection import sample

pytestmark = pytest.mark.timeout(300)  # the first test waits for all cases


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    """All cases, run once: they share a kernel, and wait for the disk together."""
    with pytest.MonkeyPatch.context() as patch:
        home = str(tmp_path_factory.mktemp("home"))
        patch.setenv("HOME", home)
        patch.setenv("IPYTHONDIR", home)
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        told = asyncio.run(evaluate(CASES, nudges=[True]))
        untold = asyncio.run(evaluate(sample(CASES, 6), nudges=[False]))
        yield Report(told.model, (*told.cases, *untold.cases))


@pytest.mark.parametrize(
    ("name", "nudges"),
    [
        *(pytest.param(case.name, True, id=f"{case.name}-nudges") for case in CASES),
        *(pytest.param(case.name, False, id=f"{case.name}-no nudges") for case in sample(CASES, 6)),
    ],
)
def test_case_passes(evaluated: Report, name: str, nudges: bool, request: pytest.FixtureRequest):
    if getattr(request.node, "execution_count", 1) > 1:  # run again: what was kept failed
        evaluated = asyncio.run(evaluate([case for case in CASES if case.name == name]))
    (found,) = [each for each in evaluated.cases if (each.name, each.nudges) == (name, nudges)]
    assert found.problems == ()


def test_the_domain_is_broad_and_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert len(names) >= 25
    assert sum(case.real for case in CASES) >= 10
