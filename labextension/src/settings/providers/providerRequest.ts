/**
 * The state of the provider forms and the requests made from it. Pure; used by the forms that add and edit providers.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  DetectedProvider,
  DetectProvider,
  OwnProvider,
  PutProvider
} from '../../wire/generated';

export type ApiKind = PutProvider['kind'];

/** Up to this many models are all offered by default. */
const MAX_DEFAULT_MODELS = 30;

/** From this length on a text is masked like a key. */
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
  /** Whether all listed models are offered. */
  readonly all: boolean;
  /** The offered models, unless all are. */
  readonly models: readonly string[];
  /** The model to test. */
  readonly model: string;
}

/** The first step: a key or an address, and how to call the server. */
export interface IDetectionInput {
  readonly text: string;
  /** Key of the server at the address. */
  readonly key: string;
  /** Provider of the key; empty to recognise it. */
  readonly provider: string;
  readonly kind: ApiKind | '';
  readonly auth: string;
  readonly headers: string;
}

/** The key, from either field. */
export function keyOf({ text, key }: IDetectionInput): string {
  return isAddress(text) ? key.trim() : text.trim();
}

/** Whether the input suffices for detection. */
export function canDetect({ text, headers }: IDetectionInput): boolean {
  return text.trim() !== '' && headersOf(headers) !== null;
}

/** The detection request. */
export function requestOf(asked: IDetectionInput): DetectProvider {
  const { text, provider, kind, auth, headers } = asked;
  const key = keyOf(asked);
  if (!isAddress(text)) {
    return provider === '' ? { key } : { key, provider };
  }
  const more = { auth: authOf(auth), headers: headersOf(headers) ?? {} };
  const server = { address: text.trim(), key, ...more };
  return kind === '' ? server : { ...server, kind };
}

/** The form of a detected provider. */
export function formOfDetected(
  found: DetectedProvider,
  typed: { key: string; auth: string; headers: string }
): IProviderForm {
  const { name, kind, url, models } = found;
  const all = models.length > 0 && models.length <= MAX_DEFAULT_MODELS;
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

/** The form of a provider in the user's file. */
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

/** The request; `isNew` fails if a provider with this id exists. */
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

/** Why the form cannot be saved; empty if it can. */
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

/** Parse lines of `Name: value`; null if a line is invalid. */
export function headersOf(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const pairs = lines.map(line => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line));
  return pairs.every(pair => pair !== null)
    ? Object.fromEntries(pairs.map(pair => [pair[1] ?? '', pair[2] ?? '']))
    : null;
}

/** How the key is sent; any other text is the name of a header. */
export function authOf(text: string): string {
  const typed = text.trim();
  return typed === '' || /^(bearer|none|header:.*)$/.test(typed)
    ? typed
    : `header:${typed}`;
}

const SCHEME = /^[a-z]+:\/\//i;
const ADDRESS =
  /^(\[[0-9a-f:]+\]|localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(?=:\d))(:\d+)?(\/\S*)?$/;

/** Whether pasted text is an address rather than a key. */
export function isAddress(text: string): boolean {
  const typed = text.trim();
  return SCHEME.test(typed) || ADDRESS.test(typed);
}

/** Whether typed text should be masked. */
export function isSecret(text: string): boolean {
  return text.trim().length >= KEY_LENGTH && !isAddress(text);
}
