/** Where `++` is meant as it is written, and asks for nothing. Pure; used by `controller.ts`. */

/** What is known of the text that `++` is typed into. */
export interface ITypingContext {
  /** As `languageOf` has it. */
  readonly language: string;
  /** Whether it stands in a comment or a string. */
  readonly isQuoted: boolean;
  /** The character before it; empty at the start of the text. */
  readonly before: string;
}

/** What people read: `C++` is a word there. */
const PROSE: ReadonlySet<string> = new Set([
  ...['', 'markdown', 'restructuredtext', 'rst', 'latex', 'stex', 'tex']
]);

/** Whether `++` is typed as it is: in prose, in languages that have it, in a word such as `C++` of a comment. */
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

/** The names the editor has for languages that everybody else calls otherwise. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  ipython: 'python',
  ipythongfm: 'markdown',
  none: ''
};

/** Languages by what names them; the registry of the lab. */
export interface ILanguages {
  /** The language of a MIME type. */
  byType(mimeType: string): string | null;
  /** The language that somebody calls so. */
  byName(name: string): string | null;
}

/** Cell magics whose names are not those of their languages. */
const MAGICS: Readonly<Record<string, string>> = {
  bash: 'shell',
  cython: 'cython',
  js: 'javascript',
  sh: 'shell'
};

/** The language of a text in lower case; of a cell that begins with a magic such as `%%html`, the magic's. */
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
  return KNOWN_AS[language] ?? language;
}
