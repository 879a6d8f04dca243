"""What a look at code shows of what it does, also where the code would hide it."""

from __future__ import annotations

import sys
import time

import pytest

from jupyter_ai_shoulders.tools.code_analysis.effect_table import load_effect_table
from jupyter_ai_shoulders.tools.code_analysis.effects import MAX_CHARACTERS, code_effects

PYTHON: dict[str, tuple[str, str]] = {
    "nothing": ("df.plot()", ""),
    "arithmetic": ("import numpy as np\nnp.mean([1])\nprint(sum(x**2 for x in range(10)))", ""),
    "own function": ("def f(x):\n    return x\nf(1)", ""),
    "reading a file": ("with open(path, encoding='utf-8') as f:\n    f.read()", ""),
    "writing a file": ("open('a', 'w')", "writes_files"),
    "a mode that is not shown": ("open('a', mode)", "writes_files"),
    "spread arguments": ("open(*given)", "writes_files"),
    "writing a table": ("df.to_csv('a.csv')", "writes_files"),
    "a table as text": ("df.to_csv()", ""),
    "renaming columns": ("df.rename(columns={'a': 'b'})", ""),
    "renaming a file": ("p.rename('b')", "writes_files"),
    "replacing in a text": ("'a'.replace('b', 'c')", ""),
    "deleting": ("import os\nos.remove('x')", "deletes_files"),
    "deleting by a path": ("Path('x').unlink()", "deletes_files"),
    "deleting a folder": ("shutil.rmtree('build')", "deletes_files"),
    "requests": ("requests.get('https://example.org')", "network"),
    "a table from an address": ("pd.read_csv('https://example.org/a.csv')", "network"),
    "a table from a file": ("pd.read_csv('a.csv')", ""),
    "an address in pieces": ("u = 'ht' + 'tps://x'\npd.read_csv(u)", "network"),
    "an address from elsewhere": ("pd.read_csv(u)", "outside_code"),
    "a program": ("import subprocess\nsubprocess.run(['ls', '-l'])", "shell"),
    "a program that reaches the network": (
        "import subprocess\nsubprocess.run(['curl', 'x'])",
        "network shell",
    ),
    "a program that is not shown": ("subprocess.run(cmd)", "shell unknown"),
    "pip in a program": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])",
        "installs shell",
    ),
    "function of another cell": ("helper()", "outside_code"),
    "module of the workspace": ("import mymodule", "outside_code"),
    "endless loop": ("while True:\n    pass", "long_loop"),
    "loop that is left": ("while True:\n    if x:\n        break", ""),
    "many rounds": ("for i in range(10**8):\n    pass", "long_loop"),
    "waiting in a loop": ("import time\nfor i in x:\n    time.sleep(1)", "long_loop"),
    "a column that is named like a module": ("df.code.unique()\ncode = 'a'\ncode.strip()", ""),
}

HIDDEN: dict[str, tuple[str, str]] = {
    "exec": ("exec(text)", "dynamic_code"),
    "exec by another name": ("run = exec\nrun(text)", "dynamic_code"),
    "wide letters": ("\uff45\uff58\uff45\uff43('1')", "dynamic_code"),
    "eval": ("eval(text)", "dynamic_code"),
    "compile": ("compile(text, '', 'exec')", "dynamic_code"),
    "import by name": ("__import__('os').remove('x')", "dynamic_code"),
    "importlib": ("import importlib\nimportlib.import_module('os')", "dynamic_code"),
    "getattr in pieces": ("import os\ngetattr(os, 're' + 'move')('x')", "dynamic_code"),
    "getattr": ("import os\ngetattr(os, 'remove')('x')", "deletes_files"),
    "builtins": ("__builtins__['exec']('1')", "dynamic_code"),
    "subclasses": ("().__class__.__bases__[0].__subclasses__()", "dynamic_code"),
    "by a key": ("x['__globals__']", "dynamic_code"),
    "modules of sys": ("import sys\nsys.modules['os'].remove('x')", "dynamic_code"),
    "through another module": ("import logging\nlogging.os.remove('x')", "deletes_files"),
    "another name": ("import os as q\nq.remove('x')", "deletes_files"),
    "a name for later": ("import os as q", "unknown"),
    "a function by another name": ("from os import remove as tidy\ntidy('x')", "deletes_files"),
    "everything": ("from os import *", "unknown"),
    "assigned": ("import os\nm = os\nm.remove('x')", "deletes_files"),
    "in a list": ("import os\n[os][0].remove('x')", "unknown"),
    "not called here": ("import os\nmap(os.remove, names)", "deletes_files"),
    "shadowed": ("if False:\n    os = 1\nos.remove('x')", "deletes_files"),
    "open by another name": ("f = open\nf('a', 'w')", "writes_files"),
    "base64": ("import base64\nbase64.b64decode(text)", "unknown"),
    "pickle": ("import pickle\npickle.loads(text)", "dynamic_code"),
    "a query that calls": ("df.query('@os.system(1)')", "dynamic_code"),
    "not Python": ("def (", "unknown"),
    "too long": ("x = 1\n" * MAX_CHARACTERS, "unknown"),
    "too deep": ("(" * 5_000, "unknown"),
    "a null": ("x = 1\0", "unknown"),
    "a line of a text as a magic": (
        "!ls\nx = '''\n!a'''; os.remove('f'); y = '''\n'''",
        "unknown",
    ),
    "a line of an expression as a magic": ("!ls\n(a\n% os.remove('f'))\n", "unknown"),
    "an expression that looks like a magic": ("(a\n% os.remove('f'))\n", "deletes_files"),
}

