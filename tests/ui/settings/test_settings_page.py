"""The settings page: its content, storing, and two pages at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.support.lab_server import StartLab
from tests.ui.documents.test_main_workflow import ENDLESS
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

UNUSED = {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1", "api_key_env": "SPARE_KEY"}
"""A provider that needs a key, at an address without a server."""


@pytest.fixture(autouse=True)
def own_settings(served: LabWithModel) -> Iterator[None]:
    """Adds a provider and a priced model; removes what a test stores."""
    state, home = served.lab.root / ".shoulders", served.lab.state / "home" / ".shoulders"
    models = state / "models.json"
    before = models.read_text(encoding="utf-8")
    changed = json.loads(before)
    changed["providers"]["spare"] = UNUSED
    changed["models"][0]["prices"] = {"input": 10_000_000, "output": 10_000_000}
    models.write_text(json.dumps(changed), encoding="utf-8")
    yield
    models.write_text(before, encoding="utf-8")
    for made in (
        *(state / name for name in ("tools.json", "settings.json")),
        *(home / name for name in ("settings.json", "budget.json", "keys.env")),
        served.lab.root / "_instructions.md",
    ):
        made.unlink(missing_ok=True)


def settings(scenario: NotebookScenario, page: Page, section: str) -> SettingsPage:
    """Open JupyterLab with one section of the settings; each page has its own workspace."""
    page.goto(scenario.lab.url("lab", reset=""))
    return SettingsPage(page).open(section)


def month(scenario: NotebookScenario) -> int | None:
    """The user's monthly limit in micro-dollars."""
    return scenario.talks.api("usage")["budget"]["limits"][0]["user_micro_usd"]


