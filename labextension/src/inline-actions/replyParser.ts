/**
 * The text in an answer that is put into the user's document: what stands in its fence (the server's prompt asks for
 * one of four backticks). Pure; used by the edits in place.
 */

/** What an answer gives. */
export interface IReply {
  readonly text: string;
  /** What the fence calls it; empty where it says nothing. */
  readonly language: string;
  /** Whether all of it is there: a fence that was never closed was cut off. */
  readonly whole: boolean;
}

/** A fence at the beginning of a line: its indentation, itself, its language. */
const OPENING = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*\n/;
/** The same anywhere: a small model may say something before it. */
const LATER = /^(?:`{3,}|~{3,})[^\n`]*\n/m;
/** In prose a shorter one may be part of the text. */
const LATER_OF_PROSE = /^`{4,}[^\n`]*\n/m;
const BEGUN = /^ {0,3}(?:(?:`{3,}|~{3,})[^\n`]*|`{1,2}|~{1,2})$/;

/** Read an answer, also one that is still being written; `isProse`: fences may be part of the text itself. */
export function readReply(answer: string, isProse = false): IReply {
  const text = answer.replace(/^\s*\n/, '');
  const start = OPENING.test(text)
    ? 0
    : text.search(isProse ? LATER_OF_PROSE : LATER);
  const found = start < 0 ? null : OPENING.exec(text.slice(start));
  if (found !== null) {
    return fenced(text.slice(start + found[0].length), found, isProse);
  }
  return BEGUN.test(text)
    ? { text: '', language: '', whole: false }
    : { text: text.trimEnd(), language: '', whole: true };
}

/** Whether an answer, also one that is still being written, gives a text: others only say something. */
export function hasFence(answer: string): boolean {
  const text = answer.replace(/^\s*\n/, '');
  return OPENING.test(text) || LATER.test(text) || BEGUN.test(text);
}

function fenced(
  rest: string,
  [, indent = '', fence = '', language = '']: RegExpExecArray,
  isProse: boolean
): IReply {
  const lines = rest.split('\n');
  const end = closing(lines, fence, isProse);
  const inside = end < 0 ? withoutBegun(lines, fence) : lines.slice(0, end);
  return {
    text: inside.map(line => withoutIndent(line, indent)).join('\n'),
    language,
    whole: end >= 0
  };
}

/** Where the fence is closed; -1 when it is not. */
function closing(
  lines: readonly string[],
  fence: string,
  isProse: boolean
): number {
  const closes = (line: string): boolean => {
    const text = line.trim();
    return (
      text.length >= fence.length &&
      text === fence.charAt(0).repeat(text.length)
    );
  };
  if (!isProse || fence.length > 3) {
    return lines.findIndex(closes);
  }
  // Text with fences of its own in a fence like them: the last one is the outer one.
  const filled = lines.map(line => line.trim() !== '');
  const last = filled.lastIndexOf(true);
  return closes(lines[last] ?? '') ? last : -1;
}

/** The lines so far, without a closing fence that has only begun. */
function withoutBegun(lines: string[], fence: string): string[] {
  const last = (lines.at(-1) ?? '').trim();
  const isBegun = last !== '' && fence.startsWith(last);
  return isBegun ? lines.slice(0, -1) : lines;
}

function withoutIndent(line: string, indent: string): string {
  return line.startsWith(indent) ? line.slice(indent.length) : line;
}

/** Whether an answer's language is that of a text cell. */
export function isMarkdown(language: string): boolean {
  return /^(markdown|md)$/i.test(language);
}
