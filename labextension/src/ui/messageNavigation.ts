/** Keyboard navigation among messages: PageUp goes from the input to the newest, arrows move between messages. */

import { focused } from './focus';

const MESSAGE = '.shoulders-Message';

/** Move the focus among messages if the list or a message has it; return whether the key was handled. */
export function moveMessage(list: HTMLElement, key: string): boolean {
  const now = focused();
  const messages = [...list.querySelectorAll<HTMLElement>(MESSAGE)];
  const at = messages.findIndex(message => message === now);
  if ((key !== 'ArrowUp' && key !== 'ArrowDown') || (at < 0 && now !== list)) {
    return false; // Elements inside a message have their own keys.
  }
  const from = at < 0 ? messages.length : at;
  const next = messages[key === 'ArrowUp' ? from - 1 : from + 1];
  next?.focus();
  return next !== undefined;
}

/** Focus the newest message of a panel; return whether there is one. */
export function focusNewest(within: Element | null): boolean {
  const messages = within?.querySelectorAll<HTMLElement>(MESSAGE) ?? [];
  const newest = [...messages].at(-1);
  newest?.focus();
  return newest !== undefined;
}
