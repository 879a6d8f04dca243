"""Skills: parsing, the list for the prompt, and the skills a message names.

Pure, except for reading the shipped skill; files are read behind the ``Environment`` port. Used by
``engine.request`` and ``host.context.environment``. See docs/design/context-and-prompts.md#skills.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, cast

from jupyter_ai_shoulders.core.json_limits import json_excess
from jupyter_ai_shoulders.guard.config_files import MOST_VALUES

MANIFEST = ".shoulders/skills/skills.json"
FOLDERS = (".shoulders/skills", ".agents/skills", ".project/skills")
SHIPPED = "shoulders-meta"
SHIPPED_PATH = "(part of this extension)"

_HEADING = """# Skills
When a task fits one of these, follow the text of the skill. It comes with a message that names \
the skill (`/name`); else read the file at its path, if you have a tool for it. Scripts of skills \
run through the normal tools and permissions."""

SKILL_LIMIT = 20_000
"""Bytes of a ``SKILL.md`` that enter a conversation."""
MOST_SKILLS = 40
_DESCRIPTION = 300
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
_FRONT_LIMIT = 4_000
"""Characters searched for front matter, since YAML is slow to parse."""
_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: when to use it, and the workspace path of its text."""

    name: str
    description: str
    path: str
    reviewed: bool = True
    """Whether the user trusts it; otherwise it is named and shown as data."""


@dataclass(frozen=True, slots=True)
class SkillText:
    """The text of a skill that a message names."""

    text: str
    reviewed: bool = True


@dataclass(frozen=True, slots=True)
class SkillList:
    """The skills found, and problems in reading them."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()


def read_manifest(text: str) -> SkillList:
    """Return the skills in ``skills.json``: objects with name, description and path."""
    excess = json_excess(text.encode("utf-8", "replace"), MOST_VALUES)
    if excess is not None:
        return SkillList(problems=(f"{MANIFEST} has {excess}; its skills are not used.",))
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        return SkillList(problems=(f"{MANIFEST} is not valid JSON; its skills are not used.",))
    found = cast("dict[str, Any]", given).get("skills") if isinstance(given, dict) else given
    if not isinstance(found, list):
        return SkillList(problems=(f"{MANIFEST} holds no list of skills.",))
    skills: list[Skill] = []
    problems: list[str] = []
    for number, item in enumerate(cast("list[Any]", found), start=1):
        skill = _listed(item)
        if skill is None:
            problems.append(
                f"{MANIFEST}, skill {number}: it needs a name (letters, digits, dashes), a"
                " description and a path."
            )
        else:
            skills.append(skill)
    return SkillList(tuple(skills), tuple(problems))


def parse_skill(folder: str, text: str) -> Skill | None:
    """Return the skill of a ``SKILL.md`` in ``folder``, by its front matter."""
    name = folder.rpartition("/")[2]
    if not _NAME.match(name):
        return None
    front = _front_matter(text)
    described = front.get("description")
    description = described if isinstance(described, str) else _first_line(text)
    return Skill(name, _flat(description), f"{folder}/SKILL.md")


@cache
def shipped_skill() -> Skill:
    """Return the shipped skill."""
    front = _front_matter(shipped_text())
    return Skill(SHIPPED, _flat(str(front.get("description", ""))), SHIPPED_PATH)


def shipped_text() -> str:
    """Return the text of the shipped skill."""
    folder = resources.files("jupyter_ai_shoulders.engine") / "prompts" / "skills" / SHIPPED
    return (folder / "SKILL.md").read_text("utf-8")


def unique_skills(skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Return the first skill of each name, up to a limit."""
    named: dict[str, Skill] = {}
    for skill in skills:
        named.setdefault(skill.name.lower(), skill)
    return tuple(named.values())[:MOST_SKILLS]


def manifest_text(skills: Iterable[Skill]) -> str:
    """Return the list of skills for the system prompt; empty without skills."""
    lines = [_line(skill) for skill in skills if skill.reviewed]
    return "\n".join([_HEADING, *lines]) if lines else ""


def unreviewed_manifest(skills: Iterable[Skill]) -> str:
    """Return the list of skills that the user has not reviewed."""
    return "\n".join(_line(skill) for skill in skills if not skill.reviewed)


def _line(skill: Skill) -> str:
    return f"- {skill.name}: {skill.description} · {skill.path}"


def find_named_skills(text: str, skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Return the skills a message names, as ``/name`` or by the exact name as a whole word."""
    lowered = text.lower()  # a substring search first is a hundred times cheaper in long messages
    return tuple(
        skill
        for skill in skills
        if skill.name.lower() in lowered
        and re.search(rf"(?<![\w./-])/?{re.escape(skill.name)}(?![\w/-]|\.\w)", text, re.IGNORECASE)
    )


def _listed(item: object) -> Skill | None:
    if not isinstance(item, dict):
        return None
    values = cast("dict[str, Any]", item)
    name, description, path = (values.get(key) for key in ("name", "description", "path"))
    if not all(isinstance(value, str) and value.strip() for value in (name, description, path)):
        return None
    if not _NAME.match(str(name)):
        return None
    where = str(path)
    where = where if "/" in where.strip("/") and where.startswith(".") else f"{FOLDERS[0]}/{where}"
    if not where.endswith(".md"):
        where = where.rstrip("/") + "/SKILL.md"
    return Skill(str(name), _flat(str(description)), where)


def _front_matter(text: str) -> dict[str, Any]:
    import yaml

    found = _FRONT.match(text[:_FRONT_LIMIT])
    if found is None:
        return {}
    try:
        given = yaml.safe_load(found[1])
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}  # then its first line describes it
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def _first_line(text: str) -> str:
    body = _FRONT.sub("", text[:_FRONT_LIMIT])
    return next((line.strip("# ").strip() for line in body.splitlines() if line.strip("# ")), "")


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _DESCRIPTION else flat[: _DESCRIPTION - 1] + "…"
