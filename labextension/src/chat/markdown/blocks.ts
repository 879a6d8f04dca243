/**
 * Splits markdown into blocks and, while text streams in, only ever looks at the last one again: a block that another
 * follows is complete. Pure; used by `Markdown`.
 */

import { Lexer, type Token, type TokensList } from 'marked';

/** Returns the blocks of a text; quick when it continues the text of the call before. */
export type Splitter = (text: string) => readonly Token[];

/** A splitter for one growing text. */
export function makeSplitter(): Splitter {
  let known = '';
  let blocks: readonly Token[] = [];
  return text => {
    if (text !== known) {
      const kept = text.startsWith(known) ? complete(blocks) : [];
      const start = kept.reduce((length, { raw }) => length + raw.length, 0);
      blocks = [...kept, ...lex(text.slice(start))];
      known = text;
    }
    return blocks;
  };
}

/** All but the last block and the blank lines after it. */
function complete(blocks: readonly Token[]): readonly Token[] {
  let last = blocks.length - 1;
  while (blocks[last]?.type === 'space') {
    last--;
  }
  return blocks.slice(0, Math.max(0, last));
}

function lex(text: string): TokensList {
  return new Lexer({ gfm: true }).lex(text);
}
