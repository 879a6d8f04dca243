"""``%ai`` and ``%%ai``: the AI colleague in a cell; ``%load_ext jupyter_ai_shoulders`` loads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from jupyter_ai_shoulders.client.client import Client
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.kernel import own_kernel_id
from jupyter_ai_shoulders.client.reader import Answer
from jupyter_ai_shoulders.client.turn import Turn
from jupyter_ai_shoulders.kernel import texts
from jupyter_ai_shoulders.kernel.command import Command, WrongUse, parse
from jupyter_ai_shoulders.kernel.interpolate import interpolate, names_in
from jupyter_ai_shoulders.kernel.last_error import LastError
from jupyter_ai_shoulders.kernel.present import bundle, code_of, markdown, plain
from jupyter_ai_shoulders.kernel.questions import keep_question_marks
from jupyter_ai_shoulders.kernel.report import cost_text, models_text
from jupyter_ai_shoulders.kernel.screen import CellScreen
from jupyter_ai_shoulders.kernel.talk import Talk, around_us
from jupyter_ai_shoulders.wire.commands import PatchSession
from jupyter_ai_shoulders.wire.hidden_characters import legible, without_hidden
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.sessions import Session


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
        self._session: Session | None = None

    @no_var_expand
    @line_cell_magic
    def ai(self, line: str, cell: str | None = None) -> None:
        """Ask the AI colleague of this Jupyter server; ``%ai help`` says how."""
        try:
            self._do(parse(line, cell))
        except (WrongUse, ClientError, ValueError) as error:
            raise MagicFailed(legible(str(error))) from None

    def _do(self, command: Command) -> None:
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
                CellScreen().put(markdown(texts.text("help")))
            case "cost":
                session = self._session and self.client.session(self._session.id)
                CellScreen().put(markdown(cost_text(self.client.usage(), session)))
            case "models":
                CellScreen().put(markdown(models_text(self.client.models())))

    def _ask(self, command: Command, around: Callable[[str], str] = str) -> Answer:
        """Ask; ``around`` puts code beside the user's words, whose braces name no variables."""
        screen = CellScreen(_look_of(command))
        prompt = around(self._filled(command.prompt, screen))
        prompt = texts.in_form(prompt, command.format)
        session = self._conversation(command)
        context = around_us(self.client)

        def begin() -> Turn:
            return self.client.stream(prompt, session.id, model=command.model, context=context)

        talk = Talk(begin, screen, own_kernel_id())
        answer = talk.answer()
        if not talk.stepped_aside:
            self._finish(command, answer, screen)
        elif str(answer):
            screen.put(markdown(str(answer)))
        return answer

    def _finish(self, command: Command, answer: Answer, screen: CellScreen) -> None:
        text = str(answer)
        if command.output:
            self._shell.push({command.output: text})
        screen.put(bundle(text, command.format))
        if command.format == "code" and (code := code_of(text)):
            self._offer(code, screen)

    def _offer(self, code: str, screen: CellScreen) -> None:
        """Put code into a new cell, without the characters in it that nobody would see."""
        clean, hidden = without_hidden(code)
        self._shell.set_next_input(clean, replace=False)
        if hidden:
            characters = "character was" if hidden == 1 else "characters were"
            screen.say(f"· {hidden} hidden {characters} removed from the code of the new cell.")

    def _fix(self, command: Command) -> None:
        history: list[str] = list(self._shell.user_ns.get("In", []))
        failure = self.last_error.failure(history)
        if failure is None:
            raise WrongUse("No cell has failed that is known here. Run the one that fails first.")
        code = command.code or failure.code
        answer = self._ask(command, lambda remark: texts.fix(code, failure.error, remark))
        if command.format == "markdown" and (fixed := code_of(str(answer))):
            self._offer(fixed, CellScreen())

    def _explain(self, command: Command) -> None:
        history: list[str] = list(self._shell.user_ns.get("In", []))
        before = next((code for code in reversed(history[:-1]) if code.strip()), None)
        code = command.code or before
        if code is None:
            raise WrongUse("There is no cell before this one. Write the code below %%ai explain.")
        self._ask(command, lambda _: texts.explain(code))

    def _filled(self, prompt: str, screen: CellScreen) -> str:
        """Return the prompt with its variables, as far as their values may be sent."""
        namespace: dict[str, Any] = self._shell.user_ns
        if not names_in(prompt, namespace):
            return interpolate(prompt, {}, "schema_only")[0]
        level = self.client.settings().values.egress.data_values
        filled, withheld = interpolate(prompt, namespace, level)
        if withheld:
            screen.say(
                f"· Of {', '.join(withheld)} only the type was sent, not the value. "
                "The AI settings say what may be sent (Privacy)."
            )
        return filled

    def _conversation(self, command: Command) -> Session:
        """Return the conversation of this shell, with or without tools as the command wants."""
        tools = "enabled" if command.tools else "disabled"
        session = None if command.new else self._session
        if session is None:
            session = self.client.new_session(
                model=command.model, tools=tools, interactive=self._can_ask()
            )
        elif session.tools != tools:
            session = self.client.change_session(session.id, PatchSession(tools=tools))
        if command.model and session.model != command.model:
            change = PatchSession(model=ModelId(command.model))
            session = self.client.change_session(session.id, change)
        self._session = session
        return session

    def _can_ask(self) -> bool:
        """Return whether the front end lets a cell ask; a notebook run from outside does not."""
        kernel: Any = getattr(self._shell, "kernel", None)
        if kernel is None:
            return True  # a terminal
        request: dict[str, Any] = kernel.get_parent("shell")
        return bool(request.get("content", {}).get("allow_stdin"))

    @property
    def _shell(self) -> Any:
        return self.shell


def _look_of(command: Command) -> Callable[[str], dict[str, Any]]:
    """Return how a growing answer is shown: one that is to become something else, as its text."""
    if command.format in {"markdown", "code"}:
        return markdown
    return plain


def load(shell: Any) -> None:
    """Add the magics to a shell; a second time changes nothing."""
    if "ai" in shell.magics_manager.magics["line"]:
        return
    magics = AiMagics(shell, Client())
    shell.register_magics(magics)
    shell.input_transformer_manager.line_transforms.append(keep_question_marks)
    shell.events.register("post_run_cell", magics.last_error.heard)
