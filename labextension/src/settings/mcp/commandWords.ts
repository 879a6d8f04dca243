/** Words of a command line, quoted as in a shell. Pure. */

/** Split a command line into words; quotes and backslashes work as in a shell. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  const pieces = /\s+|'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)|([^\s'"\\]+|\\)/gsu;
  let word: string | null = null;
  for (const [whole, single, double, escaped, bare] of line.matchAll(pieces)) {
    if (/^\s+$/.test(whole)) {
      if (word !== null) {
        words.push(word);
      }
      word = null;
    } else {
      const text = double?.replace(/\\(["\\$`])/g, '$1');
      word = (word ?? '') + (single ?? text ?? escaped ?? bare ?? '');
    }
  }
  return word === null ? words : [...words, word];
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
