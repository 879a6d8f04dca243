"""Which shell lines are understood, and why others are not."""

import pytest

from jupyter_ai_shoulders.files.undo.shell_commands import (
    ShellCommand,
    UnsupportedCommand,
    parse_shell_line,
)

UNDERSTOOD: dict[str, tuple[ShellCommand, ...]] = {
    "mv a b": (ShellCommand("mv", ("a", "b")),),
    "  mv   a\tb  ": (ShellCommand("mv", ("a", "b")),),
    "mv a b && rm c": (ShellCommand("mv", ("a", "b")), ShellCommand("rm", ("c",))),
    "mkdir -p x/y&&cp a x/y": (
        ShellCommand("mkdir", ("x/y",), parents=True),
        ShellCommand("cp", ("a", "x/y")),
    ),
    "rm -f a b": (ShellCommand("rm", ("a", "b"), force=True),),
    "rm -vf -- -a": (ShellCommand("rm", ("-a",), force=True),),
    "cp -p -v 'a b' \"c d\"": (ShellCommand("cp", ("a b", "c d")),),
    "mv a\\ b it\\'s": (ShellCommand("mv", ("a b", "it's")),),
    "rm 'a*b' \"x\\\"y\" z'q'w": (ShellCommand("rm", ("a*b", 'x"y', "zqw")),),
    "rm 'a && b'": (ShellCommand("rm", ("a && b",)),),
    "rm üß.txt": (ShellCommand("rm", ("üß.txt",)),),
    "ls -la && cat a": (),
    "ls && rm a": (ShellCommand("rm", ("a",)),),
    "\n rm a\n": (ShellCommand("rm", ("a",)),),
    "rm a\x0b": (ShellCommand("rm", ("a\x0b",)),),
    "rm a\u00a0": (ShellCommand("rm", ("a\u00a0",)),),
}
REFUSED = {
    "rm *.txt": "a glob",
    "rm a?": "a glob",
    "rm [ab]": "a glob",
    "rm {a,b}": "braces",
    "cat a | tee b": "a pipe",
    "rm a || rm b": "a pipe",
    "echo x > a": "a redirect",
    "cat < a": "a redirect",
    "rm a; rm b": "without &&",
    "rm a & rm b": "background",
    "rm a\nrm b": "several lines",
    "rm $A": "a variable",
    'rm "$A"': "a variable",
    "rm `ls`": "within it",
    'rm "`ls`"': "within it",
    "rm $(ls)": "a variable",
    "(rm a)": "a subshell",
    "rm ~/a": "home",
    "! rm a": "a negation",
    "rm a # b": "a comment",
    "rm -r a": "directories",
    "rm -rf a": "directories",
    "rm --recursive a": "directories",
    "cp -a a b": "directories",
    "cp -R a b": "directories",
    "mv -n a b": "not understood",
    "mv -t d a": "not understood",
    "mv --target-directory=d a": "not understood",
    "cp -s a b": "not understood",
    "mkdir -m 700 a": "not understood",
    "rm -i a": "not understood",
    "mv a": "too few",
    "rm": "too few",
    "rm ''": "without a name",
    "rm 'a": "quote is open",
    'rm "a': "quote is open",
    "rm a &&": "not complete",
    "&& rm a": "not complete",
    "": "not complete",
    "A=1 rm a": "may change anything",
    "sudo rm a": "may change anything",
    "/bin/rm a": "may change anything",
    "python x.py": "may change anything",
    "find . -delete": "may change anything",
    "sort -o a a": "may change anything",
    "cd d && rm a": "may change anything",
    "rm a && make": "may change anything",
    "rm a \\\n b": "several lines",
    'rm -f "a\\\nb"': "several lines",
    "file -C -m magic": "may change anything",
}


@pytest.mark.parametrize(("line", "commands"), UNDERSTOOD.items(), ids=list(UNDERSTOOD))
def test_simple_lines_are_understood(line: str, commands: tuple[ShellCommand, ...]) -> None:
    assert parse_shell_line(line) == commands


@pytest.mark.parametrize(("line", "why"), REFUSED.items(), ids=list(REFUSED))
def test_other_lines_say_why_they_are_not(line: str, why: str) -> None:
    found = parse_shell_line(line)

    assert isinstance(found, UnsupportedCommand)
    assert why in found.reason
