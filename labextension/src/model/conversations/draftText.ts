/** What stands in an input after a text was put there for the user: what they have written is never lost. Pure. */

/** The draft with a text behind it. */
export function appendToDraft(draft: string, text: string): string {
  return draft.trim() === '' ? text : `${draft.trimEnd()}\n${text}`;
}
