/** Inserts text into a draft without losing the text the user typed. Pure. */

/** Return the draft followed by a text. */
export function appendToDraft(draft: string, text: string): string {
  return draft.trim() === '' ? text : `${draft.trimEnd()}\n${text}`;
}
