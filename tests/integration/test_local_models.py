"""A Jupyter server beside a running Ollama: detected, listed and used without key or setting."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.client import of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says

SCRIPT = in_order(
    calls("read_notebook", {"path": "a.ipynb"}),
    says("There is one cell."),
)
MODEL = "ollama/sim-llama:latest"


def test_running_ollama_is_found_listed_and_answers_with_tools(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("one", "1 + 1")))
    ollama = upstream(SCRIPT)
    api = serve(workspace, {"OLLAMA_HOST": ollama.url.removeprefix("http://")})

    status = api.get("status")
    listed = {model["id"]: model for model in api.get("models")["models"]}
    session = api.session()
    api.send(session, "What is in the notebook?")
    events = api.turn(session)

    assert (status["models"], status["demo"], status["default_model"]) == ("ready", False, MODEL)
    states = {provider["id"]: provider for provider in status["providers"]}
    assert (states["ollama"]["state"], states["ollama"]["needs_key"]) == ("ok", False)
    assert listed[MODEL]["available"]
    assert listed[MODEL]["tools"]
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"
    assert of_type(events, "turn-start")[0]["model"] == MODEL
    assert [event["status"] for event in of_type(events, "tool-result")] == ["ok"]
    asked = [record for record in ollama.requests() if record["path"] == "/api/chat"]
    assert [record["status"] for record in asked] == [200, 200]
    assert asked[0]["body"]["options"]["num_ctx"] == 32_768
    assert "read_notebook" in json.dumps(asked[0]["body"]["tools"])
    assert not any("authorization" in record["headers"] for record in ollama.requests())


def test_model_without_tools_chats_and_a_missing_one_is_to_be_pulled(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    ollama = upstream(in_order(says("Hello.")))
    api = serve(workspace, {"OLLAMA_HOST": ollama.url})
    api.get("models")

    plain = api.session(model="ollama/sim-plain:latest")
    api.send(plain, "Hi")
    talk = api.turn(plain)
    missing = api.session(model="ollama/never-pulled")
    api.send(missing, "Hi")
    failed = api.turn(missing)

    (chat,) = [record for record in ollama.requests() if record["path"] == "/api/chat"][:1]
    assert "tools" not in chat["body"]
    assert of_type(talk, "turn-end")[0]["exit"] == "final_response"
    error = of_type(failed, "turn-end")[0]["error"]
    assert error["code"] == "model_not_found"
    assert "ollama pull never-pulled" in error["hint"]
