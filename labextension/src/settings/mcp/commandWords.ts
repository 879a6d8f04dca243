/** Words of a command line, quoted as in a shell. Pure. */

const PIECES = /(\s+)|'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)|([^\s'"\\]+|\\)/gsu;

/** Split a command line into words; quotes and backslashes work as in a shell. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let isInside = false;
  for (const [, gap, ...parts] of line.trim().matchAll(PIECES)) {
    const text = gap === undefined ? unquoted(parts) : '';
    if (gap !== undefined) {
      isInside = false;
    } else if (isInside) {
      words.push((words.pop() ?? '') + text);
    } else {
      words.push(text);
      isInside = true;
    }
  }
  return words;
}

/** The text of a piece: in single quotes, in double quotes, after a backslash, or bare. */
function unquoted(parts: readonly (string | undefined)[]): string {
  const [single, double, escaped, bare] = parts;
  const text = double?.replace(/\\(["\\$`])/g, '$1');
  return single ?? text ?? escaped ?? bare ?? '';
}

/** A command line that splits into these words. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./${}~-]+$/.test(word)) {
    return word;
  }
  return word.includes("'")
    ? `"${word.replace(/["\\$`]/g, '\\$&')}"`
    : `'${word}'`;
}
