/**
 * Translates texts of the server. Logs and model input stay English; shown text is looked up in the language pack,
 * whose server messages are templates with placeholders ("Edit cell %1"), see docs/translate.md. Texts without a
 * translation stay English.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

/** Context of server messages in a language pack. */
const CONTEXT = 'server';
const PREFIX = `${CONTEXT}\u0004`;
/** Longer texts are program output, not messages. */
const MAX_LENGTH = 1000;
const MAX_CACHED = 500;
const MAX_SENTENCES = 8;
/** Values of a message may be messages, nested this deep. */
const MAX_DEPTH = 2;
/** Between two sentences. */
const SENTENCES = /(?<=[.!?])\s+(?=\S)/u;

/** A message with placeholders, as the text around them. */
interface ITemplate {
  readonly id: string;
  readonly pieces: readonly string[];
}

interface IMessages {
  readonly whole: ReadonlySet<string>;
  readonly templates: readonly ITemplate[];
  readonly remembered: Map<string, string>;
}

const messagesOf = new WeakMap<TranslationBundle, IMessages>();

/** Translate a text of the server. */
export function serverText(trans: TranslationBundle, text: string): string {
  const messages = messagesOf.get(trans) ?? collect(trans);
  if (messages.whole.size === 0 && messages.templates.length === 0) {
    return text;
  }
  const { remembered } = messages;
  const before = remembered.get(text);
  if (before !== undefined) {
    return before;
  }
  const shown = new Translation(trans, messages).of(text);
  if (remembered.size >= MAX_CACHED) {
    remembered.clear();
  }
  remembered.set(text, shown);
  return shown;
}

class Translation {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly messages: IMessages
  ) {}

  of(text: string): string {
    return text.length > MAX_LENGTH
      ? text
      : (this.message(text, 0) ??
          this.sentences(text) ??
          this.message(text, 0, true) ??
          text);
  }

  /** `loose`: a value may have several sentences; otherwise they are separate messages. */
  private message(text: string, depth: number, loose = false): string | null {
    if (this.messages.whole.has(text)) {
      return this.translated(text, []);
    }
    for (const { id, pieces } of this.messages.templates) {
      const values = valuesIn(text, pieces);
      if (values?.every(value => loose || !SENTENCES.test(value)) === true) {
        return this.translated(
          id,
          values.map(value => this.value(value, depth))
        );
      }
    }
    return this.named(text, depth);
  }

  private translated(id: string, values: readonly string[]): string {
    // eslint-disable-next-line jupyter/no-dynamic-translation -- `make gen` puts the server's messages into the catalogue
    return this.trans._p(CONTEXT, id, ...values);
  }

  /** Translate phrases, not names. */
  private value(value: string, depth: number): string {
    return depth < MAX_DEPTH && value.trim().includes(' ')
      ? (this.message(value, depth + 1) ?? value)
      : value;
  }

  /** For example "Anthropic: the key was not accepted." */
  private named(text: string, depth: number): string | null {
    const [, name, said, end] =
      /^([^:.]{1,60}: )(.+?)(\.?)$/su.exec(text) ?? [];
    if (name === undefined || said === undefined || depth >= MAX_DEPTH) {
      return null;
    }
    const shown = this.message(said, depth + 1);
    return shown === null ? null : `${name}${shown}${end ?? ''}`;
  }

  /** Several messages in a row; the longest matches first. */
  private sentences(text: string): string | null {
    const said = text.split(SENTENCES);
    if (said.length === 1 || said.length > MAX_SENTENCES) {
      return null;
    }
    const shown: string[] = [];
    let some = false;
    while (said.length > 0) {
      const [found, count] = this.longest(said);
      some ||= found !== null;
      shown.push(found ?? said.slice(0, count).join(' '));
      said.splice(0, count);
    }
    return some ? shown.join(' ') : null;
  }

  private longest(
    said: readonly string[]
  ): readonly [found: string | null, count: number] {
    for (let count = said.length; count > 0; count--) {
      const found = this.message(said.slice(0, count).join(' '), 0);
      if (found !== null) {
        return [found, count];
      }
    }
    return [null, 1];
  }
}

/** The values of a text's placeholders; null when the text does not match. */
function valuesIn(
  text: string,
  pieces: readonly string[]
): readonly string[] | null {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) {
    return null;
  }
  const values: string[] = [];
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const next = text.indexOf(piece, at);
    if (next < 0 || next + piece.length > end) {
      return null;
    }
    values.push(text.slice(at, next));
    at = next + piece.length;
  }
  return [...values, text.slice(at, end)];
}

/** The server messages of a pack, those with the most literal text first. */
function collect(trans: TranslationBundle): IMessages {
  const ids = idsIn(trans)
    .filter(id => id.startsWith(PREFIX))
    .map(id => id.slice(PREFIX.length));
  const templates = ids
    .filter(id => /%\d/u.test(id))
    .map(id => ({ id, pieces: id.replaceAll('%%', '%').split(/%\d+/u) }))
    .sort((one, other) => lengthOf(other) - lengthOf(one));
  const messages = {
    whole: new Set(ids.filter(id => !/%\d/u.test(id))),
    templates,
    remembered: new Map<string, string>()
  };
  messagesOf.set(trans, messages);
  return messages;
}

function lengthOf({ pieces }: ITemplate): number {
  return pieces.join('').length;
}

/**
 * The message ids of a pack. JupyterLab's bundle has no method for this, so they are read from its private field; if
 * it is missing, texts stay English.
 */
function idsIn(trans: TranslationBundle): readonly string[] {
  // JupyterLab's private field, present in all versions with language packs.
  const { _dictionary: byDomain } = trans as TranslationBundle & {
    readonly _dictionary?: Readonly<
      Record<
        string,
        Readonly<Record<string, Readonly<Record<string, unknown>>>>
      >
    >;
  };
  return Object.values(byDomain ?? {})
    .flatMap(byLanguage => Object.values(byLanguage))
    .flatMap(texts => Object.keys(texts));
}
