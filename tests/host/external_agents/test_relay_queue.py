"""What is kept of an agent that sends too much."""

from __future__ import annotations

from jupyter_ai_shoulders.host.external_agents.relay_queue import (
    EVENT_LIMIT,
    TEXT_LIMIT,
    RelayedEnd,
    RelayedText,
    RelayQueue,
)
from jupyter_ai_shoulders.wire.event_types.agents import ActivityStatus
from jupyter_ai_shoulders.wire.events import AgentActivity, Notice, TodoItem, TodoUpdate


def activity(number: int, status: ActivityStatus) -> AgentActivity:
    return AgentActivity(activity_id=f"t{number}", title="Step", kind="other", status=status)


async def drain(queue: RelayQueue) -> list[object]:
    items: list[object] = []
    while not items or not isinstance(items[-1], RelayedEnd):
        items.append(await queue.take())
    return items


async def test_the_last_state_of_what_was_recorded_is_kept_and_the_rest_left_out_once() -> None:
    queue, shown = RelayQueue(), list[object]()
    queue.begin()
    for number in range(2 * EVENT_LIMIT):
        queue.add_event(activity(number, "pending"))
        shown.append(await queue.take()) if number < EVENT_LIMIT else None
    queue.add_event(activity(0, "in_progress"))
    queue.add_event(activity(0, "completed"))
    for done in (False, True):
        queue.add_event(TodoUpdate(items=(TodoItem(text="Act", done=done, depth=0),)))
    queue.add(RelayedEnd())
    shown += await drain(queue)

    activities = [item for item in shown if isinstance(item, AgentActivity)]
    assert len(activities) == EVENT_LIMIT
    assert activities[-1] == activity(0, "completed")
    assert [item.code for item in shown if isinstance(item, Notice)] == ["output_limit"]
    [plan] = [item for item in shown if isinstance(item, TodoUpdate)]
    assert plan.items[0].done


async def test_text_past_the_limit_is_left_out_once() -> None:
    queue = RelayQueue()
    queue.begin()
    for _ in range(5):
        queue.add_text("text", "x" * (TEXT_LIMIT // 2))
    queue.add(RelayedEnd())
    items = await drain(queue)

    assert sum(len(item.text) for item in items if isinstance(item, RelayedText)) == TEXT_LIMIT
    assert len([item for item in items if isinstance(item, Notice)]) == 1
