/** Finds the citations of parsed Markdown, in reading order. Used by `useCitations`. */

import type { Token, Tokens } from 'marked';

import { MARKER_START, type ICitation } from '../../text/citations';
import type { ICitationToken } from './grammar';

/** Deeper citations are not found, because the search could overflow the stack. */
const MAX_DEPTH = 64;

/** Blocks keep their tokens while a text grows, so each is searched once. */
const known = new WeakMap<Token, readonly ICitation[]>();

export function citationsIn(blocks: readonly Token[]): readonly ICitation[] {
  return blocks.flatMap(citationsOfBlock);
}

function citationsOfBlock(block: Token): readonly ICitation[] {
  if (!block.raw.includes(MARKER_START)) {
    return [];
  }
  const found = known.get(block) ?? citationsOf(block, 0);
  known.set(block, found);
  return found;
}

function citationsOf(token: Token, depth: number): readonly ICitation[] {
  if (token.type === 'citation') {
    return [(token as ICitationToken).citation]; // our own tag
  }
  return depth < MAX_DEPTH
    ? childrenOf(token).flatMap(child => citationsOf(child, depth + 1))
    : [];
}

/** The tokens inside a token; none of a link, which shows markers as text. */
function childrenOf(token: Token): readonly Token[] {
  switch (token.type) {
    case 'link':
      return [];
    case 'list':
      return (token as Tokens.List).items; // marked's own tag
    case 'table': {
      const { header, rows } = token as Tokens.Table; // marked's own tag
      return [header, ...rows].flat().flatMap(({ tokens }) => tokens);
    }
    default:
      return 'tokens' in token ? (token.tokens ?? []) : [];
  }
}
