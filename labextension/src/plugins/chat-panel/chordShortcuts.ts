/**
 * Makes this extension's two-key shortcuts work in editors that handle keys themselves, like Vim in normal mode:
 * JupyterLab receives keys after the editor, which never passes the second one on. Used by the chat plugin.
 */

import { CommandRegistry } from '@lumino/commands';

/** The first key of the shortcuts. */
const FIRST = 'Accel ;';
/** JupyterLab's timeout for the second key, in ms. */
const WAIT_MS = 1000;

/** Pass the first key and the next one to the commands before the focused element gets them. */
export function captureChordShortcuts(
  commands: CommandRegistry,
  target: EventTarget = document
): () => void {
  const first = CommandRegistry.normalizeKeystroke(FIRST);
  let begun = -Infinity;
  const onKey = (event: Event): void => {
    if (!(event instanceof KeyboardEvent)) {
      return;
    }
    const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
    if (keystroke === '' || CommandRegistry.isModifierKeyPressed(event)) {
      return;
    }
    const isSecond = event.timeStamp - begun < WAIT_MS;
    begun = keystroke === first && !isSecond ? event.timeStamp : -Infinity;
    if (isSecond || keystroke === first) {
      commands.processKeydownEvent(event);
    }
  };
  target.addEventListener('keydown', onKey, true);
  return () => target.removeEventListener('keydown', onKey, true);
}
