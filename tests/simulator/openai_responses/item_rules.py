"""Rules for input items: calls and outputs, reasoning and its order.

Each rule is a function of the items, the model's name and the issued items that returns or raises
``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.simulator.openai_responses.issued_items import IssuedItems, decrypt
from tests.simulator.openai_responses.schema import (
    AnyItem,
    AssistantMessage,
    FunctionCall,
    FunctionCallOutput,
    ItemReference,
    ReasoningItem,
)
from tests.simulator.refusal import RequestRefused

Items = Sequence[AnyItem]
PREFIXES = {"reasoning": "rs", "message": "msg", "function_call": "fc"}


def ids_are_well_formed(items: Items, _model: str, _issued: IssuedItems) -> None:
    """An id says what it is of, and stands once."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        item_id: str | None = getattr(item, "id", None)
        if item_id is None or isinstance(item, ItemReference):
            continue
        prefix = PREFIXES.get(item.type)
        if prefix is not None and not item_id.startswith(prefix):
            raise RequestRefused(
                f"Invalid 'input[{index}].id': '{item_id}'. Expected an ID that begins with "
                f"'{prefix}'.",
                param=f"input[{index}].id",
                code="invalid_value",
            )
        if item_id in seen:
            raise RequestRefused(
                f"Duplicate item found with id {item_id}. Remove duplicate items from your input "
                "and try again.",
                param="input",
            )
        seen.add(item_id)


def references_are_stored(items: Items, _model: str, issued: IssuedItems) -> None:
    """What is referred to, or sent without its content, was stored."""
    for item in items:
        if not isinstance(item, ItemReference | ReasoningItem):
            continue
        whole = isinstance(item, ReasoningItem) and item.encrypted_content
        if not whole and not issued.is_stored(item.id):
            raise RequestRefused(
                f"Item with id '{item.id}' not found. Items are not persisted when `store` is set "
                "to false. Try again with `store` set to true, or remove this item from your "
                "input.",
                status=404,
                param="input",
            )


def reasoning_is_without_content(items: Items, _model: str, _issued: IssuedItems) -> None:
    """Reasoning in plain text is not taken."""
    for index, item in enumerate(items):
        if isinstance(item, ReasoningItem) and item.content:
            raise RequestRefused(
                f"Invalid 'input[{index}].content': array too long. Expected an array with maximum "
                f"length 0, but got an array with length {len(item.content)} instead.",
                param=f"input[{index}].content",
                code="array_above_max_length",
            )


def encrypted_content_is_ours(items: Items, model: str, _issued: IssuedItems) -> None:
    """Encrypted content was made here, for this item and this model."""
    for item in items:
        if not isinstance(item, ReasoningItem) or not item.encrypted_content:
            continue
        sealed = decrypt(item.encrypted_content)
        if sealed is None or sealed.model != model:
            reason = "Encrypted content could not be decrypted or parsed."
        elif sealed.id != item.id:
            reason = "Encrypted content item_id did not match the target item id."
        else:
            continue
        raise RequestRefused(
            f"The encrypted content for item {item.id} could not be verified. Reason: {reason}",
            code="invalid_encrypted_content",
        )


def reasoning_is_followed(items: Items, _model: str, _issued: IssuedItems) -> None:
    """Reasoning stands before what it led to."""
    after: Sequence[AnyItem | None] = [*items[1:], None]
    for item, following in zip(items, after, strict=True):
        if isinstance(item, ReasoningItem) and not is_of_model(following):
            raise RequestRefused(
                f"Item '{item.id}' of type 'reasoning' was provided without its required following "
                "item.",
                param="input",
            )


def is_of_model(item: AnyItem | None) -> bool:
    """Return whether the model made the item."""
    return isinstance(item, ReasoningItem | AssistantMessage | FunctionCall | ItemReference)


def reasoning_comes_along(items: Items, _model: str, issued: IssuedItems) -> None:
    """An item that is sent with its id brings the reasoning it came from, before it."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, ReasoningItem | ItemReference):
            seen.add(item.id)
        if not isinstance(item, AssistantMessage | FunctionCall):
            continue
        needed = issued.reasoning_of(item.id)
        if needed is not None and needed not in seen:
            raise RequestRefused(
                f"Item '{item.id}' of type '{item.type}' was provided without its required "
                f"'reasoning' item: '{needed}'.",
                param="input",
            )


def outputs_have_calls(items: Items, _model: str, _issued: IssuedItems) -> None:
    """An output follows its call, and there is one for each."""
    open_calls: list[str] = []
    for item in items:
        if isinstance(item, FunctionCall):
            open_calls.append(item.call_id)
        if isinstance(item, FunctionCallOutput):
            if item.call_id not in open_calls:
                raise RequestRefused(
                    f"No tool call found for function call output with call_id {item.call_id}.",
                    param="input",
                )
            open_calls.remove(item.call_id)
    if open_calls:
        raise RequestRefused(
            f"No tool output found for function call {open_calls[0]}.", param="input"
        )


ITEM_RULES: tuple[Callable[[Items, str, IssuedItems], None], ...] = (
    ids_are_well_formed,
    references_are_stored,
    reasoning_is_without_content,
    encrypted_content_is_ours,
    reasoning_is_followed,
    reasoning_comes_along,
    outputs_have_calls,
)
