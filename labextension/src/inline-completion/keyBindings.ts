/**
 * The keys of suggestions. They are ordinary key bindings of the lab, for the user to change, but taken before the
 * editor and the lab see them: of the two the editor comes first, and would make a new line of Enter. Used by
 * `controller.ts` while an editor shows or awaits something.
 */

import { CommandRegistry } from '@lumino/commands';

/** The part of the lab's commands that is used. */
export type IKeyedCommands = Pick<CommandRegistry, 'execute' | 'keyBindings'>;

/** Listens while it is told to. */
export class CompletionKeys {
  constructor(
    private readonly commands: IKeyedCommands,
    /** The commands whose keys these are. */
    private readonly own: ReadonlySet<string>,
    /** Another key, or a click. */
    private readonly other: () => void
  ) {}

  /** Begin or end to listen. */
  listen(isListening: boolean): void {
    const change = isListening
      ? window.addEventListener.bind(window)
      : window.removeEventListener.bind(window);
    change('keydown', this.onKey, true);
    change('pointerdown', this.onPointer, true);
  }

  private readonly onPointer = (): void => this.other();

  private readonly onKey = (event: KeyboardEvent): void => {
    if (CommandRegistry.isModifierKeyPressed(event)) {
      return;
    }
    const binding = event.isComposing ? undefined : this.bindingOf(event);
    if (binding === undefined) {
      this.other();
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
        this.own.has(command) &&
        keys.length === 1 &&
        keys[0] === keystroke &&
        target instanceof Element &&
        target.closest(selector) !== null
    );
  }
}
