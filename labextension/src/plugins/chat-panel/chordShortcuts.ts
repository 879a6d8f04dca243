/**
 * Our shortcuts of two keys, also where an editor takes keys for itself, as Vim does in normal mode: the lab hears of keys
 * behind the editor, which never passes the second one on. Made by the chat plugin.
 */

import { CommandRegistry } from '@lumino/commands';

/** The first key of our shortcuts. */
const FIRST = 'Accel ;';
/** How long the lab waits for the second one, in ms. */
const WAIT_MS = 1000;

/** Let the commands hear our first key, and the one behind it, before what has the focus does. */
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
