/**
 * Detects gestures that show the user's attention is elsewhere: scrolling, and typing outside the chat. The page's
 * own scrolling does not count. Used by the follower.
 */

import type { IDisposable } from '@lumino/disposable';

/** The chat and the return button. */
const APART = '.shoulders-ChatWidget, .shoulders-Bubble, .shoulders-FollowPill';

const DOCUMENTS = '.jp-NotebookPanel, .jp-FileEditor';

/** Keys that have no effect when pressed alone. */
const QUIET_KEYS = new Set([
  ...['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'Escape'],
  ...['Fn', 'NumLock', 'ScrollLock']
]);

const EVENTS = ['wheel', 'touchmove', 'pointerdown', 'keydown', 'paste'];

/** Calls `act` for each such gesture. */
export class UserGestures implements IDisposable {
  constructor(private readonly act: () => void) {
    for (const name of EVENTS) {
      window.addEventListener(name, this.onEvent, LISTEN);
    }
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    for (const name of EVENTS) {
      window.removeEventListener(name, this.onEvent, LISTEN);
    }
  }

  private readonly onEvent = (event: Event): void => {
    if (isDistractingGesture(event)) {
      this.act();
    }
  };

  private disposed = false;
}

const LISTEN = { capture: true, passive: true };

/** Whether an event is such a gesture. */
export function isDistractingGesture(event: Event): boolean {
  const { target } = event;
  if (!(target instanceof Element) || target.closest(APART) !== null) {
    return false;
  }
  const inDocument = target.closest(DOCUMENTS) !== null;
  switch (event.type) {
    case 'wheel':
      return inDocument && !(event as WheelEvent).ctrlKey; // With Ctrl the page is zoomed.
    case 'keydown':
      return isTyping(event as KeyboardEvent, target, inDocument);
    case 'paste':
      return true;
    default:
      return inDocument;
  }
}

/** In a document every key counts; elsewhere only text input. */
function isTyping(
  { key }: KeyboardEvent,
  target: Element,
  inDocument: boolean
): boolean {
  return (
    !QUIET_KEYS.has(key) &&
    (inDocument ||
      target.matches('input, textarea') ||
      target.closest('[contenteditable=true]') !== null)
  );
}
