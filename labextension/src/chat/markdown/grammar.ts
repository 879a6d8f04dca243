/**
 * The Markdown of models: GitHub's dialect, citations (`text/citations.ts`), and mathematics between `$`, `$$`,
 * `\(` `\)`, `\[` `\]` or in a TeX environment. Mathematics stays source text until JupyterLab's typesetter renders it;
 * it contains no Markdown. Used by the splitter and `Markdown`.
 */

import {
  Marked,
  type RendererExtension,
  type Token,
  type TokenizerExtension,
  type Tokens
} from 'marked';

import { citationAt, MARKER_START, type ICitation } from '../../text/citations';

/** Class of an element whose text is the marker of a citation. */
export const CITATION = 'shoulders-Citation';

/** Class of an element whose text is TeX, and of a displayed one. */
export const MATH = 'shoulders-Math';
export const DISPLAY = `${MATH} shoulders-mod-display`;

const ENVIRONMENTS =
  'equation|align|alignat|gather|multline|eqnarray|flalign|split|cases|[bBpvV]?matrix|array';

/**
 * A displayed formula at the start of a line, of bounded length to keep the search short. Without an end, while
 * streaming, it extends to a blank line.
 */
const BLOCKS: readonly RegExp[] = [
  /^ {0,3}\$\$((?:\\[^]|[^\\$]|\$(?!\$)){1,4000}?)\$\$ *(?:\n|$)/,
  /^ {0,3}\\\[((?:\\[^\]]|[^\\]){1,4000}?)\\\] *(?:\n|$)/,
  new RegExp(
    `^ {0,3}(\\\\begin\\{((?:${ENVIRONMENTS})\\*?)\\}[^]{1,4000}?\\\\end\\{\\2\\}) *(?:\\n|$)`
  ),
  /^ {0,3}\$\$ *(\n(?:[^\n]+\n?)*)$/,
  /^ {0,3}\\\[ *(\n(?:[^\n]+\n?)*)$/
];
const BLOCK_START = new RegExp(
  `\\n {0,3}(?:\\$\\$|\\\\\\[|\\\\begin\\{(?:${ENVIRONMENTS})\\*?\\})`
);

// Excludes amounts of money: no space after the first `$` or before the last, no digit after the last.
const INLINE: readonly (readonly [RegExp, boolean])[] = [
  [/^\$\$((?:\\[^]|[^\\$]){1,2000}?)\$\$/, true],
  [
    /^\$(?![\s$])((?:\\[^]|[^\\$\n]|\n(?!\n)){0,2000}?(?:\\[^\s]|[^\s\\$]))\$(?!\d)/,
    false
  ],
  [/^\\\(((?:\\[^)]|[^\\]){1,2000}?)\\\)/, false],
  [/^\\\[((?:\\[^\]]|[^\\]){1,2000}?)\\\]/, true]
];

interface IMath extends Tokens.Generic {
  type: 'math';
  text: string;
  display: boolean;
}

const blockMath: TokenizerExtension = {
  name: 'math',
  level: 'block',
  start: source => {
    const at = source.search(BLOCK_START);
    return at < 0 ? undefined : at + 1;
  },
  tokenizer: source => {
    for (const form of BLOCKS) {
      const found = form.exec(source);
      if (found !== null) {
        return math(found[0], found[1] ?? '', true);
      }
    }
    return undefined;
  }
};

const inlineMath: TokenizerExtension & RendererExtension = {
  name: 'math',
  level: 'inline',
  start: source => {
    const at = source.search(/\$|\\[([]/);
    return at < 0 ? undefined : at;
  },
  tokenizer: source => {
    for (const [form, display] of INLINE) {
      const found = form.exec(source);
      if (found !== null) {
        return math(found[0], found[1] ?? '', display);
      }
    }
    return undefined;
  },
  renderer: token => {
    const { text, display } = token as IMath; // created above
    const element = `<span class="${display ? DISPLAY : MATH}">`;
    return `${element}${escaped(text)}</span>`;
  }
};

function math(raw: string, text: string, display: boolean): IMath {
  return { type: 'math', raw, text: text.trim(), display };
}

/** A citation in a text. */
export interface ICitationToken extends Tokens.Generic {
  type: 'citation';
  citation: ICitation;
}

const citation: TokenizerExtension & RendererExtension = {
  name: 'citation',
  level: 'inline',
  start: source => {
    const at = source.indexOf(MARKER_START);
    return at < 0 ? undefined : at;
  },
  tokenizer: source => {
    const found = citationAt(source);
    return found === null ? undefined : { type: 'citation', ...found };
  },
  renderer: ({ raw }) => `<span class="${CITATION}">${escaped(raw)}</span>`
};

function escaped(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;');
}

const grammar = new Marked({ gfm: true }).use({
  extensions: [blockMath, inlineMath, citation]
});

/** The reference definitions of a text, by name. */
export type Definitions = Readonly<
  Record<string, Pick<Tokens.Def, 'href' | 'title'>>
>;

/** The blocks of a text, resolving references defined in it or in `known`. */
export function lex(text: string, known: Definitions = {}): readonly Token[] {
  const lexer = new grammar.Lexer(grammar.defaults);
  Object.assign(lexer.tokens.links, known);
  return unlessTooDeep(() => lexer.lex(text)) ?? [plain(text)];
}

/** The HTML of a block, not yet sanitised. */
export function toHtml(block: Token): string {
  const html = unlessTooDeep(() =>
    grammar.Parser.parse([block], grammar.defaults)
  );
  return html ?? escaped(block.raw);
}

/** The HTML of inline text, not yet sanitised. */
export function toInlineHtml(tokens: Token[]): string {
  const html = unlessTooDeep(() =>
    grammar.Parser.parseInline(tokens, grammar.defaults)
  );
  return html ?? escaped(tokens.map(({ raw }) => raw).join(''));
}

/** The result of `make`; null if nesting overflows the stack, as no honest text does. */
function unlessTooDeep<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) {
      return null;
    }
    throw error;
  }
}

/** Unparsed source. */
export function plain(raw: string): Tokens.Code {
  return { type: 'code', raw, text: raw };
}
