"""Says what is wrong with a body in Google's words (reference §4.1); used by ``format``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic_core import ErrorDetails

_PAYLOAD = "Invalid JSON payload received."
_NOT_PASSED_ON = "this proxy cannot pass it on to every provider."
_CAPITAL = re.compile("(?<=[a-z0-9])([A-Z])")


def describe_validation_error(problem: ErrorDetails, _: bytes) -> tuple[str, str]:
    """Return the place of what is wrong, and one sentence about it."""
    place = _path(problem["loc"])
    match problem["type"]:
        case "extra_forbidden":
            *parents, name = problem["loc"]
            where = f" at '{_path(parents)}'" if parents else ""
            return place, f'{_PAYLOAD} Unknown name "{name}"{where}: Cannot find field.'
        case "json_invalid":
            return place, f"{_PAYLOAD} {problem['msg'].removeprefix('Invalid JSON: ')}."
        case "missing":
            return place, f"* GenerateContentRequest.{place}: {place} is not specified"
        case "none_required":
            return place, f"'{place}' is not supported: {_NOT_PASSED_ON}"
        case _:
            return place, f"Invalid value at '{place}': {problem['msg']}."


def _path(location: Sequence[int | str]) -> str:
    """Return a place as Google writes it: ``contents[0].parts[1].inline_data``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{_snake(step)}" for step in location)
    return "".join(steps).removeprefix(".")


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found.group().lower()}", name)
