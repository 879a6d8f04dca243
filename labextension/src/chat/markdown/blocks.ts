/**
 * Splits Markdown into blocks. While text streams in, only the last block is parsed again, since a block followed by
 * another is complete. Pure; used by `Markdown`.
 */

import type { Token, Tokens } from 'marked';

import { lex, type Definitions } from './grammar';

/** Returns the blocks of a text; fast when it continues the previous text. */
export type Splitter = (text: string) => readonly Token[];

/** Create a splitter for one growing text. */
export function makeSplitter(): Splitter {
  let known = '';
  let blocks: readonly Token[] = [];
  return source => {
    const text = withoutByteOrderMark(source);
    if (text !== known) {
      blocks = extendBlocks(
        text.startsWith(known) ? completeBlocks(blocks) : [],
        text
      );
      known = text;
    }
    return blocks;
  };
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Parse a text whose first blocks are known; all of it when it defines references that those may use. */
function extendBlocks(kept: readonly Token[], text: string): readonly Token[] {
  const start = kept.reduce((length, { raw }) => length + raw.length, 0);
  const rest = lex(copyString(text.slice(start)), definitionsIn(kept));
  return kept.length > 0 && rest.some(isDefinition)
    ? lex(text)
    : [...kept, ...rest];
}

/**
 * Copy a string. Engines implement slices as views of the whole string, so each block would keep the answer at its time
 * alive.
 */
function copyString(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string; // The JSON of a string parses to a string.
}

/** All but the last block and the blank lines after it. */
function completeBlocks(blocks: readonly Token[]): readonly Token[] {
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
