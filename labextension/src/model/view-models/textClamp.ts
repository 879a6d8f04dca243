/** How much of a long message is shown at first. Pure; used by the user's bubble. */

/** Lines and characters of a message shown at first. */
export const MAX_LINES = 5;
export const MAX_CHARACTERS = 300;

/** The beginning of a text, cut between words where one ends near enough; the text itself when it is short. */
export function clampText(text: string): string {
  const lines = text.split('\n');
  const few =
    lines.length > MAX_LINES ? lines.slice(0, MAX_LINES).join('\n') : text;
  if (few.length <= MAX_CHARACTERS) {
    return few === text ? text : `${few.trimEnd()}…`;
  }
  const cut = few.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
  return `${cut.replace(/\s\S{0,20}$/, '').trimEnd()}…`;
}
