"""A long stored conversation, text to stream, and a meter of a page's frames.

Used by ``test_long_conversation``, ``stream_storm`` and the bench group ``chat``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Locator, Page, expect

from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.wire.events import (
    Event,
    MessageAdd,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, PartId, ProviderId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.bench.prepared_store import add_session, open_store
from tests.support.lab_server import Lab
from tests.ui.page_objects.lab_page import Panel

NAME = "long"
MESSAGES = 1_000
WINDOW = 4_000_000
"""Context window of the model in tokens: the conversation must not be summarised."""

ANSWERS = r"""
The column has **{n} missing values**; I filled them with the median of its group.

```python
df['mass'] = df.groupby('species')['mass'].transform(
    lambda column: column.fillna(column.median())
)
df.isna().sum()  # {n}
```

Afterwards nothing is missing.
~~~~
| species | count | mean |
|---|--:|--:|
| Adelie | {n} | 3700.7 |
| Gentoo | 124 | 5076.0 |
| Chinstrap | 68 | 3733.1 |

Gentoo are the heaviest, by a third.
~~~~
Three steps:

1. read the file once,
2. check the types of its {n} columns,
   - dates are `datetime64`,
   - names are categories,
3. write it as Parquet.

> It is ten times as fast to read then.

See [the guide](https://pandas.pydata.org/docs/).
~~~~
The estimate is $\hat\beta = (X^T X)^{-1} X^T y$ with {n} rows, so

$$\operatorname{Var}(\hat\beta) = \sigma^2 (X^T X)^{-1}$$

and the interval is narrow.
"""
"""The agent's messages in turn: code, a table, lists, mathematics."""

STREAMED = """\
The **median** of the group is what fills the gaps, and `fillna` keeps the index as it was. Each
species has its own mean: a single number for all of them would hide the difference.

- first the types,
- then the [missing values](https://example.org/missing),
- then the plot

```python
for name, group in df.groupby('species'):
    print(name, group['mass'].mean())
```

| a | b |
|---|---|
| 1 | 2 |

### What follows

The plot shows *two* clusters; the third lies between them.

"""
"""The streamed text, repeated."""


def streamed(characters: int) -> str:
    """Markdown of this length."""
    return (STREAMED * (characters // len(STREAMED) + 1))[:characters]


def fill(lab: Lab, messages: int = MESSAGES, name: str = NAME) -> None:
    """Write a conversation of this many messages into a server's state; half are the agent's."""
    with ThreadPoolExecutor(1) as pool:  # Playwright has its own loop in the test's thread
        pool.submit(asyncio.run, _fill(lab, messages, name)).result()


async def _fill(lab: Lab, messages: int, name: str) -> None:
    async with open_store(lab.root / ".shoulders", lab.home) as store:
        session = add_session(store, name)
        for number in range(messages // 2):
            for event in _turn(number):
                store.log.append(session, event)
        store.sessions.update(
            store.sessions.get(session).model_copy(update={"message_count": messages})
        )


def _turn(number: int) -> Iterator[Event]:
    ids = RandomIds()
    turn, message = TurnId(ids.new("turn")), MessageId(ids.new("msg"))
    part, call = PartId(ids.new("part")), CallId(ids.new("call"))
    model, provider = ModelId("simulated"), ProviderId("simulator")
    yield MessageAdd(turn_id=turn, message_id=message, text=f"Question {number} about the data?")
    yield TurnStart(
        turn_id=turn, message_id=message, model=model, provider=provider, mode="ask", step_limit=25
    )
    if number % 5 == 0:
        yield from _call(turn, call, number)
    yield TextStart(turn_id=turn, part_id=part)
    yield TextDelta(turn_id=turn, part_id=part, text=_answer(number))
    yield TextEnd(turn_id=turn, part_id=part)
    yield TurnEnd(turn_id=turn, exit="final_response")


def _answer(number: int) -> str:
    answers = ANSWERS.split("~~~~")
    return answers[number % len(answers)].replace("{n}", str(number))


def _call(turn: TurnId, call: CallId, number: int) -> Iterator[Event]:
    path = f"data/part-{number}.csv"
    yield ToolCall(
        turn_id=turn,
        call_id=call,
        tool="read_file",
        arguments={"path": path},
        raw=None,
        invalid=None,
        risk="read",
        external=False,
        title="Read file",
        target=path,
    )
    yield ToolStart(turn_id=turn, call_id=call)
    yield ToolResult(
        turn_id=turn,
        call_id=call,
        tool="read_file",
        status="ok",
        result=ToolEnvelope(ok=True, kind="text", data=None),
        content=(TextPart(text="a,b\n1,2\n"),),
        duration_ms=3,
    )


def widen(root: Path) -> None:
    """Give the simulated model a window for the whole conversation."""
    path = root / ".shoulders" / "models.json"
    models = json.loads(path.read_text(encoding="utf-8"))
    for model in models["models"]:
        model["context_window"] = WINDOW
    path.write_text(json.dumps(models), encoding="utf-8")


def find(page: Page, name: str = NAME) -> Locator:
    """Find a conversation in the history; a click opens it."""
    panel = Panel(page).open()
    panel.root.get_by_role("button", name="History").click()
    row = panel.root.locator(".shoulders-History-open", has_text=name).first
    expect(row).to_be_visible()
    return row


def open_long(page: Page) -> Panel:
    """Open the long conversation."""
    find(page).click()
    panel = Panel(page)
    expect(panel.answers.last).to_be_visible()
    return panel


def scroller(panel: Panel) -> Locator:
    """The scrolling element of the messages."""
    return panel.root.locator(".shoulders-Messages-scroller")


# Records the time between frames, and tasks longer than 50 ms.
_METER = """() => {
    const meter = window.meter = {frames: [], tasks: []};
    let before = null;
    const frame = now => {
        if (before !== null) { meter.frames.push(now - before); }
        before = now;
        meter.handle = requestAnimationFrame(frame);
    };
    meter.handle = requestAnimationFrame(frame);
    meter.observer = new PerformanceObserver(list =>
        meter.tasks.push(...list.getEntries().map(entry => entry.duration)));
    meter.observer.observe({type: 'longtask'});
}"""
_READ = """() => {
    const {frames, tasks, handle, observer} = window.meter;
    cancelAnimationFrame(handle);
    observer.disconnect();
    return {frames, tasks};
}"""


@dataclass(frozen=True, slots=True)
class Frames:
    """Times between frames, and of tasks above 50 ms, all in ms."""

    times: list[float]
    tasks: list[float]

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.times)

    @property
    def late(self) -> float:
        """The 99th percentile."""
        return quantiles(self.times, n=100, method="inclusive")[-1]

    @property
    def longest(self) -> float:
        """The longest."""
        return max(self.times)

    def over(self, limit: float) -> int:
        """Number of frames above ``limit`` ms."""
        return sum(time > limit for time in self.times)


def start_meter(page: Page) -> None:
    """Start recording frames."""
    page.evaluate(_METER)


def read_meter(page: Page) -> Frames:
    """Stop recording and return the times."""
    found: dict[str, Any] = page.evaluate(_READ)
    return Frames(found["frames"], found["tasks"])
