/**
 * Terminal text as runs of one style: colours and weights (SGR, ECMA-48 8.3.117) are kept; sequences that would move
 * the cursor, set a title or reach the clipboard are dropped. Pure; used by `TerminalText`.
 */

/** The eight terminal colours; other colours are mapped to the nearest of them. */
export const COLOURS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white'
] as const;

export type Colour = (typeof COLOURS)[number];

/** Style of a run. */
export interface ITextStyle {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly ink: Colour | null;
  readonly paper: Colour | null;
}

export interface IRun {
  readonly text: string;
  readonly style: ITextStyle;
}

/** The default style. */
export const PLAIN: ITextStyle = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  ink: null,
  paper: null
};

// In order: CSI with its parameters and final byte; OSC, DCS, SOS, PM and APC up to their terminator or the end of
// the text; character sets; single-letter sequences; an unfinished sequence.
const SEQUENCE =
  // eslint-disable-next-line no-control-regex -- terminal sequences begin with a control character
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~]|$)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)?|\u001b[ -/]+[0-~]?|\u001b[0-~]?/g;

/** The runs of a text; of an overwritten line only the last version. */
export function runsOf(text: string): IRun[] {
  const runs: IRun[] = [];
  let look = PLAIN;
  let end = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    push(runs, text.slice(end, match.index), look);
    end = match.index + match[0].length;
    if (match[2] === 'm') {
      look = changed(look, match[1] ?? '');
    }
  }
  push(runs, text.slice(end), look);
  return overwritten(runs);
}

function push(runs: IRun[], text: string, style: ITextStyle): void {
  if (text !== '') {
    runs.push({ text, style });
  }
}

/** Progress bars return to the start of their line and write it again: only the last version is shown. */
function overwritten(runs: readonly IRun[]): IRun[] {
  const shown: IRun[] = [];
  for (const { text, style } of runs) {
    for (const piece of text.replace(/\r+\n/g, '\n').split(/(?<=[\r\n])/)) {
      const words = piece.replace(/\r$/, '');
      if (words !== '') {
        dropOverwrittenLine(shown);
        push(shown, words, style);
      }
      if (words !== piece) {
        shown.push({ text: '\r', style });
      }
    }
  }
  return shown.filter(run => run.text !== '\r');
}

/** Drop a line that ends in a carriage return and is followed by more. */
function dropOverwrittenLine(shown: IRun[]): void {
  if (shown.at(-1)?.text === '\r') {
    while (shown.length > 0 && shown.at(-1)?.text.endsWith('\n') !== true) {
      shown.pop();
    }
  }
}

/** The style after an SGR sequence with these parameters. */
function changed(before: ITextStyle, parameters: string): ITextStyle {
  const codes = parameters.split(/[;:]/).map(code => Number(code || '0'));
  let look = before;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(index + 1));
      look = { ...look, [code === 38 ? 'ink' : 'paper']: colour };
      index += used;
    } else {
      look = { ...look, ...simple(code) };
    }
  }
  return look;
}

const SWITCHES: Readonly<Record<number, Partial<ITextStyle>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { ink: null },
  49: { paper: null }
};

function simple(code: number): Partial<ITextStyle> {
  const colour = COLOURS[code % 10];
  if (colour === undefined) {
    return SWITCHES[code] ?? {};
  }
  switch (Math.floor(code / 10)) {
    case 3:
    case 9:
      return { ink: colour };
    case 4:
    case 10:
      return { paper: colour };
    default:
      return SWITCHES[code] ?? {};
  }
}

/** A 256-colour or true-colour value, and the number of codes it took. */
function extended(codes: readonly number[]): [Colour | null, number] {
  const [kind, first = 0, second = 0, third = 0] = codes;
  if (kind === 5) {
    return [ofTable(first), 2];
  }
  return kind === 2 ? [nearest(first, second, third), 4] : [null, 0];
}

/** xterm's table: 16 named colours, a 6 × 6 × 6 cube, 24 greys. */
function ofTable(index: number): Colour {
  if (index < 16) {
    return COLOURS[index % 8] ?? 'white';
  }
  if (index >= 232) {
    return index < 244 ? 'black' : 'white';
  }
  const cube = index - 16;
  const shade = (step: number): number => step * 51;
  return nearest(
    shade(Math.floor(cube / 36)),
    shade(Math.floor(cube / 6) % 6),
    shade(cube % 6)
  );
}

/** The colour with the same components switched on. */
function nearest(red: number, green: number, blue: number): Colour {
  const middle = (Math.max(red, green, blue) + Math.min(red, green, blue)) / 2;
  const isGrey = Math.max(red, green, blue) - Math.min(red, green, blue) < 32;
  if (isGrey) {
    return middle < 128 ? 'black' : 'white';
  }
  const bits =
    (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return COLOURS[bits] ?? 'white';
}
