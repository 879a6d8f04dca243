"""``docs/metrics.md`` lists what the code makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jupyter_ai_shoulders.host.metrics import definitions
from jupyter_ai_shoulders.host.metrics.span_attributes import ATTRIBUTES, CONTENT_ATTRIBUTES

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text("utf-8")


def test_the_page_lists_every_metric_as_it_is() -> None:
    metrics = (*definitions.METRICS, *definitions.GAUGES, *definitions.USER_METRICS)
    rows = [
        f"| `{each.name}` | {each.kind} | {', '.join(f'`{label}`' for label in each.labels)} | "
        f"{each.help} |"
        for each in metrics
    ]
    assert [line for line in PAGE.splitlines() if line.startswith("| `shoulders_")] == rows


def test_the_page_lists_every_span_with_its_attributes() -> None:
    def rows(table: Mapping[str, tuple[str, ...]]) -> list[str]:
        return [
            f"| `{name}` | {' '.join(f'`{attribute}`' for attribute in attributes)} |"
            for name, attributes in table.items()
        ]

    found = re.findall(r"^\| `(?!shoulders_).*\|$", PAGE, re.MULTILINE)
    assert found == [*rows(ATTRIBUTES), *rows(CONTENT_ATTRIBUTES)]


def test_names_follow_the_conventions_of_prometheus() -> None:
    for each in (*definitions.METRICS, *definitions.USER_METRICS, *definitions.GAUGES):
        assert each.name.endswith("_total") is (each.kind == "counter"), each.name
        assert each.name.endswith("_seconds") is (each.kind == "histogram"), each.name
        assert list(each.buckets) == sorted(each.buckets)
