/**
 * Extracts the text for the user's document from an answer: the content of its fence (the server's prompt asks for
 * one of four backticks). Pure; used by in-place edits.
 */

/** The parsed answer. */
export interface IReply {
  readonly text: string;
  /** The fence's language; empty without one. */
  readonly language: string;
  /** Whether the fence is closed; otherwise the answer is truncated. */
  readonly isComplete: boolean;
}

/** A fence at the beginning of a line: indentation, fence, language. */
const OPENING = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*\n/;
/** A fence further down: small models may write something before it. */
const INNER_OPENING = /^(?:`{3,}|~{3,})[^\n`]*\n/m;
/** In prose a shorter fence may be part of the text. */
const INNER_OPENING_OF_PROSE = /^`{4,}[^\n`]*\n/m;
const PARTIAL_FENCE = /^ {0,3}(?:(?:`{3,}|~{3,})[^\n`]*|`{1,2}|~{1,2})$/;

/** Parse a complete or partial answer; `isProse`: fences may be part of the text itself. */
export function readReply(answer: string, isProse = false): IReply {
  const text = answer.replace(/^\s*\n/, '');
  const start = OPENING.test(text)
    ? 0
    : text.search(isProse ? INNER_OPENING_OF_PROSE : INNER_OPENING);
  const found = start < 0 ? null : OPENING.exec(text.slice(start));
  if (found !== null) {
    return fenced(text.slice(start + found[0].length), found, isProse);
  }
  return PARTIAL_FENCE.test(text)
    ? { text: '', language: '', isComplete: false }
    : { text: text.trimEnd(), language: '', isComplete: true };
}

/** Whether a complete or partial answer contains a text for the document; others are comments only. */
export function hasFence(answer: string): boolean {
  const text = answer.replace(/^\s*\n/, '');
  return (
    OPENING.test(text) || INNER_OPENING.test(text) || PARTIAL_FENCE.test(text)
  );
}

function fenced(
  rest: string,
  [, indent = '', fence = '', language = '']: RegExpExecArray,
  isProse: boolean
): IReply {
  const lines = rest.split('\n');
  const end = closing(lines, fence, isProse);
  const inside =
    end < 0 ? withoutPartialFence(lines, fence) : lines.slice(0, end);
  return {
    text: inside.map(line => withoutIndent(line, indent)).join('\n'),
    language,
    isComplete: end >= 0
  };
}

/** The line of the closing fence; -1 without one. */
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
  // A text may contain fences like its own: the last one is the outer fence.
  const filled = lines.map(line => line.trim() !== '');
  const last = filled.lastIndexOf(true);
  return closes(lines[last] ?? '') ? last : -1;
}

/** The lines so far, without a partial closing fence. */
function withoutPartialFence(lines: string[], fence: string): string[] {
  const last = (lines.at(-1) ?? '').trim();
  const isBegun = last !== '' && fence.startsWith(last);
  return isBegun ? lines.slice(0, -1) : lines;
}

function withoutIndent(line: string, indent: string): string {
  return line.startsWith(indent) ? line.slice(indent.length) : line;
}

/** Whether an answer's language means a text cell. */
export function isMarkdown(language: string): boolean {
  return /^(markdown|md)$/i.test(language);
}
