/**
 * Shows characters that are invisible or reorder text: control characters, bidirectional controls, zero-width
 * characters, tags, variation selectors, blank letters. `visible` is for text that is approved character by character
 * (code, arguments, diffs, names), `legible` for text that is read. Same rules as `wire/hidden_characters.py`, which
 * names the sources of the tables; both are tested with `tests/wire/fixtures/hidden_characters.json`.
 */

const HIDDEN =
  '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
  '\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff' +
  '\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/** Emoji and symbols with an emoji form; some blocks as a whole. */
const PICTURES =
  '\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u21ff\\u2300-\\u23ff\\u24c2\\u25a0-\\u27bf\\u2900-\\u297f' +
  '\\u2b00-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}';

/** Letters of Latin, Greek, Cyrillic and Armenian, whose words a soft hyphen may divide. */
const HYPHENATED =
  'A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u0370-\\u058f\\u1e00-\\u1fff';

/** Scripts written with joiners: Arabic to Mongolian, and those of India and its neighbours. */
const JOINED =
  '\\u0620-\\u08ff\\u0900-\\u0dff\\u0f00-\\u109f\\u1780-\\u17b3\\u17b6-\\u180a\\u1810-\\u18af\\ua840-\\ua87f' +
  '\\ua8e0-\\ua8ff\\ua980-\\ua9df\\uaa60-\\uaa7f\\ufb50-\\ufdff\\ufe70-\\ufefc\\u{11000}-\\u{11fff}\\u{1e900}-\\u{1e95f}';

/** Thai, Lao, Burmese and Khmer, where a zero-width space may divide words. */
const UNSPACED = '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17b3\\u17b6-\\u17ff';

/** The flags that emoji fonts draw from tags: England, Scotland and Wales. Other tags could hide text. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls']
  .map(region => `${Array.from(region, tagOf).join('')}\\u{e007f}`)
  .join('|');

/** A selector that makes a symbol or a keycap an emoji, or not. */
const PICTURE_FORM = `(?<=[${PICTURES}])[\\ufe0e\\ufe0f]|(?<=[0-9#*])\\ufe0f(?=\\u20e3)`;

const NEEDED = [
  PICTURE_FORM,
  `(?:(?<=[${PICTURES}])|(?<=[${PICTURES}]\\ufe0f))\\u200d(?=[${PICTURES}])`,
  `(?<=\\u{1f3f4})(?:${FLAGS})`,
  `(?<=[${JOINED}])[\\u200c\\u200d]`,
  `(?<=[${UNSPACED}])\\u200b`,
  // Letters whose shape a selector chooses.
  '(?<=[\\u1820-\\u18aa])[\\u180b-\\u180f]',
  `(?<=[${HYPHENATED}])\\u00ad(?=[${HYPHENATED}])`,
  '^\\ufeff'
].join('|');

// eslint-disable-next-line no-misleading-character-class -- marks that combine are meant one by one
const EXACT = new RegExp(`(${PICTURE_FORM})|[${HIDDEN}]`, 'gu');
const LEGIBLE = new RegExp(`(${NEEDED})|[${HIDDEN}]`, 'gu');

function tagOf(letter: string): string {
  return `\\u{e00${letter.charCodeAt(0).toString(16)}}`;
}

/** The text with each hidden character as a code, such as `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(EXACT, shown);
}

/**
 * The text with hidden characters as codes, except those that writing needs: joiners and selectors of emoji, flags,
 * joiners and zero-width spaces in scripts that use them, soft hyphens within words, a byte order mark at the start.
 */
export function legible(text: string): string {
  return text.replace(LEGIBLE, shown);
}

/** The text without the characters that `legible` shows as codes, and their number. */
export function withoutHidden(text: string): {
  readonly text: string;
  readonly hidden: number;
} {
  let hidden = 0;
  const clean = text.replace(LEGIBLE, (_, needed: string | undefined) => {
    hidden += needed === undefined ? 1 : 0;
    return needed ?? '';
  });
  return { text: clean, hidden };
}

function shown(character: string, needed: string | undefined): string {
  if (needed !== undefined) {
    return needed;
  }
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

// CSI, OSC and two-character sequences of terminals.
const ESCAPES =
  // eslint-disable-next-line no-control-regex -- terminal sequences begin with a control character
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** The text without terminal escape sequences. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, '');
}
