"""``%ai`` and ``%%ai``: the AI colleague in a cell; ``%load_ext jupyter_ai_shoulders`` loads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.kernel_id import own_kernel_id
from jupyter_ai_shoulders.client.lazy_imports import wire
from jupyter_ai_shoulders.client.search_text import search_text
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.kernel import prompt_text
from jupyter_ai_shoulders.kernel.answer_rendering import (
    extract_code,
    markdown_bundle,
    plain_text_bundle,
    render_bundle,
)
from jupyter_ai_shoulders.kernel.cell_output import CellTurnDisplay, cost_text, models_text
from jupyter_ai_shoulders.kernel.last_error import LastError
from jupyter_ai_shoulders.kernel.magic_command import (
    MagicCommand,
    MagicUsageError,
    keep_question_marks,
    parse_magic,
)
from jupyter_ai_shoulders.kernel.magic_turn import MagicTurn, notebook_context
from jupyter_ai_shoulders.kernel.prompt_text import has_placeholders, interpolate
from jupyter_ai_shoulders.wire.hidden_characters import legible, without_hidden
from jupyter_ai_shoulders.wire.ids import ModelId


class MagicFailed(Exception):
    """A magic failed; the cell shows the message without our own frames."""

    def _render_traceback_(self) -> list[str]:  # IPython asks for it
        return [str(self)]


@magics_class
class AiMagics(Magics):
    """The magics of one shell, and the conversation they belong to."""

    def __init__(
        self, shell: InteractiveShell, client: Client, last_error: LastError | None = None
    ) -> None:
        super().__init__(shell)
        self.client = client
        self.last_error = last_error or LastError()
        self._session: wire.Session | None = None

    @no_var_expand
    @line_cell_magic
    def ai(self, line: str, cell: str | None = None) -> None:
        """Ask the AI colleague of this Jupyter server; ``%ai help`` says how."""
        try:
            self._dispatch(parse_magic(line, cell))
        except (MagicUsageError, ClientError, ValueError) as error:
            raise MagicFailed(legible(str(error))) from None

    def _dispatch(self, command: MagicCommand) -> None:
        match command.action:
            case "ask":
                self._ask(command)
            case "fix":
                self._fix(command)
            case "explain":
                self._explain(command)
            case "new":
                self._session = None
            case "help":
                CellTurnDisplay().put(markdown_bundle(prompt_text.read_prompt("help")))
            case "cost":
                session = self._session and self.client.session(self._session.id)
                CellTurnDisplay().put(markdown_bundle(cost_text(self.client.usage(), session)))
            case "search":
                found = self.client.search(command.prompt)
                CellTurnDisplay().put(plain_text_bundle(legible(search_text(found))))
            case "models":
                CellTurnDisplay().put(markdown_bundle(models_text(self.client.models())))

    def _ask(self, command: MagicCommand, wrap: Callable[[str], str] = str) -> Answer:
        """Ask; ``wrap`` adds code to the user's words, after variables in these were replaced."""
        screen = CellTurnDisplay(_renderer(command))
        prompt = wrap(self._interpolated(command.prompt, screen))
        prompt = prompt_text.format_prompt(prompt, command.format)
        session = self._conversation(command)
        context = notebook_context(self.client)

        def begin() -> Turn:
            return self.client.stream(prompt, session.id, model=command.model, context=context)

        turn = MagicTurn(begin, screen, own_kernel_id())
        answer = turn.answer()
        if not turn.moved_to_panel:
            self._finish(command, answer, screen)
        elif str(answer):
            screen.put(markdown_bundle(str(answer)))
        return answer

    def _finish(self, command: MagicCommand, answer: Answer, screen: CellTurnDisplay) -> None:
        text = str(answer)
        if command.output:
            self._shell.push({command.output: text})
        screen.put(render_bundle(text, command.format))
        if command.format == "code" and (code := extract_code(text)):
            self._offer(code, screen)

    def _offer(self, code: str, screen: CellTurnDisplay) -> None:
        """Put code into a new cell, without invisible characters."""
        clean, hidden = without_hidden(code)
        self._shell.set_next_input(clean, replace=False)
        if hidden:
            characters = "character was" if hidden == 1 else "characters were"
            screen.write_line(
                f"· {hidden} hidden {characters} removed from the code of the new cell."
            )

    def _fix(self, command: MagicCommand) -> None:
        history: list[str] = list(self._shell.user_ns.get("In", []))
        failure = self.last_error.failure(history)
        if failure is None:
            raise MagicUsageError(
                "No cell has failed that is known here. Run the one that fails first."
            )
        code = command.code or failure.code
        answer = self._ask(
            command, lambda remark: prompt_text.fix_prompt(code, failure.error, remark)
        )
        if command.format == "markdown" and (fixed := extract_code(str(answer))):
            self._offer(fixed, CellTurnDisplay())

    def _explain(self, command: MagicCommand) -> None:
        history: list[str] = list(self._shell.user_ns.get("In", []))
        before = next((code for code in reversed(history[:-1]) if code.strip()), None)
        code = command.code or before
        if code is None:
            raise MagicUsageError(
                "There is no cell before this one. Write the code below %%ai explain."
            )
        self._ask(command, lambda _: prompt_text.explain_prompt(code))

    def _interpolated(self, prompt: str, screen: CellTurnDisplay) -> str:
        """Return the prompt with its variables, as far as their values may be sent."""
        namespace: dict[str, Any] = self._shell.user_ns
        if not has_placeholders(prompt, namespace):
            return interpolate(prompt, {}, "schema_only")[0]
        level = self.client.settings().values.egress.data_values
        filled, withheld = interpolate(prompt, namespace, level)
        if withheld:
            screen.write_line(
                f"· Of {', '.join(withheld)} only the type was sent, not the value. "
                "The AI settings say what may be sent (Privacy)."
            )
        return filled

    def _conversation(self, command: MagicCommand) -> wire.Session:
        """Return the conversation of this shell, with or without tools as the command requires."""
        tools = "enabled" if command.tools else "disabled"
        session = None if command.new else self._session
        if session is None:
            session = self.client.new_session(
                model=command.model, tools=tools, interactive=self._can_ask()
            )
        elif session.tools != tools:
            session = self.client.change_session(session.id, wire.PatchSession(tools=tools))
        if command.model and session.model != command.model:
            change = wire.PatchSession(model=ModelId(command.model))
            session = self.client.change_session(session.id, change)
        self._session = session
        return session

    def _can_ask(self) -> bool:
        """Return whether the front end allows input; a notebook run from outside does not."""
        kernel: Any = getattr(self._shell, "kernel", None)
        if kernel is None:
            return True  # a terminal
        request: dict[str, Any] = kernel.get_parent("shell")
        return bool(request.get("content", {}).get("allow_stdin"))

    @property
    def _shell(self) -> Any:
        return self.shell


def _renderer(command: MagicCommand) -> Callable[[str], dict[str, Any]]:
    """Return the renderer of a growing answer: plain text if its final form is not Markdown."""
    if command.format in {"markdown", "code"}:
        return markdown_bundle
    return plain_text_bundle


def load(shell: Any) -> None:
    """Add the magics to a shell; repeated calls do nothing."""
    if "ai" in shell.magics_manager.magics["line"]:
        return
    magics = AiMagics(shell, Client())
    shell.register_magics(magics)
    shell.input_transformer_manager.line_transforms.append(keep_question_marks)
    shell.events.register("post_run_cell", magics.last_error.on_cell_run)
