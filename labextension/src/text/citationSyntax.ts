/**
 * Citations in the text of Markdown: Pandoc's `[@key]`, MyST's `{cite}` roles, LaTeX's `\cite`. The rules are those of
 * `jupyter_ai_shoulders/references/citation_syntax.py`; pure.
 */

import type { CitationText } from '../wire/generated';

export type CitationSyntax = CitationText['syntax'];

/** A citation; positions are offsets in the text that was searched. */
export interface ICitation {
  readonly keys: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly syntax: CitationSyntax;
  /** Pandoc's `@key` without brackets, which may also be the name of a person. */
  readonly isBare: boolean;
}

const ROLE = /\{cite[a-z]*(?::[a-z]+)?\}`([^`]{1,4000})`/g;
const BRACKETED = /(?<!\\)\[([^[\]]{1,4000})\](?![([])/g;
const PANDOC_KEY =
  /(?<![\w\\@./])-?@(?:\{([^{}\s]{1,256})\}|(\w(?:\w|[:.#$%&\-+?<>~/](?=\w)){0,255}))/g;
const LATEX =
  /\\[A-Za-z]{0,20}[cC]ite[a-zA-Z]{0,20}\*?(?:\s{0,4}\[[^\]]{0,2000}\]){0,2}\s{0,4}\{([^{}]{1,4000})\}/g;
/** Quarto's cross-references. */
const CROSS_REFERENCE =
  /^(?:fig|tbl|sec|eq|lst|thm|lem|cor|prp|cnj|def|exm|exr|sol|rem|nte|tip|wrn|imp|cau)-/;
const FENCE =
  /^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|$(?![\s\S]))/gm;
const INLINE_CODE = /(\{cite[a-z:]*\})?(`+)(?!`)[\s\S]*?[^`]\2(?!`)/g;

/** The citations of a Markdown text in order; code has none. */
export function findCitations(source: string): readonly ICitation[] {
  const prose = withoutCode(source);
  const found = [
    ...matches(prose, ROLE, 'myst', keys => splitKeys(keys)),
    ...matches(prose, BRACKETED, 'pandoc', pandocKeys),
    ...matches(prose, LATEX, 'latex', keys => splitKeys(keys))
  ];
  const bare = [...prose.matchAll(PANDOC_KEY)]
    .map(match => bareCitation(match))
    .filter(
      ({ keys: [key = ''], start }) =>
        !CROSS_REFERENCE.test(key) &&
        !prose.startsWith('](', start - 2) && // the target of a link
        !found.some(other => other.start <= start && start < other.end)
    );
  return [...found, ...bare].sort((a, b) => a.start - b.start);
}

/** The syntax that most citations of a text have; null where it has none. */
export function detectSyntax(source: string): CitationSyntax | null {
  const counts = { myst: 0, pandoc: 0, latex: 0 };
  for (const { syntax, isBare } of findCitations(source)) {
    counts[syntax] += isBare ? 0 : 1;
  }
  const order: CitationSyntax[] = ['myst', 'pandoc', 'latex'];
  const best = order.reduce((a, b) => (counts[b] > counts[a] ? b : a));
  return counts[best] > 0 ? best : null;
}

/** The text that cites works together. */
export function citationText(
  keys: readonly string[],
  syntax: CitationSyntax
): string {
  switch (syntax) {
    case 'myst':
      return `{cite}\`${keys.join(',')}\``;
    case 'pandoc':
      return `[${keys.map(key => `@${key}`).join('; ')}]`;
    case 'latex':
      return `\\cite{${keys.join(',')}}`;
  }
}

/** A change of a text. */
export interface IInsertion {
  readonly at: number;
  readonly text: string;
}

/** How a key is added at a place: to the citation there, or as a new one. Null if that already has the key. */
export function insertionOf(
  source: string,
  at: number,
  key: string,
  fallback: CitationSyntax
): IInsertion | null {
  const around = findCitations(source).find(
    ({ start, end, isBare }) => !isBare && start < at && at <= end
  );
  if (around !== undefined) {
    const separator = around.syntax === 'pandoc' ? '; @' : ',';
    return around.keys.includes(key)
      ? null
      : { at: around.end - 1, text: separator + key };
  }
  const before = source.slice(0, at);
  const gap = /[\w)\].,;:!?"'*]$/.test(before) ? ' ' : '';
  const syntax = detectSyntax(source) ?? fallback;
  return { at, text: gap + citationText([key], syntax) };
}

/** The key that is being typed. */
export interface IKeyContext {
  /** Offset of the key's first character in the text before the caret. */
  readonly from: number;
  readonly prefix: string;
  /** The character that ends the citation when the caret has nothing after it. */
  readonly close: '' | ']' | '`' | '}';
}

const TYPED: readonly [RegExp, IKeyContext['close']][] = [
  [/\{cite[a-z]*(?::[a-z]+)?\}`(?:[^`\n]*,\s*)?([^`,\s]*)$/, '`'],
  [
    /\\[A-Za-z]{0,20}[cC]ite[a-zA-Z]{0,20}\*?(?:\[[^\]\n]*\]){0,2}\{(?:[^{}\n]*,\s*)?([^{},\s]*)$/,
    '}'
  ],
  [/\[[^[\]\n]*(?<![\w\\@./])-?@([\w:.#$%&\-+?<>~/]*)$/, ']'],
  [/(?<![\w\\@./`])-?@([\w:.#$%&\-+?<>~/]*)$/, '']
];

/** The key that ends at the caret of a line, given the line's text before the caret; null outside citations. */
export function keyContext(before: string): IKeyContext | null {
  for (const [pattern, close] of TYPED) {
    const prefix = pattern.exec(before)?.[1];
    if (prefix !== undefined) {
      return { from: before.length - prefix.length, prefix, close };
    }
  }
  return null;
}

/** The text with code replaced by spaces, so that offsets stay. */
function withoutCode(source: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  return source
    .replace(FENCE, blank)
    .replace(INLINE_CODE, (text, role: string | undefined) =>
      role === undefined ? blank(text) : text
    );
}

function* matches(
  prose: string,
  pattern: RegExp,
  syntax: CitationSyntax,
  keysOf: (inner: string) => readonly string[]
): Generator<ICitation> {
  for (const match of prose.matchAll(pattern)) {
    const keys = keysOf(match[1] ?? '');
    if (keys.length > 0) {
      const start = match.index;
      const end = start + match[0].length;
      yield { keys, start, end, syntax, isBare: false };
    }
  }
}

function bareCitation(match: RegExpExecArray): ICitation {
  const start = match.index;
  return {
    keys: [match[1] ?? match[2] ?? ''],
    start,
    end: start + match[0].length,
    syntax: 'pandoc',
    isBare: true
  };
}

function splitKeys(text: string): readonly string[] {
  return text
    .replace(/\{[^{}]*\}/g, '')
    .split(/[,;]/)
    .map(key => key.trim())
    .filter(key => key !== '');
}

function pandocKeys(text: string): readonly string[] {
  return [...text.matchAll(PANDOC_KEY)]
    .map(match => match[1] ?? match[2] ?? '')
    .filter(key => !CROSS_REFERENCE.test(key));
}
