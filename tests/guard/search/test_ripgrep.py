from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.guard.search.ripgrep import matching_lines


@pytest.mark.parametrize(
    ("pattern", "text", "lines"),
    [
        ("a+b", "xab\nzz\nAAB aab\n\nb\n", [0, 2]),
        ("^$", "x\n\ny\n", [1]),
        ("x", "y\nx\0x\n\ud800 x", [1, 2]),
        ("é", "É\nE\ne\u0301", [0]),
        ("-v", "a -v\nb", [0]),
        ("x", "", []),
    ],
)
def test_lines_that_match_are_numbered(pattern: str, text: str, lines: list[int]):
    assert matching_lines(pattern, text) == lines


@pytest.mark.parametrize("pattern", ["(", "(?<=a)b", "a\0b", "(a{1000}){1000}", r"a\nb"])
def test_what_is_no_pattern_is_said_to_be_none(pattern: str):
    with pytest.raises(InvalidRequest, match=r"pattern|regular expression"):
        matching_lines(pattern, "text")


def test_settings_of_the_user_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = tmp_path / "ripgreprc"
    config.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    assert matching_lines("a", "a\nb") == [0]


def test_machine_without_ripgrep_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    def empty(name: str) -> str:
        return str(tmp_path / name)

    monkeypatch.setattr("sysconfig.get_path", empty)
    with pytest.raises(PolicyRefusal, match="no ripgrep"):
        matching_lines("a", "a")
