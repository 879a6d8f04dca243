"""Images for the model of plots that only a browser can draw."""

import base64
import io
import json
from typing import Any

import pytest
from PIL import Image

from tests.simulator_process import calls, says
from tests.ui.support.notebook_scenario import NotebookScenario

PLOTLY = """\
import plotly.graph_objects as go
go.Figure(go.Bar(x=["a", "b"], y=[1, 3], marker_color="#ff0000"), layout={"template": "none"})"""
ALTAIR = """\
import altair as alt
alt.renderers.enable("mimetype")
alt.Chart(alt.Data(values=[{"x": "a", "y": 1}, {"x": "b", "y": 3}])).mark_bar(
    color="#ff0000"
).encode(x="x:N", y="y:Q")"""
HTML = """\
from IPython.display import HTML
HTML('<canvas id="drawn" width="200" height="100"></canvas><script>'
     'const pen = document.getElementById("drawn").getContext("2d");'
     'pen.fillStyle = "#ff0000"; pen.fillRect(0, 0, 150, 80);</script>')"""
SVG = """\
from IPython.display import SVG
SVG('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">'
    '<rect width="150" height="80" fill="#ff0000"/></svg>')"""


def pictures(requests: list[dict[str, Any]]) -> list[Image.Image]:
    """The images in tool results of the model's last request."""
    messages: list[dict[str, Any]] = requests[-1]["body"]["messages"]
    blocks: list[dict[str, Any]] = [block for each in messages for block in each["content"]]
    results: list[list[dict[str, Any]]] = [
        block["content"] for block in blocks if isinstance(block.get("content"), list)
    ]
    parts = [part for result in results for part in result if part["type"] == "image"]
    data: list[str] = [part["source"]["data"] for part in parts]
    return [Image.open(io.BytesIO(base64.b64decode(text))) for text in data]


def red_share(picture: Image.Image) -> float:
    """Share of an image that is close to the red of the bars."""
    raw = picture.convert("RGB").tobytes()
    pixels = zip(raw[::3], raw[1::3], raw[2::3], strict=True)
    red = sum(1 for r, g, b in pixels if r > 200 and g < 80 and b < 80)
    return red * 3 / len(raw)


@pytest.mark.full
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(PLOTLY, marks=pytest.mark.full),
        pytest.param(ALTAIR, marks=pytest.mark.full),
        HTML,
        pytest.param(SVG, marks=pytest.mark.full),
    ],
    ids=["plotly", "altair", "html", "svg"],
)
def test_plots_reach_the_model_as_pictures_while_a_page_shows_them(
    scenario: NotebookScenario, code: str
) -> None:
    replies = [
        calls("run_cell", {"path": scenario.path, "cell_id": "plot"}),
        calls("read_cell_output", {"path": scenario.path, "cell_id": "plot", "as": "image"}),
        says("Done."),
    ]
    scenario.open(("plot", code), ("other", "1"), replies=replies)
    scenario.ask(allow=True)
    scenario.ended()
    assert scenario.results() == ["ok", "ok"], json.dumps(scenario.talks.of_type("tool-result"))[
        :3000
    ]
    seen = pictures(scenario.upstream.requests())
    assert seen, "no picture was sent"
    assert all(red_share(picture) > 0.02 for picture in seen)
