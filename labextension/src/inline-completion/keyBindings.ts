/**
 * Key bindings of suggestions. They are ordinary JupyterLab bindings that users can change, but are handled before
 * the editor and JupyterLab: the editor would otherwise take Enter for a new line. Used by `controller.ts` while an
 * editor shows suggestions or waits for them.
 */

import { CommandRegistry } from '@lumino/commands';

/** The members of the command registry in use. */
export type IKeyedCommands = Pick<CommandRegistry, 'execute' | 'keyBindings'>;

/** Handles keys while listening is on. */
export class CompletionKeys {
  constructor(
    private readonly commands: IKeyedCommands,
    /** The commands whose keys are handled. */
    private readonly commandIds: ReadonlySet<string>,
    /** Called for another key or a click. */
    private readonly onOtherInput: () => void
  ) {}

  /** Switch listening on or off. */
  listen(isListening: boolean): void {
    const change = isListening
      ? window.addEventListener.bind(window)
      : window.removeEventListener.bind(window);
    change('keydown', this.onKey, true);
    change('pointerdown', this.onPointer, true);
  }

  private readonly onPointer = (): void => this.onOtherInput();

  private readonly onKey = (event: KeyboardEvent): void => {
    if (CommandRegistry.isModifierKeyPressed(event)) {
      return;
    }
    const binding = event.isComposing ? undefined : this.bindingOf(event);
    if (binding === undefined) {
      this.onOtherInput();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    void this.commands.execute(binding.command, binding.args);
  };

  private bindingOf(
    event: KeyboardEvent
  ): CommandRegistry.IKeyBinding | undefined {
    const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
    const { target } = event;
    return this.commands.keyBindings.find(
      ({ command, keys, selector }) =>
        this.commandIds.has(command) &&
        keys.length === 1 &&
        keys[0] === keystroke &&
        target instanceof Element &&
        target.closest(selector) !== null
    );
  }
}
