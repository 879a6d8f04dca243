"""Generates ``schema/wire.json``, the source of the TypeScript types.

After changing a wire model, run ``python -m jupyter_ai_shoulders.wire.schema`` and ``npm run
gen:wire`` in ``labextension/``; a test fails when either is forgotten.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from jupyter_ai_shoulders.wire import (
    edits,
    errors,
    events,
    frames,
    messages,
    notebooks,
    operations,
    usage,
)
from jupyter_ai_shoulders.wire.api import (
    access_tokens,
    agents,
    anchors,
    audit,
    away_report,
    commands,
    completions,
    folder_trust,
    instructions,
    mcp_servers,
    mentions,
    model_requests,
    provider_setup,
    references,
    responses,
    search,
    settings,
    web_services,
    word,
)
from jupyter_ai_shoulders.wire.api.agent_data import database, memory
from jupyter_ai_shoulders.wire.api.automation import notifications, previews, schedules
from jupyter_ai_shoulders.wire.api.mcp import content
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.conversation import views

SCHEMA_PATH = Path(__file__).parent / "schema" / "wire.json"

_OUT: tuple[tuple[str, Any], ...] = (
    ("event", events.Event),
    ("page_frame", frames.PageFrame),
    ("server_frame", frames.ServerFrame),
    ("conversation", views.Conversation),
    ("message_view", views.MessageView),
    ("part_view", views.PartView),
    ("cell_edit", notebooks.CellEdit),
    ("attachment", messages.Attachment),
    ("error_body", errors.ErrorBody),
    ("status", responses.Status),
    ("model_list", responses.ModelList),
    ("provider_test", responses.ProviderTest),
    ("detected_provider", provider_setup.DetectedProvider),
    ("own_provider", provider_setup.OwnProvider),
    ("saved_provider", provider_setup.SavedProvider),
    ("session_list", responses.SessionList),
    ("event_page", responses.EventPage),
    ("message_accepted", responses.MessageAccepted),
    ("tool_list", responses.ToolList),
    ("audit_page", audit.AuditPage),
    ("proposal_list", responses.ProposalList),
    ("pending_edit_list", edits.PendingEditList),
    ("edit_decision", edits.EditDecision),
    ("edit_conflict", edits.EditConflict),
    ("edit_decisions", edits.EditDecisions),
    ("cell_text", edits.CellTextAnswer),
    ("away_answer", away_report.AwayAnswer),
    ("operations_page", operations.OperationsPage),
    ("operation_undone", operations.OperationUndone),
    ("usage", usage.Usage),
    ("budget_state", usage.BudgetState),
    ("settings", settings.Settings),
    ("reference_list", references.ReferenceList),
    ("reference_entry", references.ReferenceEntry),
    ("added_reference", references.AddedReference),
    ("citation_text", references.CitationText),
    ("citation_style_list", references.CitationStyleList),
    ("formatted_citations", references.FormattedCitations),
    ("reference_check", references.ReferenceCheck),
    ("web_service_list", web_services.WebServiceList),
    ("web_service_info", web_services.WebServiceInfo),
    ("service_test", web_services.ServiceTest),
    ("paper_search", web_services.PaperSearch),
    ("web_result", web_services.WebResult),
    ("word_page", word.WordPage),
    ("agent_database", database.AgentDatabase),
    ("database_page", database.DatabasePage),
    ("database_rows", database.DatabaseRows),
    ("search_results", search.SearchResults),
    ("search_index_status", search.SearchIndexStatus),
    ("request_view", model_requests.RequestView),
    ("file_matches", mentions.FileMatches),
    ("variable_list", mentions.VariableList),
    ("skill_summaries", mentions.SkillSummaries),
    ("instruction_list", instructions.InstructionList),
    ("folder_trust_view", folder_trust.FolderTrustView),
    ("memory_view", memory.MemoryView),
    ("memory_change", memory.MemoryChange),
    ("moved_anchors", anchors.MovedAnchors),
    ("adopted_threads", anchors.AdoptedThreads),
    ("completion_suggestion", completions.CompletionSuggestion),
    ("completion_end", completions.CompletionEnd),
    ("sent_completions", completions.SentCompletions),
    ("access_token_list", access_tokens.AccessTokenList),
    ("agent_list", agents.AgentList),
    ("created_access_token", access_tokens.CreatedAccessToken),
    ("mcp_server_list", mcp_servers.McpServerList),
    ("mcp_server_view", mcp_servers.McpServerView),
    ("mcp_server_test", mcp_servers.McpServerTest),
    ("mcp_authorization_url", mcp_servers.McpAuthorizationUrl),
    ("mcp_resource_matches", content.McpResourceMatches),
    ("mcp_prompt_list", content.McpPromptList),
    ("mcp_prompt_text", content.McpPromptText),
    ("notification_list", notifications.NotificationList),
    ("webhook_status", notifications.WebhookStatus),
    ("schedule_preview", previews.SchedulePreview),
    ("watcher_list", previews.WatcherList),
    ("schedule_list", schedules.ScheduleList),
    ("schedule_status", schedules.ScheduleStatus),
    ("schedule_run_list", schedules.ScheduleRunList),
)
_COMMANDS: tuple[type[CommandModel], ...] = (
    commands.CreateSession,
    commands.DecideEdit,
    commands.DecideEdits,
    commands.UndoTurn,
    commands.PatchSession,
    commands.SendMessage,
    commands.ForkSession,
    commands.EditMessage,
    commands.AnswerApproval,
    commands.ResumeTurn,
    commands.AnswerQuestion,
    commands.SupplyResult,
    commands.RestoreSession,
    commands.AnswerInput,
    commands.StartRun,
    commands.DecideProposal,
    agents.PatchAgent,
    commands.PutCellText,
    commands.SetKey,
    provider_setup.DetectProvider,
    provider_setup.PutProvider,
    commands.PutPermissions,
    usage.PutBudget,
    settings.PutSettings,
    memory.PostMemory,
    memory.PatchMemory,
    references.PostReference,
    references.PutReferenceFields,
    references.DeleteReference,
    references.PostCitation,
    references.PostFormat,
    references.PostReferenceCheck,
    access_tokens.PostAccessToken,
    mcp_servers.PutMcpServer,
    mcp_servers.PutMcpServerEnabled,
    mcp_servers.PutMcpServerValue,
    mcp_servers.PostMcpAuthorization,
    content.PostMcpPrompt,
    web_services.PutServiceKey,
    web_services.PutServiceAddress,
    search.PostSearchIndex,
    folder_trust.PutTrust,
    model_requests.PreviewMessage,
    anchors.MoveAnchors,
    anchors.AdoptThreads,
    completions.RequestCompletions,
    notifications.SeenNotifications,
    notifications.PutWebhookSecret,
    previews.PreviewSchedule,
    schedules.PostSchedule,
    schedules.PatchSchedule,
)
_JSON_REF = {"$ref": "#/$defs/Json"}
_JSON_TYPE = "null | boolean | number | string | Json[] | { [key: string]: Json }"


def wire_schema() -> dict[str, Any]:
    """Return one JSON Schema with a property for every root type."""
    named = [*_OUT, *((_snake(command.__name__), command) for command in _COMMANDS)]
    inputs = [(name, "serialization", TypeAdapter[Any](root)) for name, root in named]
    roots, shared = TypeAdapter.json_schemas(cast("Any", inputs), ref_template="#/$defs/{model}")
    definitions = cast("dict[str, Any]", shared["$defs"])
    for name, definition in definitions.items():
        _tidy(definition)
        definition["title"] = name
    for command in _COMMANDS:
        definitions[command.__name__]["required"] = [
            name for name, field in command.model_fields.items() if field.is_required()
        ]
    definitions["Json"] = {"title": "Json", "tsType": _JSON_TYPE}
    properties: dict[str, Any] = {}
    for (name, _), schema in roots.items():
        title = "".join(word.capitalize() for word in str(name).split("_"))
        root = dict(schema)
        _tidy(root)
        if "$ref" not in root:
            definitions[title] = {**root, "title": title}
            root = {"$ref": f"#/$defs/{title}"}
        properties[str(name)] = root
    return {
        "title": "Wire",
        "type": "object",
        "additionalProperties": False,
        "required": sorted(properties),
        "properties": dict(sorted(properties.items())),
        "$defs": dict(sorted(definitions.items())),
    }


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _tidy(node: Any) -> None:
    """Drop field titles and defaults, name the JSON type and close objects, in place."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            _tidy(item)
        return
    if not isinstance(node, dict):
        return
    schema = cast("dict[str, Any]", node)
    schema.pop("title", None)
    if schema.pop("x-wire-json", False):
        schema.update(_JSON_REF)
    schema.pop("discriminator", None)
    if "properties" in schema:
        schema["additionalProperties"] = False
        for child in schema["properties"].values():
            child.pop("default", None)
            _tidy(child)
    for key in (
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "prefixItems",
    ):
        if key in schema:
            _tidy(schema[key])


def schema_text() -> str:
    """Return the text of the schema file."""
    return json.dumps(wire_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the schema file."""
    SCHEMA_PATH.parent.mkdir(exist_ok=True)
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
