/** Where `++` is literal and requests no suggestions. Pure; used by `controller.ts`. */

/** The surroundings of a typed `++`. */
export interface ITypingContext {
  /** As `languageOf` returns it. */
  readonly language: string;
  /** Whether it is in a comment or a string. */
  readonly isQuoted: boolean;
  /** The character before it; empty at the start of the text. */
  readonly before: string;
}

/** Languages of prose, in which `C++` is a word. */
const PROSE: ReadonlySet<string> = new Set([
  ...['', 'markdown', 'restructuredtext', 'rst', 'latex', 'stex', 'tex']
]);

/** Whether `++` is literal: in prose, in languages with that operator, in a word such as `C++` of a comment. */
export function isLiteralPlusPlus(
  { language, isQuoted, before }: ITypingContext,
  skipped: readonly string[]
): boolean {
  return (
    PROSE.has(language) ||
    skipped.includes(language) ||
    (isQuoted && /[\p{L}\p{N}_+]/u.test(before))
  );
}

/** Common names of languages that JupyterLab names differently. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  ipython: 'python',
  ipythongfm: 'markdown',
  none: ''
};

/** JupyterLab's language registry. */
export interface ILanguages {
  /** The language of a MIME type. */
  byType(mimeType: string): string | null;
  /** The language with a common name. */
  byName(name: string): string | null;
}

/** Cell magics that differ from their language's name. */
const MAGICS: Readonly<Record<string, string>> = {
  bash: 'shell',
  cython: 'cython',
  js: 'javascript',
  sh: 'shell'
};

/** The language of a text in lower case; for a cell with a magic such as `%%html`, the magic's. */
export function languageOf(
  mimeType: string,
  text: string,
  languages: ILanguages
): string {
  const own = languages.byType(mimeType)?.toLowerCase() ?? '';
  const magic = own === 'ipython' ? /^\s*%%(\w+)/.exec(text)?.[1] : undefined;
  const named =
    magic === undefined ? null : languages.byName(MAGICS[magic] ?? magic);
  const language = named?.toLowerCase() ?? own;
  return COMMON_NAMES[language] ?? language;
}
