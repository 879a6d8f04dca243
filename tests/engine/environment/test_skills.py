"""Skills: the list is always in the prompt, a text only when it is named."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.engine.environment.skills import (
    SHIPPED,
    SKILL_LIMIT,
    Skill,
    find_named_skills,
    manifest_text,
    parse_skill,
    read_manifest,
    shipped_skill,
    shipped_text,
    unique_skills,
)
from jupyter_ai_shoulders.wire import events as ev
from tests.engine.environment_harness import (
    FakeEnvironment,
    make_engine_in_environment,
    newest,
    rebases,
)

PLOTS = Skill("house-plots", "Making plots for reports.", ".shoulders/skills/house-plots/SKILL.md")


def test_manifest_lists_name_description_and_path():
    text = (
        '{"skills": [{"name": "a", "description": "When\\n a.", "path": "a"},'
        ' {"name": "b", "description": "When b.", "path": ".agents/skills/b/SKILL.md"}]}'
    )
    assert read_manifest(text).skills == (
        Skill("a", "When a.", ".shoulders/skills/a/SKILL.md"),
        Skill("b", "When b.", ".agents/skills/b/SKILL.md"),
    )


WRONG = {
    "not json": ("{", "not valid JSON"),
    "too many": ("[" * 100_000, "has more than 10,000 values"),
    "too deep": ("[" * 1_000, "has more than 100 levels of nesting"),
    "no list": ('{"skills": 3}', "holds no list"),
    "no name": ('[{"description": "x", "path": "x"}]', "skill 1"),
    "a name that is none": ('[{"name": "../x", "description": "x", "path": "x"}]', "skill 1"),
    "no object": ('["x"]', "skill 1"),
}


@pytest.mark.parametrize(("text", "problem"), WRONG.values(), ids=WRONG.keys())
def test_wrong_manifest_is_said(text: str, problem: str):
    found = read_manifest(text)
    assert found.skills == ()
    assert problem in found.problems[0]


def test_folder_with_a_skill_is_found_by_its_front_matter():
    text = "---\nname: other\ndescription: Use it for plots.\n---\n# Plots\nText."
    assert parse_skill(".agents/skills/plots", text) == Skill(
        "plots", "Use it for plots.", ".agents/skills/plots/SKILL.md"
    )
    assert parse_skill(".agents/skills/plots", "# Plots\nText.") == Skill(
        "plots", "Plots", ".agents/skills/plots/SKILL.md"
    )
    assert parse_skill(".agents/skills/bad name", text) is None


def test_first_skill_of_a_name_counts():
    other = Skill("House-Plots", "Other.", "x")
    assert unique_skills([PLOTS, other]) == (PLOTS,)


def test_shipped_skill_tells_what_there_is():
    skill = shipped_skill()
    assert skill.name == SHIPPED
    assert skill.description.startswith("What this AI colleague")
    assert "`_instructions.md`" in shipped_text()


NAMED = {
    "slash": ("Please /house-plots this", True),
    "name": ("Use house-plots.", True),
    "other case": ("HOUSE-PLOTS!", True),
    "part of a word": ("my-house-plots", False),
    "a path": ("see docs/house-plots/readme", False),
    "a file": ("open house-plots.ipynb", False),
    "not named": ("plot the house", False),
}


@pytest.mark.parametrize(("text", "named"), NAMED.values(), ids=NAMED.keys())
def test_skill_is_named_by_its_exact_name(text: str, named: bool):
    assert find_named_skills(text, [PLOTS]) == ((PLOTS,) if named else ())


async def test_manifest_is_in_the_prompt_and_the_text_comes_with_its_name():
    place = FakeEnvironment(
        skills=(PLOTS,), skill_texts={"house-plots": "Use blue.\n" + "x" * SKILL_LIMIT}
    )
    w = make_engine_in_environment(place, "One.", "Two.", "Three.")
    await w.say("Plot it")
    await w.say("Now /house-plots")
    await w.say("More")
    first, second, third = w.provider.requests
    line = "- house-plots: Making plots for reports. · .shoulders/skills/house-plots/SKILL.md"
    assert line in first.system
    assert "Use blue." not in newest(first)
    assert '<skill name="house-plots">\nUse blue.' in newest(second)
    assert "bytes left out" in newest(second)
    assert "Use blue." not in newest(third)
    assert third.messages[:3] == second.messages[:3]
    added = [(event.role, event.source) for event in w.of(ev.ContextAdd) if event.role == "skill"]
    assert added == [("skill", "manifest"), ("skill", "house-plots")]
    assert rebases(w) == []


async def test_skill_without_a_text_is_passed_over():
    w = make_engine_in_environment(FakeEnvironment(skills=(PLOTS,)), "One.")
    await w.say("/house-plots")
    assert w.exits() == ["final_response"]
    assert "<skill" not in newest(w.provider.requests[0])


async def test_new_skill_is_a_rebase():
    place = FakeEnvironment()
    w = make_engine_in_environment(place, "One.", "Two.")
    await w.say()
    place.skills = (PLOTS,)
    await w.say()
    assert rebases(w) == ["instructions"]
    assert manifest_text([PLOTS]) in w.provider.requests[1].system
