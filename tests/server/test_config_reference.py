"""The configuration reference matches the traits."""

from pathlib import Path

from jupyter_ai_shoulders.host.config import Shoulders
from jupyter_ai_shoulders.server.config_reference import reference

FILE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_every_trait_has_a_section_with_its_default_and_what_it_does() -> None:
    text = reference()
    sections = text.split("\n## ")[1:]
    assert {section.partition("`\n")[0].strip("`") for section in sections} == set(
        Shoulders.class_own_traits(config=True)
    )
    assert all("default: `" in section and len(section) > 60 for section in sections)


def test_the_file_is_what_make_gen_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == reference(), "run make gen"
