from typing import Any

import pytest

from jupyter_ai_shoulders.notebook.base import RunProgress
from jupyter_ai_shoulders.notebook.outputs.collector import (
    OutputChange,
    OutputCollector,
    OutputLimits,
)
from jupyter_ai_shoulders.notebook.outputs.run_log import RunLog
from jupyter_ai_shoulders.notebook.outputs.stream_text import StreamText


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def display(text: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        pytest.param(["a", "b\n", "c"], "ab\nc", id="plain"),
        pytest.param(["10%\r", "100%"], "100%", id="carriage return over two writes"),
        pytest.param(["longer\rshort"], "shortr", id="what is not overwritten stays"),
        pytest.param(["abc\b\bX"], "aXc", id="backspace"),
        pytest.param(["\b\bx"], "x", id="backspace at the beginning"),
        pytest.param(["one\r\ntwo\r\n"], "one\ntwo\n", id="windows line ends"),
        pytest.param(["one\r", "\ntwo"], "one\ntwo", id="windows line end over two writes"),
        pytest.param(["done\nstep 1\rstep 2"], "done\nstep 2", id="closed lines stay"),
        pytest.param(["", ""], "", id="nothing"),
    ],
)
def test_stream_text_is_what_a_terminal_shows(pieces: list[str], shown: str):
    text = StreamText()
    for piece in pieces:
        text.write(piece)
    assert (str(text), len(text)) == (shown, len(shown))


def test_dropping_the_oldest_text_keeps_the_end():
    text = StreamText()
    text.write("first\nsecond\nthird")
    assert text.drop_oldest(8) == 10
    assert str(text) == "nd\nthird"
    assert text.drop_oldest(3) == 5
    assert str(text) == "ird"
    text.write("!\rI")
    assert str(text) == "Ird!"
    assert text.drop_oldest(10) == 0


def test_changes_begin_at_the_first_output_that_changed():
    outputs = OutputCollector()
    outputs.add(display("figure"))
    outputs.add(stream("one\n"))
    change = outputs.take_change()
    assert change is not None
    assert (change.index, change.outputs) == (0, (display("figure"), stream("one\n")))
    outputs.add(stream("two\n"))
    change = outputs.take_change()
    assert change is not None
    assert (change.index, change.outputs) == (1, (stream("one\ntwo\n"),))
    assert outputs.take_change() is None


def test_streams_of_two_names_stay_apart():
    outputs = OutputCollector()
    for name in ("stdout", "stderr", "stderr", "stdout"):
        outputs.add(stream(f"{name}\n", name))
    assert outputs.outputs() == (
        stream("stdout\n"),
        stream("stderr\nstderr\n", "stderr"),
        stream("stdout\n"),
    )


def test_clearing_is_a_change_from_the_beginning():
    outputs = OutputCollector()
    outputs.add(display("one"))
    outputs.take_change()
    outputs.clear()
    assert outputs.take_change() == OutputChange(0, (), 0)


def test_updating_a_display_changes_each_place_it_is_shown_in():
    outputs = OutputCollector()
    outputs.add(display("other"))
    outputs.add(display("old"), "id")
    outputs.add(display("old"), "id")
    outputs.take_change()
    outputs.update_display("id", display("new"))
    outputs.update_display("unknown", display("nothing"))
    change = outputs.take_change()
    assert change is not None
    assert (change.index, change.outputs) == (1, (display("new"), display("new")))


def test_a_stream_cut_by_the_border_is_one_while_nothing_is_left_out():
    outputs = OutputCollector(OutputLimits(text=40))
    outputs.add(stream("0123456789" * 3 + "tail"))
    assert outputs.outputs() == (stream("0123456789" * 3 + "tail"),)
    assert outputs.omitted is None
    outputs.take_change()
    outputs.add(stream("!"))
    assert outputs.take_change() == OutputChange(0, (stream("0123456789" * 3 + "tail!"),), 35)


def test_too_much_text_keeps_head_and_tail():
    outputs = OutputCollector(OutputLimits(text=40))
    for number in range(100):
        outputs.add(stream(f"line {number:02}\n"))
    head, notice, tail = outputs.outputs()
    assert head == stream("line 00\nline 01\nline 02\nline 0")
    assert tail == stream("8\nline 99\n"[-10:])
    assert notice == display("… 760 characters left out here: the output was too long to keep …")
    assert outputs.omitted == "760 characters"


def test_too_many_outputs_keep_head_and_tail():
    outputs = OutputCollector(OutputLimits(count=8))
    for number in range(20):
        outputs.add(display(str(number)), f"id-{number}")
    shown = [output["data"] for output in outputs.outputs()]
    assert [data["text/plain"] for data in shown if isinstance(data, dict)] == [
        *("0", "1", "2", "3", "4", "5"),
        "… 12 outputs left out here: the output was too long to keep …",
        *("18", "19"),
    ]
    outputs.update_display("id-10", display("dropped: no effect"))
    outputs.update_display("id-19", display("new"))
    assert outputs.outputs()[-1] == display("new")


def test_one_huge_output_alone_is_kept_and_more_of_them_are_not():
    outputs = OutputCollector(OutputLimits(rich=1_000))
    for name in "abcd":
        outputs.add(display(name * 5_000))
    kept = [output["data"] for output in outputs.outputs()]
    assert [data["text/plain"] for data in kept if isinstance(data, dict)] == [
        "a" * 5_000,
        "… 2 outputs left out here: the output was too long to keep …",
        "d" * 5_000,
    ]


def test_a_rich_output_older_than_the_newest_text_makes_room_for_it():
    outputs = OutputCollector(OutputLimits(text=40))
    outputs.add(stream("x" * 31))
    outputs.add(display("between"))
    outputs.add(stream("y" * 11))
    assert outputs.outputs()[-1] == stream("y" * 10)
    assert outputs.omitted == "2 characters and 1 output"


def test_the_log_coalesces_by_channel_in_order():
    log = RunLog()
    log.add_output(stream("1%\r2%\n"))
    log.add_output(stream("\x1b[31mred\x1b[0m\n"))
    log.add_output(stream("warned\n", "stderr"))
    log.add_output(display("one\ntwo"))
    log.add_output({"output_type": "display_data", "data": {"image/png": "…", "text/plain": "F"}})
    log.add_output({"output_type": "display_data", "data": {"application/x-thing": {}}})
    log.add_output({"output_type": "error", "ename": "E", "evalue": "why", "traceback": []})
    assert log.take() == [
        RunProgress("stdout", "2%\nred\n"),
        RunProgress("stderr", "warned\n"),
        RunProgress("output", "one …\n[image/png]\n[application/x-thing]\nE: why\n"),
    ]
    assert log.take() == []


def test_the_log_stops_at_its_limit_and_says_so_once():
    log = RunLog(limit=10)
    for _ in range(5):
        log.add_output(stream("123456\n"))
    log.add_status("Running.")
    assert log.take() == [
        RunProgress("stdout", "123456\n123"),
        RunProgress("status", "More output follows; it is in the cell."),
        RunProgress("status", "Running."),
    ]
