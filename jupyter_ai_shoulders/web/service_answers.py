"""Reads answers of web services: their status, and their JSON as a model.

Used by ``web.search`` and ``web.papers``. Every failure is an error that says what to do.
"""

from __future__ import annotations

import asyncio
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.core.web_services import ServiceId, web_service
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply

ModelT = TypeVar("ModelT", bound=BaseModel)
_OFF_THE_LOOP = 100_000
"""Bytes of JSON from which parsing takes a thread."""


class VendorModel(BaseModel):
    """The part of an answer that is used; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


async def read_answer(service_id: ServiceId, reply: ServiceReply, model: type[ModelT]) -> ModelT:
    """Return the answer.

    Raises ``InvalidRequest`` (the key or the request is refused), ``Conflict`` (limits, failures
    and unexpected answers; retryable where trying later may help).
    """
    check_status(service_id, reply)
    title = web_service(service_id).title
    try:
        if len(reply.content) < _OFF_THE_LOOP:
            return model.model_validate_json(reply.content)
        return await asyncio.to_thread(model.model_validate_json, reply.content)
    except ValidationError as error:
        raise Conflict(
            f"The answer of {title} is not what its documentation says.",
            code="provider_protocol",
            hint="Check the address of the service, or use another one.",
        ) from error


def check_status(service_id: ServiceId, reply: ServiceReply) -> None:
    """Raise the error of a status that is no success."""
    status, service = reply.status, web_service(service_id)
    if 200 <= status < 300:
        return
    if _is_key_refused(service_id, reply):
        raise InvalidRequest(
            f"{service.title} refused the key.",
            code="authentication",
            hint=f"Check {service.key_variable or 'the key'} in the AI settings, under Web "
            "services.",
        )
    if service_id == "searxng" and status == 403:
        raise InvalidRequest(
            "SearXNG does not answer in JSON.",
            hint="Add json to search.formats in its settings.yml.",
        )
    if status == 402:
        raise InvalidRequest(
            f"{service.title} wants to be paid: the plan of the key is used up.",
            code="billing",
            hint="Check the plan at the service, or use another service.",
        )
    if status == 429:
        raise Conflict(
            f"{service.title} takes no more requests now.",
            code="rate_limited",
            hint="Try again later.",
            retryable=True,
        )
    raise Conflict(
        f"{service.title} answered with status {status}.",
        code="provider_error",
        hint="Try again later, or use another service.",
        retryable=status >= 500,
    )


def _is_key_refused(service_id: ServiceId, reply: ServiceReply) -> bool:
    """Return whether the status means the key; Brave says it with 422."""
    if service_id == "searxng":
        return False
    if service_id == "brave" and reply.status == 422:
        return b"SUBSCRIPTION_TOKEN" in reply.content
    return reply.status in {401, 403}