@pytest.mark.shows("settings.1")
def test_a_provider_is_tried_a_key_is_stored_and_removed_and_models_are_found(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(calls("report_word", {"word": "shoulders"}))
    shown = settings(scenario, page, "providers")
    simulator = shown.provider("simulator")
    expect(simulator).to_contain_text("····ated (from the environment: SIMULATOR_KEY)")
    simulator.get_by_role("button", name="Test").click()
    result = simulator.get_by_role("status")
    expect(result).to_contain_text("passed")
    expect(result).to_contain_text("tool calls: works")
    expect(simulator).to_contain_text("working")

    spare = shown.provider("spare")
    expect(spare).to_contain_text("no key")
    spare.get_by_label("Key for spare").fill("a-key-to-keep-9876")
    page.keyboard.press("Enter")
    # It has no model to test the key with.
    expect(spare).to_contain_text("····9876 (in ~/.shoulders/keys.env)")
    expect(spare).to_contain_text("not running")  # its health was checked at once
    expect(spare.get_by_label("New key for spare")).to_have_value("")
    assert "a-key-to-keep" not in page.content()
    spare.get_by_role("button", name="Remove key").click()
    page.locator(".jp-Dialog").get_by_role("button", name="Remove").click()
    expect(spare).to_contain_text("no key")

    shown.go("Models")
    shown.root.get_by_role("searchbox", name="Find a model").fill("simul")
    lines = shown.root.locator(".shoulders-Line")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("for new conversations")
    expect(lines).to_contain_text("200k context")


@pytest.mark.full
@pytest.mark.shows("settings.2")
def test_tools_are_switched_in_one_page_and_seen_so_in_the_other(
    scenario: NotebookScenario, page: Page, other_page: Page
) -> None:
    here, there = settings(scenario, page, "tools"), settings(scenario, other_page, "tools")
    expect(here.root.get_by_role("heading", name="Notebooks and kernels")).to_be_visible()
    expect(here.tool("run_cell")).to_contain_text("unsandboxed")
    expect(here.tool("read_notebook")).not_to_contain_text("unsandboxed")
    external = here.switch("Disable all external tools")

    external.click()
    here.switch("todo").click()
    there.switch("clarify").click()
    for shown in (here, there):
        expect(shown.switch("Disable all external tools")).to_be_checked()
        expect(shown.switch("todo")).not_to_be_checked()
        expect(shown.switch("clarify")).not_to_be_checked()
    stored = json.loads(
        (scenario.lab.root / ".shoulders" / "tools.json").read_text(encoding="utf-8")
    )
    assert sorted(stored["disabled"]) == ["clarify", "todo"]
    assert stored["disable_external"] is True

    there.root.get_by_label("The agent’s commands run").select_option("none")
    expect(here.tool("run_command")).to_contain_text("commands are disabled")
    expect(here.switch("run_command")).to_be_disabled()


@pytest.mark.full
@pytest.mark.shows("settings.3")
def test_rules_limits_and_privacy_are_kept_and_nothing_typed_is_lost(
    scenario: NotebookScenario, page: Page
) -> None:
    shown = settings(scenario, page, "rules")
    root = shown.root
    # A rule by keyboard only.
    root.get_by_role("button", name="Add a rule…").focus()
    page.keyboard.press("Enter")
    expect(root.get_by_label("What the rule does")).to_be_focused()
    page.keyboard.type("Deny")
    page.keyboard.press("Tab")
    page.keyboard.type("delete_file")
    page.keyboard.press("Tab")
    page.keyboard.type("where")
    page.keyboard.press("Tab")
    page.keyboard.type("data/**")
    page.keyboard.press("Enter")
    expect(root.get_by_role("listitem").filter(has_text="data/**")).to_contain_text("delete_file")
    (rule,) = scenario.talks.api("tools")["rules"]
    assert (rule["action"], rule["match"]) == ("deny", {"path": "data/**"})
    root.get_by_role("button", name="Remove: Deny delete_file data/**").click()
    expect(root).to_contain_text("No rules yet")

    # A limit that could not be stored stays in the field while another section is shown.
    shown.go("Budget")
    limit = root.get_by_label("Per calendar month")
    page.route("**/api/v1/budget*", lambda route: route.abort())
    limit.fill("20")
    limit.press("Enter")
    expect(root.get_by_role("alert")).to_contain_text("did not answer")
    shown.go("Privacy")
    shown.go("Budget")
    expect(limit).to_have_value("20")
    expect(root.get_by_role("alert")).to_contain_text("did not answer")
    page.unroute("**/api/v1/budget*")
    # Another program sets one: it is shown, and the user decides.
    scenario.talks.send("PUT", "budget", {"month_micro_usd": 7_000_000})
    expect(root.get_by_role("alert")).to_contain_text("Changed elsewhere to: $7.00")
    assert month(scenario) == 7_000_000
    root.get_by_role("button", name="Keep mine").click()
    root.get_by_role("button", name="Save").click()
    expect(root).to_contain_text("of $20.00 spent")
    assert month(scenario) == 20_000_000

    shown.go("Privacy")
    root.get_by_label("Values of variables").select_option("samples")
    expect(root).to_contain_text("Set for this folder.")
    assert scenario.talks.api("settings")["values"]["egress"]["data_values"] == "samples"
    expect(root.get_by_role("listitem").filter(has_text="simulator")).to_contain_text("127.0.0.1")
    shown.go("Models")
    expect(root).to_contain_text("Suggestions while typing")
    shown.go("Instructions")
    root.get_by_role("button", name="Write instructions").click()
    editor = page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_contain_text("every conversation in this workspace")


@pytest.mark.full
@pytest.mark.shows("settings.4", "settings.5", "settings.6")
def test_usage_is_drawn_and_the_status_bar_tells_model_turns_and_cost(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says("Done."), says(ENDLESS, tokens_per_second=40))
    panel = scenario.open_panel()
    shown = SettingsPage(page)
    expect(shown.status).to_contain_text("Simulated")
    panel.ask("First.")
    scenario.ended()
    expect(shown.status).to_contain_text("$")
    panel.ask("Second.")
    expect(shown.status).to_contain_text("1 running")
    panel.input.press("Escape")
    scenario.ended(2)
    expect(shown.status).not_to_contain_text("running")

    shown.status.click()
    shown.shown("Usage")
    root = shown.root
    expect(root.get_by_role("img", name="Usage on 1 day; highest:")).to_be_visible()
    models = root.get_by_role("region", name="By model")
    expect(models.locator(".shoulders-Bars-name")).to_have_text(["simulated"])
    root.get_by_role("button", name="Models as a table").click()
    row = root.get_by_role("row").filter(has_text="simulated")
    expect(row.get_by_role("cell").first).to_contain_text("$")
    root.get_by_label("Show").select_option("calls")
    expect(root.get_by_role("img", name="Usage on 1 day; highest:")).to_be_visible()

    shown.go("Approvals")
    root.get_by_role("button", name="Appearance and layout…").click()
    editor = page.locator(".jp-PluginEditor, .jp-PluginList").first
    expect(editor).to_be_visible()
    expect(page.locator(".jp-PluginList-entry", has_text="AI Status")).to_be_visible()
    # The location and the shown section survive a reload.
    layouts = scenario.lab.state / "workspaces"
    scenario.wait(
        lambda: any('"approvals"' in file.read_text() for file in layouts.iterdir()),
        "the layout is saved",
    )
    page.goto(scenario.lab.url("lab"))
    page.get_by_role("tab", name="AI Settings").click()
    shown.shown("Approvals")


@pytest.mark.full
def test_what_the_administrator_set_is_locked_with_the_reason(
    page: Page, start_lab: StartLab, tmp_path: Path
) -> None:
    lab = start_lab(
        tmp_path, args=["--Shoulders.allow_commands=False", "--Shoulders.budget_month_usd=5"]
    )
    page.goto(lab.url("lab", reset=""))
    shown = SettingsPage(page).open("tools")
    expect(shown.root.get_by_label("The agent’s commands run")).to_be_disabled()
    expect(shown.root).to_contain_text("Locked by your administrator.")
    expect(shown.root).to_contain_text("Shoulders.allow_commands")
    expect(shown.switch("run_command")).to_be_disabled()

    shown.go("Budget")
    limit = shown.root.get_by_label("Per calendar month")
    expect(shown.root).to_contain_text("allows at most $5.00 (Shoulders.budget_month_usd")
    limit.fill("9")
    limit.press("Enter")
    expect(shown.root.get_by_role("alert")).to_contain_text("allows $5.00")
    expect(limit).to_have_value("9")


@pytest.mark.full
def test_a_change_that_can_be_undone_does_not_say_that_it_cannot(
    scenario: NotebookScenario, page: Page
) -> None:
    edit = calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"})
    read = calls("read_notebook", {"path": scenario.path})
    scenario.open(("one", "x = 1"), replies=[read, edit, says("Done.")])
    panel = scenario.ask()
    scenario.ended()
    shown = SettingsPage(page).open("changes")
    row = shown.root.locator(".shoulders-Line", has_text=scenario.file.name)
    expect(row).to_contain_text("edited")
    expect(row).not_to_contain_text("cannot be undone")
    panel.root.get_by_role("button", name="Undo this turn").click()
    scenario.wait(lambda: scenario.talks.of_type("restore"), "the turn is undone")
