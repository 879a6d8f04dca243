/**
 * Makes characters visible that could hide or reorder what the user approves: bidirectional controls, zero-width and
 * tag characters (chapter 13). Used wherever code, arguments, diffs and file names are shown.
 */

// Bidirectional controls, zero-width characters, soft hyphen, invisible operators, fillers and blanks that are no spaces,
// tags, the variation selectors that no picture needs, other controls.
const HIDDEN =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with each hidden character spelt out, as in `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, character => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

// CSI, OSC and two-character sequences of terminals.
const ESCAPES =
  // eslint-disable-next-line no-control-regex -- terminal sequences begin with a control character
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** The text without what would colour or move about in a terminal. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, '');
}
