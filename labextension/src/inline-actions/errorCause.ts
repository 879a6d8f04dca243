/**
 * The cause of an error in one line: the exception and the user's line that raised it. Read from the traceback of an
 * error output, without a model. Pure; used by the bar above tracebacks.
 */

import { visible, withoutEscapes } from '../text/hiddenCharacters';

/** The cause of an error. */
export interface ICause {
  /** For example `NameError`. */
  readonly name: string;
  /** The first line of the message; may be empty. */
  readonly message: string;
  readonly line: IFailingLine | null;
}

/** The last line of the user's own code in the traceback. */
export interface IFailingLine {
  /** From 1. */
  readonly number: number;
  readonly code: string;
  /** Prompt number of the line's cell; null when the kernel does not give it. */
  readonly prompt: number | null;
}

const MAX_LENGTH = 300;
/** `Cell In[3], line 2` of IPython 8, `Input In [3], in <cell line: 2>()` of 7 and 8.0. */
const FRAME =
  /^\s*(?:File )?(?:Cell|Input) In ?\[(\d+)\](?:, line (\d+))?(?:, in .*)?/;
/** `<ipython-input-3-0c…> in <module>` of IPython 7. */
const OLD_FRAME = /^<ipython-input-(\d+)-\w+> in /;
/** Frames of files begin like this; their lines are not the user's cell. */
const FILE_FRAME = /^\s*File (?!.*\bIn ?\[)/;
const ARROW = /^-+> ?(\d+) ?(.*)$/;
/** The caret line below the source line of a syntax error. */
const CARET = /^\s*\^+\s*$/;

/** Read the cause from an nbformat error output. */
export function causeOf({
  ename,
  evalue,
  traceback
}: Readonly<Record<string, unknown>>): ICause {
  const lines = Array.isArray(traceback) ? traceback.map(String) : [];
  return {
    name: cut(plain(ename)),
    message: cut(plain(evalue).split('\n')[0] ?? ''),
    line: failingLine(plain(lines.join('\n')).split('\n'))
  };
}

function plain(text: unknown): string {
  return typeof text === 'string' ? withoutEscapes(text) : '';
}

function failingLine(lines: readonly string[]): IFailingLine | null {
  let frame: IFrame | null = null;
  let found: IFailingLine | null = null;
  lines.forEach((line, index) => {
    const next = frameOf(line);
    if (next !== undefined) {
      frame = next;
    } else if (frame !== null) {
      found = lineIn(frame, line, lines[index + 1]) ?? found;
    }
  });
  return found;
}

/** A frame in a cell; `line` is set if its header has it. */
interface IFrame {
  readonly prompt: number;
  readonly line: number | null;
}

/** The frame that a line begins: null for one in a file, undefined for none. */
function frameOf(line: string): IFrame | null | undefined {
  const [, prompt, number] = FRAME.exec(line) ?? OLD_FRAME.exec(line) ?? [];
  if (prompt !== undefined) {
    const stated = number === undefined ? null : Number(number);
    return { prompt: Number(prompt), line: stated };
  }
  return FILE_FRAME.test(line) ? null : undefined;
}

function lineIn(
  { prompt, line: stated }: IFrame,
  line: string,
  below = ''
): IFailingLine | null {
  const [, number, code = ''] = ARROW.exec(line) ?? [];
  if (number !== undefined) {
    return { number: Number(number), code: cut(code), prompt };
  }
  return stated !== null && CARET.test(below)
    ? { number: stated, code: cut(line), prompt }
    : null;
}

function cut(text: string): string {
  const shown = visible(text.trim());
  return shown.length > MAX_LENGTH
    ? `${shown.slice(0, MAX_LENGTH - 1)}…`
    : shown;
}
