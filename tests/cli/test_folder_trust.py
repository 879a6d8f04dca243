"""Commands report settings of a folder that do not apply, and accept them on request."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Terminal
from tests.simulator_process import says

RULES = {"version": 1, "rules": [{"action": "allow", "tool": "run_command"}]}
BROUGHT = "brings its own AI settings, which do not apply: 1 permission rule, 1 model server (127."


@pytest.fixture
def folder(alone: Terminal) -> Terminal:
    """A folder with a model server and a rule, neither reviewed."""
    alone.configure({"folder_trust": "ask"})
    (alone.root / ".shoulders" / "tools.json").write_text(json.dumps(RULES))
    return alone


def test_a_run_uses_nothing_of_an_untrusted_folder_and_says_so(folder: Terminal) -> None:
    said = folder.says("run", "hi", "--model", "simulated")

    assert BROUGHT in said.err
    assert "--trust-folder" in said.err
    assert "There is no model 'simulated'" in said.err
    assert folder.upstream.requests() == []


def test_what_is_accepted_once_is_not_mentioned_again(folder: Terminal) -> None:
    folder.plays(says("Hello."), says("Hello again."))

    first = folder.says("run", "hi", "--trust-folder", "--quiet")
    second = folder.says("run", "hi", "--quiet")

    assert (first.code, first.out) == (0, "Hello.\n")
    assert first.err.startswith("Trusted the AI settings of ")
    assert (second.out, second.err) == ("Hello again.\n", "")


def test_where_trust_is_forbidden_the_flag_is_refused(folder: Terminal) -> None:
    folder.configure({"folder_trust": "never"})

    said = folder.says("run", "hi")
    refused = folder.says("run", "hi", "--trust-folder")

    assert "Your administrator does not let folders" in said.err
    assert refused.code == 3
    assert "administrator" in refused.err
