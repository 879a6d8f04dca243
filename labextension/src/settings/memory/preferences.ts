/** The preferences of the page's form: statements of the user's memory, such as `Plotting library: seaborn`. Pure. */

import type { MemoryStatement } from '../../wire/generated';

export const PREFERENCES = 'Preferences';

/** The labels, which models read and which stay the same in every language of the page. */
export const LABELS = {
  language: 'Language of answers',
  plots: 'Plotting library',
  style: 'Style of answers and code'
} as const;

export type PreferenceName = keyof typeof LABELS;

/** The statement of a preference; null if the user has not stated it. */
export function preferenceOf(
  statements: readonly MemoryStatement[],
  name: PreferenceName
): { readonly id: string; readonly value: string } | null {
  const start = `${LABELS[name]}: `;
  const found = statements.find(
    ({ section, text }) => section === PREFERENCES && text.startsWith(start)
  );
  return found === undefined
    ? null
    : { id: found.id, value: found.text.slice(start.length) };
}

/** The text of a preference's statement. */
export function preferenceText(name: PreferenceName, value: string): string {
  return `${LABELS[name]}: ${value.trim()}`;
}
