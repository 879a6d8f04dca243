/** What is typed about a provider, and the request it becomes. Pure; used by the forms that add and edit one. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  DetectedProvider,
  DetectProvider,
  OwnProvider,
  PutProvider
} from '../../wire/generated';

export type ApiKind = PutProvider['kind'];

/** Models that are all offered where nothing else is chosen. */
const FEW = 30;

/** Keys are shown as dots from this length on. */
const KEY_LENGTH = 12;

/** A provider as its form has it. */
export interface IProviderForm {
  readonly name: string;
  readonly kind: ApiKind;
  readonly url: string;
  readonly key: string;
  readonly auth: string;
  /** Lines of `Name: value`. */
  readonly headers: string;
  /** Whether all models that it lists are offered. */
  readonly all: boolean;
  /** The models that are offered, where not all are. */
  readonly models: readonly string[];
  /** Which of them is tried. */
  readonly model: string;
}

/** What is asked for first: a key or an address, and how a server is asked. */
export interface IAsked {
  readonly text: string;
  /** Of the server at the address. */
  readonly key: string;
  /** Whose key it is; empty to recognise it. */
  readonly provider: string;
  readonly kind: ApiKind | '';
  readonly auth: string;
  readonly headers: string;
}

/** The key that was given, in one field or the other. */
export function keyOf({ text, key }: IAsked): string {
  return isAddress(text) ? key.trim() : text.trim();
}

/** Whether enough was given to ask. */
export function canAsk({ text, headers }: IAsked): boolean {
  return text.trim() !== '' && headersOf(headers) !== null;
}

/** The request that finds out what was given. */
export function requestOf(asked: IAsked): DetectProvider {
  const { text, provider, kind, auth, headers } = asked;
  const key = keyOf(asked);
  if (!isAddress(text)) {
    return provider === '' ? { key } : { key, provider };
  }
  const more = { auth: authOf(auth), headers: headersOf(headers) ?? {} };
  const server = { address: text.trim(), key, ...more };
  return kind === '' ? server : { ...server, kind };
}

/** The form of what was found. */
export function formOfDetected(
  found: DetectedProvider,
  typed: { key: string; auth: string; headers: string }
): IProviderForm {
  const { name, kind, url, models } = found;
  const all = models.length > 0 && models.length <= FEW;
  const model = models[0]?.name ?? '';
  return {
    ...typed,
    name,
    kind,
    url,
    all,
    models: [],
    model: all ? model : ''
  };
}

/** The form of what the user's file says. */
export function formOfOwn(own: OwnProvider): IProviderForm {
  const { name, kind, url, auth, models } = own;
  return {
    ...{ name, kind, url, auth, models, key: '' },
    headers: Object.entries(own.headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    all: own.list_models,
    model: models[0] ?? ''
  };
}

/** The request; `isNew`: there must be no provider of this id yet. */
export function bodyOf(
  form: IProviderForm,
  isNew: boolean,
  untested: boolean
): PutProvider {
  const { name, kind, url, key, auth, all, model } = form;
  const models = all ? [] : [...form.models];
  return {
    ...{ name: name.trim(), kind, url: url.trim(), key: key.trim() },
    ...{ auth: authOf(auth), headers: headersOf(form.headers) ?? {} },
    ...{ list_models: all, models, new: isNew, untested },
    model: all || models.includes(model) ? model : (models[0] ?? '')
  };
}

/** What keeps a form from being saved; empty where nothing does. */
export function problemOf(
  form: IProviderForm,
  trans: TranslationBundle
): string {
  if (form.name.trim() === '') {
    return trans.__('Enter a name.');
  }
  if (form.url.trim() === '') {
    return trans.__('Enter an address.');
  }
  if (headersOf(form.headers) === null) {
    return trans.__('Write each header on its own line, as “Name: value”.');
  }
  return form.all || form.models.length > 0
    ? ''
    : trans.__('Choose at least one model.');
}

/** Headers of lines of `Name: value`; null where a line is none. */
export function headersOf(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const pairs = lines.map(line => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line));
  return pairs.every(pair => pair !== null)
    ? Object.fromEntries(pairs.map(pair => [pair[1] ?? '', pair[2] ?? '']))
    : null;
}

/** The way a key is sent: a header's name stands for itself. */
export function authOf(text: string): string {
  const typed = text.trim();
  return typed === '' || /^(bearer|none|header:.*)$/.test(typed)
    ? typed
    : `header:${typed}`;
}

const SCHEME = /^[a-z]+:\/\//i;
const PLACE =
  /^(\[[0-9a-f:]+\]|localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(?=:\d))(:\d+)?(\/\S*)?$/;

/** Whether what was pasted is an address, and no key. */
export function isAddress(text: string): boolean {
  const typed = text.trim();
  return SCHEME.test(typed) || PLACE.test(typed);
}

/** Whether what is typed should be shown as dots. */
export function isSecret(text: string): boolean {
  return text.trim().length >= KEY_LENGTH && !isAddress(text);
}
