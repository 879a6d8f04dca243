"""Which command lines rules that allow, and grants, cover."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.command_rules import (
    ShellWord,
    allow_rule_covers,
    command_reach,
    exactness_note,
    is_plain_git,
    parse_plain_command,
)
from jupyter_ai_shoulders.tools.permissions.file_format import parse_permissions
from jupyter_ai_shoulders.tools.permissions.grants import (
    Grant,
    grant_covers,
    grant_for,
    narrowest_rule,
)
from jupyter_ai_shoulders.tools.permissions.programs import ReadOnlyCommand, load_program_table
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import CommandReach

READING = load_program_table().reading
EXACT = [name for row in load_program_table().exact for name in row.programs]


# what "always" stores

STORED: dict[str, tuple[str, str, bool]] = {
    "code of python": ("python3 -c 'print(1)'", "python3 -c 'print(1)'", True),
    "code of bash": ('bash -c "echo a; rm b"', 'bash -c "echo a; rm b"', True),
    "script of sh": (" sh x.sh\n", "sh x.sh", True),
    "rm": ("rm -r build", "rm -r build", True),
    "curl": ("curl https://a.example", "curl https://a.example", True),
    "find -exec": ("find . -exec rm '{}' +", "find . -exec rm '{}' +", True),
    "xargs": ("xargs -a names rm", "xargs -a names rm", True),
    "pytest": ("pytest -q tests", "pytest -q tests", True),
    "unknown program": ("frobnicate --all", "frobnicate --all", True),
    "git diff": ("git diff HEAD~1 -- a.py", "git diff", False),
    "git diff to a file": ("git diff --output=x", "git diff --output=x", True),
    "git push": ("git push origin", "git push origin", True),
    "git alone": ("git", "git", True),
    "settings of git": ("git -c core.pager=x diff", "git -c core.pager=x diff", True),
    "environment": ("GIT_EXTERNAL_DIFF=x git diff", "GIT_EXTERNAL_DIFF=x git diff", True),
    "by a relative path": ("./ls -l", "./ls -l", True),
    "by a path": ("/tmp/ls -l", "/tmp/ls -l", True),
    "version": ("python3.12 x.py", "python3.12 x.py", True),
    "by env": ("env ls", "env ls", True),
    "sort to a file": ("sort -o b a", "sort -o b a", True),
    "sort": ("sort -n a", "sort", False),
    "names that may be options": ("ls *", "ls *", True),
    "names in a folder": ("ls ./*", "ls", False),
    "names that begin plainly": ("ls data*", "ls", False),
    "date": ("date +%F", "date", False),
    "setting the date": ("date 01010000", "date 01010000", True),
    "branches": ("git branch -a", "git branch", False),
    "a new branch": ("git branch new", "git branch new", True),
    "uniq, which writes its second file": ("uniq a b", "uniq a b", True),
}


@pytest.mark.parametrize(("line", "command", "exact"), STORED.values(), ids=STORED.keys())
def test_stored_rule_is_the_line_unless_the_program_only_reads(
    line: str, command: str, exact: bool
):
    reach = command_reach(line)
    stored = narrowest_rule("run_command", Target(command=line))
    granted = grant_for("session", "run_command", {"command": line})

    assert reach == CommandReach(command=command, exact=exact)
    assert stored.match == {"command": command}
    assert granted == Grant("run_command", command=command)
    assert granted is not None
    assert allow_rule_covers(command, line)
    assert grant_covers(granted, Target(command=line))


# what a rule covers

COVERED: dict[str, tuple[str, str, bool]] = {
    "old prefix of an interpreter": ("python3", "python3 -c 'print(1)'", False),
    "the same line": ("python3", "python3", True),
    "other code": ("python3 -c 'print(1)'", "python3 -c 'print(2)'", False),
    "more arguments": ("python3 x.py", "python3 x.py --all", False),
    "other quotes": ("python3 -c 'print(1)'", 'python3  -c "print(1)"', True),
    "other arguments of a reader": ("git diff", "git diff --stat HEAD", True),
    "rule with an option": ("git diff --stat", "git diff --stat a.py", True),
    "other option": ("git diff --stat", "git diff a.py", False),
    "a program alone says nothing of its subcommands": ("git", "git diff", False),
    "longer word": ("git diff", "git difftool", False),
    "quoted subcommand": ("git diff", "git 'diff'", True),
    "refused option": ("git diff", "git diff --output=x", False),
    "refused option as two words": ("git diff", "git diff --output x", False),
    "shortened option": ("git diff", "git diff --outp=x", False),
    "quoted option": ("git diff", "git diff '--output'=x", False),
    "similar option": ("git diff", "git diff --output-indicator-new=x", True),
    "refused short option": ("git grep", "git grep -Oless x", False),
    "among short options": ("sort", "sort -no b a", False),
    "refused after --": ("sort", "sort -- -o", False),
    "external diff": ("git diff", "git diff --ext-diff", False),
    "outside of the repository": ("git diff", "git diff --no-index a b", False),
    "program of rg": ("rg", "rg --pre cat x", False),
    "options of git": ("git diff", "git -c core.pager=x diff", False),
    "assignment": ("git diff", "GIT_EXTERNAL_DIFF=x git diff", False),
    "other path": ("ls", "./ls", False),
    "other case": ("ls", "LS", False),
    "glob of options": ("ls", "ls *", False),
    "glob behind a dash": ("ls", "ls -*", False),
    "glob behind quotes": ("ls", "ls ''*", False),
    "quoted star": ("ls", "ls '*'", True),
    "quoted is not unquoted": ("rm '*'", "rm *", False),
    "unquoted is not quoted": ("rm ~/x", "rm '~/x'", False),
    "quoted assignment": ("'A=1' x", "A=1 x", False),
    "set the date": ("date", "date --set=now", False),
    "date by operand": ("date", "date 01010000", False),
    "a new branch": ("git branch", "git branch new", False),
    "pipe": ("git log", "git log | sh", False),
    "chain": ("ls", "ls && rm -r x", False),
    "redirect": ("ls", "ls > x", False),
    "substitution": ("git log", "git log $(rm x)", False),
    "substitution in quotes": ("git log", 'git log "$(rm x)"', False),
    "variable": ("ls", "ls $HOME", False),
    "braces": ("ls", "ls {-a,b}", False),
    "escape": ("ls", "ls \\-a", False),
    "second line": ("git log", "git log\nrm x", False),
    "carriage return": ("git log", "git log\rrm x", False),
    "odd space": ("ls", "ls\u00a0-a", False),
    "background": ("ls", "ls &", False),
    "open quote": ("ls", "ls 'a", False),
    "comment": ("rm a '#' b", "rm a # b", False),
    "word with a hash": ("ls", "ls a#b", True),
    "quoted syntax": ("grep", "grep -E 'a|b' x", True),
    "end of line": ("git diff", " git diff\n", True),
    "nothing": ("ls", " ", False),
    "empty rule": (" ", "ls", False),
    "rule that is a chain": ("ls && rm x", "ls && rm x", False),
}


@pytest.mark.parametrize(("rule", "line", "expected"), COVERED.values(), ids=COVERED.keys())
def test_rule_that_allows_covers_one_plain_command(rule: str, line: str, expected: bool):
    assert allow_rule_covers(rule, line) is expected
    assert grant_covers(Grant("t", command=rule), Target(command=line)) is expected


@pytest.mark.parametrize(
    "line",
    [
        *("ls | head", "cd a && make", "echo $HOME", "ls 'a", " ", "a\nb"),
        *("ls && rm -rf build", "ls; rm -rf build", "ls | xargs rm", "ls || rm -rf build"),
        *("ls $(rm -rf build)", "ls `rm -rf build`", 'ls "$(rm -rf build)"', "ls\nrm -rf build"),
        *("ls & rm -rf build", "ls &", "ls > build", "ls <(rm -rf build)", "ls\r\nrm -rf build"),
    ],
)
def test_no_rule_is_made_of_a_line_that_is_not_one_plain_command(line: str):
    assert command_reach(line) is None
    assert grant_for("session", "run_command", {"command": line}) is None


WORDS: dict[str, tuple[str, tuple[ShellWord, ...]]] = {
    "quotes": ("a 'b c'\"d\"e", (ShellWord("a"), ShellWord("b cde"))),
    "empty": ("a ''", (ShellWord("a"), ShellWord(""))),
    "glob": ("a*'*'", (ShellWord("a**", (1,)),)),
    "assignment": ("A=1 B='='", (ShellWord("A=1", (1,)), ShellWord("B==", (1,)))),
    "an option is none": ("--a=b", (ShellWord("--a=b"),)),
    "line break in quotes": ("a 'b\nc'", (ShellWord("a"), ShellWord("b\nc"))),
}


@pytest.mark.parametrize(("line", "words"), WORDS.values(), ids=WORDS.keys())
def test_words_are_what_the_shell_makes_of_them(line: str, words: tuple[ShellWord, ...]):
    assert parse_plain_command(line) == words


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(TEXTS, max_size=4))
def test_quoted_words_are_read_as_shlex_reads_them(texts: list[str]):
    line = shlex.join(["x", *texts])
    words = parse_plain_command(line)
    assert words is not None
    assert [word.text for word in words] == shlex.split(line)


@given(st.text(max_size=30))
def test_what_is_plain_has_the_words_that_shlex_finds(line: str):
    words = parse_plain_command(line)
    if words is not None:
        assert [word.text for word in words] == shlex.split(line.strip(" \t\n"))


@given(st.sampled_from(EXACT), st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_rule_of_an_exact_program_covers_its_line_and_no_other(
    program: str, arguments: list[str], others: list[str]
):
    assume(arguments != others)
    line, other = shlex.join([program, *arguments]), shlex.join([program, *others])
    stored = narrowest_rule("run_command", Target(command=line)).match

    assert stored is not None
    assert allow_rule_covers(str(stored["command"]), line)
    assert not allow_rule_covers(str(stored["command"]), other)
    assert not allow_rule_covers(program, line) or not arguments


@st.composite
def refused_options(draw: st.DrawFn) -> tuple[ReadOnlyCommand, str]:
    """A program that reads, and one of its refused options in a spelling that acts."""
    entry = draw(st.sampled_from([entry for entry in READING if entry.refused]))
    option = draw(st.sampled_from(entry.refused))
    if not option.startswith("--"):
        return entry, f"-{draw(st.sampled_from(['', 'n', 'uv']))}{option[1:]}{draw(TEXTS)}"
    cut = draw(st.integers(3, len(option)))
    return entry, option[:cut] + draw(st.sampled_from(["", "=x", "="]))


@given(refused_options(), st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_rule_of_a_program_that_reads_never_covers_a_refused_option(
    refused: tuple[ReadOnlyCommand, str], before: list[str], after: list[str]
):
    entry, option = refused
    line = shlex.join([*entry.words, *before, option, *after])

    assert not allow_rule_covers(entry.command, line)
    stored = narrowest_rule("run_command", Target(command=line)).match
    assert stored == {"command": line}


# the table


def test_table_names_each_program_once_and_its_sources():
    table = load_program_table()
    names = [entry.command for entry in READING] + EXACT
    assert len(names) == len(set(names))
    assert table.sources
    assert all(option.startswith("-") for entry in READING for option in entry.refused)
    long = [o for entry in READING for o in entry.refused if not o.startswith("--")]
    assert all(len(option) == 2 for option in long)


# notes and rules of earlier versions

NOTES: dict[str, tuple[str, str | None]] = {
    "reader": ("git diff", None),
    "interpreter": ("python3", "Matches only this exact command: python3 runs code."),
    "version and path": (
        "/usr/bin/python3.12 -V",
        "Matches only this exact command: python3.12 runs code.",
    ),
    "assignment": ("A=1 bash x.sh", "Matches only this exact command: bash runs other commands."),
    "git": ("git", "Matches only this exact command: git starts other programs."),
    "refused option": (
        "git diff --output=x",
        "Matches only this exact command: git starts other programs.",
    ),
    "unknown": ("frobnicate", "Matches only this exact command."),
    "chain": ("a && b", "Matches no command: a rule that allows covers single plain commands."),
}


@pytest.mark.parametrize(("rule", "note"), NOTES.values(), ids=NOTES.keys())
def test_rule_that_covers_one_line_says_so(rule: str, note: str | None):
    assert exactness_note(rule) == note


def listed(action: str, command: str, **more: JsonObject) -> str:
    entry = {"action": action, "tool": "run_command", "match": {"command": command}, **more}
    return json.dumps({"version": 1, "rules": [entry]})


def judged(rules: Rules, command: str) -> Allow | Ask | Deny:
    subject = CallSubject("", None, Target(command=command), sandboxed=True)
    question = PermissionRequest("run_command", "execute", False, subject)
    return decide(question, rules, (), mode="ask", interactive=True)


def test_stored_prefix_of_an_earlier_version_stays_valid_and_covers_one_line():
    examples: JsonObject = {"match": ["python3 x.py"], "not_match": []}
    read = parse_permissions(listed("allow", "python3", examples=examples))

    assert read.problems == ()
    assert [(rule.problem, rule.note) for rule in read.listing] == [
        (None, "Matches only this exact command: python3 runs code.")
    ]
    assert isinstance(judged(read.rules, "python3 x.py"), Ask)
    assert isinstance(judged(read.rules, "python3"), Allow)


def test_examples_are_checked_as_rules_match():
    wrong: JsonObject = {"match": ["git log"], "not_match": []}
    also: JsonObject = {"match": [], "not_match": ["git diff HEAD"]}
    for examples in (wrong, also):
        assert parse_permissions(listed("allow", "git diff", examples=examples)).problems
    right: JsonObject = {"match": ["git diff HEAD"], "not_match": ["git diff --output=x"]}
    assert parse_permissions(listed("allow", "git diff", examples=right)).problems == ()


@pytest.mark.parametrize("action", ["ask", "deny"])
def test_rules_that_restrict_have_no_note_and_match_by_prefix(action: str):
    read = parse_permissions(listed(action, "python3"))

    assert [rule.note for rule in read.listing] == [None]
    assert not isinstance(judged(read.rules, "ls; python3 x.py"), Allow)
    assert isinstance(judged(read.rules, "python3 x.py"), Deny if action == "deny" else Ask)


@dataclass
class MemoryFile:
    """``PermissionsFile`` in a string."""

    text: str | None = field(default=None)

    def read(self) -> str | None:
        return self.text

    def write(self, text: str) -> None:
        self.text = text


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c 'print(\"a\\n\")'",
        "python3 -c \"print('ä \u202e')\"",
        "bash -c 'cd x && make\n  ls *'",
        "rm 'a  b' ''",
        "grep -o x a.txt",
    ],
)
def test_stored_line_is_covered_after_the_file_is_read_again(line: str):
    file = MemoryFile()
    PermissionStore(file).add(narrowest_rule("run_command", Target(command=line)))

    assert isinstance(judged(PermissionStore(file).rules, line), Allow)
    assert isinstance(judged(PermissionStore(file).rules, f"{line} -x; ls"), Ask)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git add -A && git commit -m 'x; y'", True),
        ("git commit -m 'x; y && z'", True),
        ("git add -A && git commit -m x; git status", True),
        ("git checkout -b topic", True),
        ("git config core.fsmonitor x", False),
        ("git -c core.fsmonitor=x status", False),
        ("git submodule update", False),
        ("git worktree add ../x", False),
        ("git add . && python evil.py", False),
        ("git add . | cat", False),
        ("GIT_DIR=x git add .", False),
        ("", False),
    ],
)
def test_lines_that_may_write_in_a_repository_are_plain_git(line: str, expected: bool):
    assert is_plain_git(line) is expected
