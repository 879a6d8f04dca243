"""Delimited files as bounded text."""

import pytest

from jupyter_ai_shoulders.files.previews.tables import (
    detect_delimiter,
    format_rows,
    format_value,
    read_delimited,
)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b,c\n1,2,3\n", ","),
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a\tb\n1, x\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("only\none\n", ","),
        ("", ","),
    ],
)
def test_delimiter_is_what_parts_all_lines_alike(text: str, delimiter: str):
    assert detect_delimiter(text) == delimiter


def test_table_counts_all_rows_and_shows_the_first():
    text = "name,value\n" + "".join(f"row {number},{number}\n" for number in range(500))
    table = read_delimited(text)
    assert (table.rows, table.columns, table.delimiter) == (501, 2, ",")
    assert table.text.startswith("name | value\nrow 0 | 0\n")
    assert table.text.count("\n") == 30


def test_quoted_line_end_is_part_of_its_row():
    table = read_delimited('a,b\n"one\ntwo",2\n')
    assert table.rows == 2
    assert table.text == "a | b\none two | 2"


def test_field_longer_than_the_reader_takes_is_cut_and_lines_are_counted():
    table = read_delimited("a,b\n" + "x" * 200_000 + ",1\n")
    assert table.rows == 3


def test_many_columns_and_long_values_are_cut():
    assert format_rows([range(33)]).endswith("28 | 29 | … 3 more")
    assert format_value("x" * 100) == "x" * 80 + "…"
    assert format_value("a\n b") == "a b"
    assert format_value(None) == ""
