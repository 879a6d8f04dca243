/** Where the next word of a suggestion ends, for accepting it word by word. Pure; used by `controller.ts`. */

const WORD = /^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+)/u;

/** The beginning of a text up to the end of its first word or run of signs, with the blanks before it. */
export function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? text;
}
