/**
 * Splits markdown into blocks and, while text streams in, only ever looks at the last one again: a block that another
 * follows is complete. Pure; used by `Markdown`.
 */

import type { Token, Tokens } from 'marked';

import { lex, type Definitions } from './grammar';

/** Returns the blocks of a text; quick when it continues the text of the call before. */
export type Splitter = (text: string) => readonly Token[];

/** A splitter for one growing text. */
export function makeSplitter(): Splitter {
  let known = '';
  let blocks: readonly Token[] = [];
  return text => {
    if (text !== known) {
      blocks = grown(text.startsWith(known) ? complete(blocks) : [], text);
      known = text;
    }
    return blocks;
  };
}

/** The blocks of a text whose first ones are known; all anew when names are defined that those may refer to. */
function grown(kept: readonly Token[], text: string): readonly Token[] {
  const start = kept.reduce((length, { raw }) => length + raw.length, 0);
  const rest = lex(alone(text.slice(start)), definitionsIn(kept));
  return kept.length > 0 && rest.some(isDefinition)
    ? lex(text)
    : [...kept, ...rest];
}

/**
 * The same text, by itself. Engines let a piece of a text hold all of it: each block would keep alive what the whole
 * answer was when the block came.
 */
function alone(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string; // What was written as a text is one.
}

/** All but the last block and the blank lines after it. */
function complete(blocks: readonly Token[]): readonly Token[] {
  let last = blocks.length - 1;
  while (blocks[last]?.type === 'space') {
    last--;
  }
  return blocks.slice(0, Math.max(0, last));
}

function isDefinition(token: Token): token is Tokens.Def {
  return token.type === 'def';
}

function definitionsIn(blocks: readonly Token[]): Definitions {
  const found = blocks.filter(isDefinition);
  return Object.fromEntries(found.map(token => [token.tag, token]));
}
