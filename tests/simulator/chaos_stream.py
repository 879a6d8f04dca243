"""Writes the events of a reply to the socket as a ``Delivery`` prescribes: cut, slow or broken.

The formats make the events; this module knows server-sent events and sockets, but no vendor. Called
by ``server``.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.simulator.http import LAST_CHUNK, HttpConnection, http_chunk
from tests.simulator.script import Delivery

Item = TypeVar("Item")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event. ``delta``: it stands for a token. ``terminal``: the stream is whole with it.

    ``bare``: its data stands in the stream as it is, as lines of JSON do.
    """

    data: str
    name: str | None = None
    delta: bool = False
    terminal: bool = False
    bare: bool = False


def event_bytes(event: SseEvent, delivery: Delivery) -> bytes:
    """Return the event's bytes in the stream."""
    if event.bare:
        return delivery.line_end.join([*event.data.split("\n"), ""]).encode()
    colon = ": " if delivery.space_after_colon else ":"
    lines = [] if event.name is None else [f"event{colon}{event.name}"]
    lines += [f"data{colon}{line}" for line in event.data.split("\n")]
    text = delivery.line_end.join([*lines, "", ""])
    comment = f": still here{delivery.line_end * 2}" if delivery.comments else ""
    return (comment + text).encode()


def interleave(events: Sequence[Item], extra: Iterable[Item], before_first: bool) -> list[Item]:
    """Return the events with the extra ones before each (before the first only when asked)."""
    additions = tuple(extra)
    mixed = [(additions if before_first or index else ()) for index in range(len(events))]
    return [event for index, main in enumerate(events) for event in (*mixed[index], main)]


@dataclass(frozen=True, slots=True)
class StreamFrame:
    """Bytes of one event and how long to wait before them, in seconds."""

    data: bytes
    pause: float


def frames(events: Sequence[SseEvent], delivery: Delivery) -> list[StreamFrame]:
    """Return what is sent before the ending, event by event."""
    kept = events[: ending_index(events, delivery)]
    sent = [StreamFrame(event_bytes(event, delivery), pause(event, delivery)) for event in kept]
    if sent and delivery.byte_order_mark:
        sent[0] = StreamFrame(BYTE_ORDER_MARK + sent[0].data, sent[0].pause)
    if sent and not delivery.final_blank_line:
        sent[-1] = StreamFrame(sent[-1].data.rstrip(b"\r\n"), sent[-1].pause)
    return sent


def ending_index(events: Sequence[SseEvent], delivery: Delivery) -> int:
    """Return how many events go out before the ending."""
    if delivery.ending == "normal":
        return len(events)
    if delivery.ending_after is not None:
        return delivery.ending_after
    return next((index for index, event in enumerate(events) if event.terminal), len(events))


def pause(event: SseEvent, delivery: Delivery) -> float:
    """Return the seconds to wait before an event."""
    if event.delta and delivery.tokens_per_second is not None:
        return delivery.event_delay + 1 / delivery.tokens_per_second
    return delivery.event_delay


def pieces(data: bytes, sizes: Iterator[int] | None) -> Iterator[bytes]:
    """Cut bytes into pieces of the next sizes."""
    if sizes is None:
        yield data
        return
    position = 0
    while position < len(data):
        size = next(sizes)
        yield data[position : position + size]
        position += size


def chunk_sizes(delivery: Delivery) -> Iterator[int] | None:
    """Return the sizes to cut by, without end; None leaves events whole."""
    match delivery.chunk:
        case None:
            return None
        case int():
            return itertools.repeat(delivery.chunk)
        case _:
            return itertools.cycle(delivery.chunk)


Outcome = Literal["sent", "closed", "client-left"]


async def deliver(
    connection: HttpConnection, events: Sequence[SseEvent], delivery: Delivery
) -> Outcome:
    """Send the body of a stream in chunked transfer coding.

    Returns whether the connection can be used again (``sent``), was ended on purpose
    (``closed``), or the client went away first.
    """
    sizes = chunk_sizes(delivery)
    if not await waited(connection, delivery.first_byte_delay):
        return "client-left"
    for frame in joined(frames(events, delivery), sizes is not None):
        if not await waited(connection, frame.pause):
            return "client-left"
        for piece in pieces(frame.data, sizes):
            await connection.send(http_chunk(piece))
    return await end(connection, delivery)


def joined(sent: Sequence[StreamFrame], cut: bool) -> Sequence[StreamFrame]:
    """Return frames to cut: without pauses all bytes are one run, so that cuts cross events."""
    if not cut or any(frame.pause for frame in sent):
        return sent
    return [StreamFrame(b"".join(frame.data for frame in sent), 0.0)]


async def end(connection: HttpConnection, delivery: Delivery) -> Outcome:
    """Finish the body as the delivery says."""
    match delivery.ending:
        case "normal" | "no_terminator":
            await connection.send(LAST_CHUNK)
            return "sent"
        case "cut":
            return "closed"
        case "reset":
            await asyncio.sleep(0.02)  # what was written must leave before the reset drops it
            connection.reset()
            return "closed"
        case "stall":
            await connection.gone.wait()
            return "client-left"


async def waited(connection: HttpConnection, seconds: float) -> bool:
    """Wait; return False as soon as the client has left."""
    if seconds <= 0:
        return not connection.gone.is_set()
    try:
        async with asyncio.timeout(seconds):
            await connection.gone.wait()
    except TimeoutError:
        return True
    return False
