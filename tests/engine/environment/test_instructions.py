"""Instruction files: their syntax, their scope, and hostile content."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.engine.environment.instructions import (
    FILE_LIMIT,
    ParsedInstructions,
    ScopedInstructions,
    head_and_tail,
    read_instructions,
)
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceSituation
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import BlobHash
from jupyter_ai_shoulders.wire.messages import MessageContext
from tests.engine.engine_harness import CONTEXT
from tests.engine.environment_harness import (
    FakeEnvironment,
    make_engine_in_environment,
    newest,
    rebases,
    user_texts,
)

OWN = "_instructions.md"


def read(text: str) -> ParsedInstructions:
    return read_instructions(text, OWN)


# reading a file


def test_comments_are_left_out():
    assert read("Use <!-- secret\nplan --> metres.<!-- open").always == "Use  metres."


def test_rules_apply_where_their_front_matter_says():
    found = read(
        "Always.\n\n---\nglobs: [reports/*.ipynb, '*.Rmd']\nlanguages: R\n---\nUse dplyr.\n\n"
        "---\nlanguage: [Python, Julia]\n---\nUse type hints."
    )
    assert found == ParsedInstructions(
        "Always.",
        (
            ScopedInstructions("Use dplyr.", ("reports/*.ipynb", "*.Rmd"), ("r",)),
            ScopedInstructions("Use type hints.", (), ("python", "julia")),
        ),
    )


def test_front_matter_at_the_top_scopes_the_whole_file():
    found = read("---\nglobs: '*.py'\n---\nUse ruff.")
    assert (found.always, found.rules) == ("", (ScopedInstructions("Use ruff.", ("*.py",)),))


def test_front_matter_of_other_assistants_scopes_nothing():
    found = read("---\ndescription: House rules\nalwaysApply: true\nglobs: '*.py'\n---\nUse ruff.")
    assert (found.rules, found.problems) == ((ScopedInstructions("Use ruff.", ("*.py",)),), ())


def test_horizontal_rules_and_code_are_text():
    text = "One.\n\n---\n\nTwo.\n\n```\n---\nglobs: '*'\n---\n```\n\n---\nnote: this\n---\nThree."
    assert read(text) == ParsedInstructions(text)


WRONG = {
    "not yaml": ("globs: [a", "not valid YAML"),
    "unknown key": ("globs: '*'\nglobz: 'x'", "`globz` is not a key"),
    "not a word": ("globs: {a: 1}", "neither a word nor a list"),
    "not words": ("globs: ['a', 3]", "neither a word nor a list"),
    "an object": ("globs: !!python/object/apply:os.system ['true']", "not valid YAML"),
}


@pytest.mark.parametrize(("block", "problem"), WRONG.values(), ids=WRONG.keys())
def test_rule_with_wrong_front_matter_is_left_out_and_said(block: str, problem: str):
    found = read(f"Always.\n\n---\n{block}\n---\nNever used.")
    assert (found.always, found.rules) == ("Always.", ())
    assert found.problems[0].startswith("_instructions.md, line 3: ")
    assert problem in found.problems[0]


def test_yaml_that_multiplies_itself_stays_small():
    bomb = "a: &a ['x','x']\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nglobs: *c"
    found = read(f"---\n{bomb}\n---\nText.")
    assert found.rules == ()
    assert len(found.problems) == 1


SCOPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], list[str], str | None, bool]] = {
    "folder": (("reports/*.ipynb",), (), ["reports/a.ipynb"], None, True),
    "elsewhere": (("reports/*.ipynb",), (), ["a.ipynb"], None, False),
    "any folder": (("*.R",), (), ["deep/down/x.R"], None, True),
    "nothing open": (("*.R",), (), [], None, False),
    "language": ((), ("r",), [], "R", True),
    "other language": ((), ("r",), [], "python", False),
    "no kernel": ((), ("r",), ["a.ipynb"], None, False),
    "both needed": (("*.ipynb",), ("r",), ["a.ipynb"], "python", False),
}


@pytest.mark.parametrize(
    ("globs", "languages", "documents", "language", "applies"), SCOPES.values(), ids=SCOPES.keys()
)
def test_scope_is_matched(
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    documents: list[str],
    language: str | None,
    applies: bool,
):
    assert ScopedInstructions("x", globs, languages).applies(documents, language) is applies


def test_large_file_is_shown_from_both_ends():
    text = "a" * 30_000 + "é" * 10_000
    shown = head_and_tail(text, FILE_LIMIT)
    assert shown.startswith("a" * 15_000 + "\n[… 30000 bytes left out …]\n")
    assert shown.endswith("é" * 2_500)
    assert head_and_tail("short", FILE_LIMIT) == "short"


# in a conversation


async def test_instructions_stand_below_the_prompt_in_order():
    place = FakeEnvironment(
        system="House rules.", instructions={OWN: "Use metres.", "AGENTS.md": "Run the tests."}
    )
    w = make_engine_in_environment(place, "Hi.")
    await w.say()
    system = w.provider.requests[0].system
    order = ["You are the AI colleague", "# This conversation", "House rules."]
    order += [f"from {OWN}\nUse metres.", "from AGENTS.md\nRun the tests."]
    places = [system.index(text) for text in order]
    assert places == sorted(places)
    assert rebases(w) == []


async def test_change_counts_from_the_next_turn_and_is_a_rebase():
    place = FakeEnvironment(instructions={OWN: "Use metres."})
    w = make_engine_in_environment(place, "One.", "Two.", "Three.")
    await w.say()
    place.instructions[OWN] = "Use feet."
    await w.say()
    await w.say()
    systems = [request.system for request in w.provider.requests]
    assert ("metres" in systems[0], "feet" in systems[0]) == (True, False)
    assert ("metres" in systems[1], "feet" in systems[1]) == (False, True)
    assert systems[2] == systems[1]
    assert rebases(w) == ["instructions"]
    (rebase,) = w.of(ev.ContextRebase)
    assert isinstance(rebase.replaced, dict)
    old, new = w.store.blobs.contents, rebase.replaced[OWN]
    assert isinstance(new, list)
    texts = [old[BlobHash(blob)].decode() for blob in new if isinstance(blob, str)]
    assert ["metres" in texts[0], "feet" in texts[1]] == [True, True]


async def test_deleting_a_file_is_harmless_and_takes_it_out():
    place = FakeEnvironment(system="House rules.", instructions={OWN: "Use metres."})
    w = make_engine_in_environment(place, "One.", "Two.", "Three.")
    await w.say()
    place.instructions.clear()
    place.system = None
    await w.say()
    await w.say()
    last = w.provider.requests[-1].system
    assert ("metres" in last, "House rules" in last) == (False, False)
    assert rebases(w) == ["instructions"]
    assert w.exits() == ["final_response"] * 3


async def test_instructions_that_cannot_be_read_do_not_stop_a_turn():
    place = FakeEnvironment(
        instructions={OWN: "Use metres."}, failure=StateUnavailable("The disk is away.")
    )
    w = make_engine_in_environment(place, "One.")
    await w.say()
    assert w.exits() == ["final_response"]


async def test_instructions_that_cannot_be_read_once_still_hold():
    place = FakeEnvironment(instructions={OWN: "Use metres."})
    w = make_engine_in_environment(place, "One.", "Two.", "Three.")
    await w.say()
    place.failure = StateUnavailable("The disk is away.")
    await w.say()
    place.failure = None
    await w.say()
    assert len({request.system for request in w.provider.requests}) == 1
    assert rebases(w) == []
    told = [event.text for event in w.of(ev.Notice) if event.code == "instructions"]
    assert told == ["The instructions and skills could not be read just now."]


async def test_user_is_told_once_what_is_wrong_with_a_file():
    place = FakeEnvironment(
        instructions={OWN: "---\nglobs: [a\n---\nText."}, problems=("skills: no.",)
    )
    w = make_engine_in_environment(place, "One.", "Two.")
    await w.say()
    await w.say()
    told = [event.text for event in w.of(ev.Notice) if event.code == "instructions"]
    assert told[0] == "skills: no."
    assert told[1].startswith("_instructions.md, line 1: This front matter is not valid YAML.")
    assert len(told) == 2


async def test_scoped_rule_comes_with_its_document_and_changes_no_earlier_bytes():
    text = (
        "Always.\n\n---\nglobs: '*.Rmd'\n---\nUse the tidyverse.\n\n---\nlanguages: r\n---\nUse R."
    )
    place = FakeEnvironment(instructions={OWN: text})
    w = make_engine_in_environment(place, "One.", "Two.", "Three.")
    await w.say(context=CONTEXT)
    place.now = WorkspaceSituation(language="r")
    await w.say(context=MessageContext(active_document="x.Rmd"))
    place.now = WorkspaceSituation()
    await w.say(context=CONTEXT)
    first, second, third = w.provider.requests
    assert "Always." in first.system
    assert "tidyverse" not in "\n".join([first.system, *user_texts(first)])
    assert "For *.Rmd (from _instructions.md):\nUse the tidyverse." in newest(second)
    assert "For r (from _instructions.md):\nUse R." in newest(second)
    assert "instructions for what is open: none" in newest(third)
    assert third.messages[:3] == second.messages[:3]
    assert rebases(w) == []