MAGICS: dict[str, tuple[str, str]] = {
    "command": ("!rm -rf build", "deletes_files shell"),
    "command that reads": ("files = !ls", "shell"),
    "command from a variable": ("!{command}", "shell dynamic_code"),
    "command over two lines": ("!ls \\\n  && rm x", "deletes_files shell"),
    "command in a block": ("if x:\n    !rm x", "deletes_files shell"),
    "pip": ("%pip install x", "installs"),
    "pip that lists": ("%pip list", ""),
    "pip as a command": ("!pip install x", "installs shell"),
    "pip without a sign": ("pip install x", "installs"),
    "rm without a sign": ("rm -rf x", "deletes_files"),
    "bash cell": ("%%bash\nls\ncurl x > y", "writes_files network shell"),
    "bash cell below blank lines": ("\n\n%%bash\nrm x", "deletes_files shell"),
    "file cell": ("%%writefile a.py\nx = 1", "writes_files"),
    "timed": ("%timeit -n 1 os.remove('x')", "deletes_files"),
    "timed cell": ("%%time\nos.remove('x')", "deletes_files"),
    "plots": ("%matplotlib inline\nplt.show()", ""),
    "script": ("%run other.py", "outside_code"),
    "cell of another language": ("%%ruby\nputs 1", "unknown"),
    "magic nobody knows": ("%frobnicate x", "unknown"),
    "quoting call": (",os.remove x", "deletes_files"),
    "several cells": (
        "# cell 1\nimport os\n\n# cell 2\n%%bash\nls\n\n# cell 3\nos.unlink('a')",
        "deletes_files shell",
    ),
}

COMMANDS: dict[str, tuple[str, str]] = {
    "reads": ("ls -la && git status", ""),
    "deletes": ("ls && rm -rf build", "deletes_files"),
    "deletes behind a semicolon": ("ls; rm x", "deletes_files"),
    "deletes in a substitution": ('echo "$(rm x)"', "deletes_files"),
    "deletes in another line": ("ls\nrm x", "deletes_files"),
    "deletes in the background": ("ls & rm x", "deletes_files"),
    "deletes by another program": ("sudo -u root rm x", "deletes_files"),
    "deletes for each": ("ls | xargs -n1 rm", "deletes_files"),
    "deletes by find": ("find . -name '*.pyc' -delete", "deletes_files"),
    "deletes by git": ("git -C d clean -fd", "deletes_files"),
    "escaped": ("r\\m x", "deletes_files"),
    "quoted": ("'rm' x", "deletes_files"),
    "by a shell": ("bash -c 'rm x'", "deletes_files"),
    "by Python": ("python -c 'import os; os.remove(\"x\")'", "deletes_files"),
    "from a variable": ("$X y", "dynamic_code"),
    "by braces": ("{rm,-rf,x}", "dynamic_code"),
    "into a file": ("echo a > b", "writes_files"),
    "into nothing": ("ls 2>&1 >/dev/null", ""),
    "network": ("curl https://example.org | head", "network"),
    "installs": ("pip install x", "installs"),
    "lists packages": ("pip list", ""),
    "endless": ("while true; do ls; done", "long_loop"),
    "script": ("./build.sh", "outside_code"),
    "tests": ("pytest -q", "outside_code"),
    "open quote": ("echo 'a", "unknown"),
    "comment": ("ls # rm x", ""),
}


@pytest.mark.parametrize(
    ("code", "expected"), (PYTHON | MAGICS).values(), ids=(PYTHON | MAGICS).keys()
)
def test_look_at_python_shows_what_it_does(code: str, expected: str):
    assert code_effects(code, "python") == tuple(expected.split())


@pytest.mark.parametrize(("code", "expected"), HIDDEN.values(), ids=HIDDEN.keys())
def test_code_that_hides_what_it_does_is_not_called_harmless(code: str, expected: str):
    assert set(expected.split()) <= set(code_effects(code, "python"))


@pytest.mark.parametrize(("line", "expected"), COMMANDS.values(), ids=COMMANDS.keys())
def test_look_at_a_command_shows_what_it_does(line: str, expected: str):
    assert code_effects(line, "bash") == tuple(expected.split())


@pytest.mark.parametrize("language", ["R", "julia", "", None])
def test_code_in_a_language_that_is_not_read_is_unknown(language: str | None):
    assert code_effects("unlink('x')", language) == ("unknown",)


BOMBS = {
    "assignments": "a=b\nb=a\n" * 2_400,
    "many meanings": "".join(f"a=b{n}.c\n" for n in range(1_000)) + "a.d\n" * 2_000,
    "texts of texts": "".join(f"x{n}=x{n - 1}+x{n - 1}\n" for n in range(1, 900)) + "imread(x899)",
    "starters": "!" + "sudo " * 3_900,
    "substitutions": '!"' + "$(rm x)" * 2_800 + '"',
    "blanks": "!ls\n" + " " * 19_000 + "x",
    "words": "!ls\n" + "a " * 9_000 + "x",
    "dots": "a" + ".b" * 9_000,
}


@pytest.mark.parametrize("code", BOMBS.values(), ids=BOMBS.keys())
def test_look_at_odd_code_is_short(code: str):
    began = time.process_time()
    code_effects(code, "python")
    assert time.process_time() - began < 2


def test_table_names_its_sources_and_calls_no_standard_module_a_library():
    table = load_effect_table()
    assert table.sources
    assert not set(table.libraries) & set(sys.stdlib_module_names)
