"""Damages databases and write-ahead logs at random, and counts reported and silent losses.

``python -m tests.storage_damage --count 500 --seed 1``. A loss is silent when an event is missing
or changed and neither a notice in its conversation nor the report of the state directory says so.
Fails when there is a silent loss, a crash, or a damaged file that was not kept.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.schema.event_rows import DAMAGED
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.events import Event, Notice
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.storage.salvage.test_damaged_database import NAMES, Stored
from tests.storage.store import MovableClock, Store

Damage = Callable[[bytearray, Random], None]


def flip(content: bytearray, rng: Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def zero(content: bytearray, rng: Random) -> None:
    length = rng.choice((16, 512, 4096, 16384))
    at = rng.randrange(len(content)) // length * length
    content[at : at + length] = bytes(len(content[at : at + length]))


def garble(content: bytearray, rng: Random) -> None:
    at = rng.randrange(len(content))
    length = rng.choice((4, 100, 512, 4096))
    content[at : at + length] = rng.randbytes(len(content[at : at + length]))


def truncate(content: bytearray, rng: Random) -> None:
    del content[rng.randrange(len(content)) :]


def damage_header(content: bytearray, rng: Random) -> None:
    content[rng.randrange(100)] ^= rng.randrange(1, 256)


DAMAGES: Mapping[str, Damage] = {
    "flip": flip,
    "zero": zero,
    "garble": garble,
    "truncate": truncate,
    "header": damage_header,
}


def said(events: list[Event], code: str) -> bool:
    return any(isinstance(event, Notice) and event.code == code for event in events)


def judge(store: Store, whole: Mapping[str, list[Event]], counts: Counter[str]) -> list[str]:
    """Compare the readable with the stored events; return the silent losses."""
    shown = {
        session.id: session for session in store.sessions.page(SessionFilter(), None, 50).sessions
    }
    report = store.directory.damage_report()
    silent: list[str] = []
    for name in NAMES:
        session_id = SessionId(f"ses_{name}")
        if session_id not in shown:
            counts["conversations lost"] += 1
            if report is None:
                silent.append(f"{name} is gone")
            continue
        if shown[session_id].title != name:
            counts["titles changed"] += 1
            if report is None:
                silent.append(f"the title of {name} is {shown[session_id].title!r}")
        found = [logged.event for logged in store.log.read(session_id)]
        told_of_tail = said(found, "salvaged")
        for number, event in enumerate(whole[name]):
            now = found[number] if number < len(found) else None
            if now == event:
                continue
            counts["events lost"] += 1
            told = isinstance(now, Notice) and now.code in {DAMAGED, "salvaged"}
            if not (told or (now is None and told_of_tail)):
                silent.append(f"event {event.seq} of {name} is {'missing' if not now else 'other'}")
        silent += unindexed(store, session_id, found)
        store.log.append(session_id, Notice(level="info", code="test", text="continues"))
    counts["restored"] += report is not None
    if report is not None and not list(store.directory.path.glob("state.db.damaged-*Z")):
        silent.append("the damaged file was not kept")
    return silent


def unindexed(store: Store, session_id: SessionId, found: list[Event]) -> list[str]:
    """Return the messages missing from the index by type."""
    listed = [logged.event for logged in store.log.find(["message-add"], session_id)]
    expected = [event for event in found if event.type == "message-add"]
    return [] if listed == expected else [f"the index lacks messages of {session_id}"]


def play(stored: Stored, folder: Path, rng: Random, counts: Counter[str]) -> list[str]:
    """Damage a copy and open it; return the problems."""
    target = rng.choice(("database", "log"))
    source, whole = (
        (stored.checkpointed, stored.before)
        if target == "database" and rng.random() < 0.5
        else (stored.killed, stored.whole)
    )
    shutil.copytree(source, folder)
    file = folder / ("state.db" if target == "database" else "state.db-wal")
    kind = rng.choice(list(DAMAGES))
    content = bytearray(file.read_bytes())
    DAMAGES[kind](content, rng)
    file.write_bytes(content)
    counts[f"{kind} of the {target}"] += 1
    store = Store(folder, MovableClock())
    try:
        return [f"{kind} of the {target}: {problem}" for problem in judge(store, whole, counts)]
    except StateUnavailable as error:
        counts["refused"] += 1
        store.crash()
        return reopened(folder, whole, counts, f"{kind} of the {target}", error)
    finally:
        store.crash()


def reopened(
    folder: Path, whole: Mapping[str, list[Event]], counts: Counter[str], what: str, why: Exception
) -> list[str]:
    """Reopen after damage found while running, as its error advises."""
    store = Store(folder, MovableClock())
    try:
        return [f"{what}: {problem}" for problem in judge(store, whole, counts)]
    except StateUnavailable as error:
        return [f"{what}: {why} and again {error}"]
    finally:
        store.crash()


def main() -> int:
    """Play the rounds and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    since = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        stored = Stored(Path(folder))
        for number in range(options.count):
            rng = Random(f"{options.seed} {number}")
            place = Path(folder) / "round"
            try:
                found = play(stored, place, rng, counts)
            except Exception as error:  # noqa: BLE001 a crash is what the sweep looks for
                found = [f"crash: {error!r}"]
            problems += [f"round {number}: {problem}" for problem in found]
            shutil.rmtree(place)
    lines = [f"{name:24} {count:6}" for name, count in sorted(counts.items())]
    lines.append(f"{options.count} rounds in {time.monotonic() - since:.0f} s")
    lines += [f"{len(problems)} problems", *problems[:40]]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
