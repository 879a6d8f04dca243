"""Checks the order of turns, and the signatures that calls must return.

Called by ``endpoint`` after ``rules``, so every content has a role and parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulator.google.schema import (
    Content,
    FunctionCall,
    FunctionResponse,
    GenerateContentBody,
)
from tests.simulator.google.signatures import is_signed_by
from tests.simulator.google.validation_errors import invalid


def check_turns(body: GenerateContentBody) -> None:
    """The user speaks first, and calls have their results right after them. Raises ``Refused``."""
    if body.turns[0].role != "user":
        raise invalid("Please ensure that the first content is a user turn.")
    waiting: list[FunctionCall] = []
    for content in body.turns:
        results = responses_of(content)
        if results and not waiting:
            raise invalid(
                "Please ensure that function response turn comes immediately after a function call "
                "turn."
            )
        if waiting:
            check_results(waiting, results)
        waiting = calls_of(content)
    if waiting:
        check_results(waiting, [])


def check_results(calls: list[FunctionCall], results: list[FunctionResponse]) -> None:
    """There is one result per call, in their order."""
    if len(calls) != len(results):
        raise invalid(
            "Please ensure that the number of function response parts is equal to the number of "
            "function call parts of the function call turn."
        )
    for call, result in zip(calls, results, strict=True):
        if call.name != result.name or call.id != result.id:
            raise invalid(
                f"Function response {result.name} ({result.id}) does not match the function call "
                f"{call.name} ({call.id}) of the function call turn."
            )


def check_signatures(body: GenerateContentBody, model: str, *, needed: bool) -> None:
    """Signatures are the model's own; in the running turn each step's first call has one."""
    for content in body.turns:
        for part in content.parts or []:
            if part.thought_signature is not None and not is_signed_by(model, part):
                raise invalid("Invalid/Corrupted thought signature.")
    if not needed:
        return
    for position, content in running_turn(body):
        called = [part for part in content.parts or [] if part.function_call is not None]
        if called and called[0].thought_signature is None:
            assert called[0].function_call is not None
            raise invalid(
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                "degraded model performance. Additional data, function call "
                f"`default_api:{called[0].function_call.name}`, position {position}."
            )


def running_turn(body: GenerateContentBody) -> Iterator[tuple[int, Content]]:
    """Yield what came after the user last said something, with positions from 1."""
    start = 0
    for index, content in enumerate(body.turns):
        if content.role == "user" and not responses_of(content):
            start = index
    yield from list(enumerate(body.turns, start=1))[start:]


def calls_of(content: Content) -> list[FunctionCall]:
    """Return the calls in a content."""
    found = (part.function_call for part in content.parts or [])
    return [call for call in found if call is not None]


def responses_of(content: Content) -> list[FunctionResponse]:
    """Return the results in a content."""
    found = (part.function_response for part in content.parts or [])
    return [response for response in found if response is not None]
