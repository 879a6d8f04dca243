/** Hooks of the settings views: the page, resources, and fields. */

import * as React from 'react';

import { useSignalVersion } from '../../ui/hooks';
import type { ErrorInfo, Json, Settings } from '../../wire/generated';
import type { Scope } from '../store/api';
import { same } from '../store/drafts';
import type { ISettingsHost } from '../store/settingsHost';
import type { Resource } from '../../client/resource';
import {
  settingOf,
  type Area,
  type SettingsStore
} from '../store/settingsStore';

/** The settings page, for all its views. */
export interface ISettingsPage {
  readonly host: ISettingsHost;
  readonly store: SettingsStore;
  /** Whose preferences are being changed. */
  readonly scope: Scope;
  /** Counts requests from outside to open the form for a new provider. */
  readonly adds: number;
  /** Show the review of the folder's settings. */
  readonly reviewFolder: () => void;
}

export const SettingsContext = React.createContext<ISettingsPage | null>(null);

export function useSettingsPage(): ISettingsPage {
  const page = React.useContext(SettingsContext);
  if (page === null) {
    throw new Error('SettingsContext is missing above this view.');
  }
  return page;
}

export function useStore(): SettingsStore {
  return useSettingsPage().store;
}

/** The value of a resource, read on first use. */
export function useResource<T>(resource: Resource<T>): {
  value: T | null;
  error: ErrorInfo | null;
} {
  useSignalVersion(resource.changed);
  React.useEffect(() => resource.ensureLoaded(), [resource]);
  return { value: resource.value, error: resource.error };
}

/** A field and its draft. */
export interface IField {
  readonly value: Json;
  readonly stored: Json;
  readonly isDirty: boolean;
  readonly busy: boolean;
  readonly error: ErrorInfo | null;
  /** Whether the stored value changed after the user began. */
  readonly isOutdated: boolean;
  readonly edit: (value: Json) => void;
  readonly save: () => void;
  /** Change and save at once. */
  readonly choose: (value: Json) => void;
  readonly discard: () => void;
  /** Keep the draft over the newly stored value. */
  readonly rebase: () => void;
}

/** A field, identified by the name of its draft. */
export function useField(
  name: string,
  stored: Json,
  store: (value: Json, base: Json) => Promise<unknown>
): IField {
  const { drafts } = useStore();
  useSignalVersion(drafts.changed);
  const draft = drafts.get(name);
  const save = (): void => void drafts.save(name, store);
  return {
    value: draft === null ? stored : draft.value,
    stored,
    isDirty: draft !== null && !same(draft.value, stored),
    busy: draft?.busy ?? false,
    error: draft?.error ?? null,
    isOutdated: draft !== null && !draft.busy && !same(draft.base, stored),
    edit: value => drafts.edit(name, value, stored),
    save,
    choose: value => {
      drafts.edit(name, value, stored);
      void drafts.saveChoice(name, store);
    },
    discard: () => drafts.drop(name),
    rebase: () => drafts.rebase(name, stored)
  };
}

/** A preference: its field, the source of its value, and why it cannot be changed. */
export interface ISetting extends IField {
  readonly source: Settings['sources'][string];
  /** Why the administrator's value applies. */
  readonly lock: string | null;
  /** Whether this folder overrides the value for all folders that the user is viewing. */
  readonly isOverridden: boolean;
  /** Remove the value from the file being changed. */
  readonly reset: (() => Promise<void>) | null;
}

export function useSetting(
  settings: Settings,
  area: Area,
  key: string,
  form: IForm = AS_IT_IS
): ISetting {
  const { store, scope } = useSettingsPage();
  const name = `${area}.${key}`;
  const source = settings.sources[name] ?? 'default';
  const stored = settingOf(settings, area, key);
  const put = (value: Json, base: Json): Promise<void> =>
    store.putSetting(area, key, value, base, scope);
  const field = useField(
    `${scope}:${name}`,
    form.show(stored),
    storeParsed(form, stored, put)
  );
  return {
    ...field,
    source,
    lock: settings.locks[name] ?? null,
    isOverridden: scope === 'user' && source === 'workspace',
    reset: source === scope ? () => put(null, stored) : null
  };
}

/** How a value is written in its field. */
export interface IForm {
  readonly show: (value: Json) => Json;
  /** The value of the field's text; undefined when invalid. */
  readonly parse: (shown: Json) => Json | undefined;
}

const AS_IT_IS: IForm = { show: value => value, parse: value => value };

/** Return a function that stores the value of the field's text. */
export function storeParsed(
  { show, parse }: IForm,
  stored: Json,
  put: (value: Json, base: Json) => Promise<void>
): (shown: Json, base: Json) => Promise<void> {
  return async (shown, base) => {
    const value = parse(shown);
    if (value !== undefined) {
      const isNow = same(base, show(stored));
      await put(value, isNow ? stored : (parse(base) ?? null));
    }
  };
}

/** The form of a text field. */
export function textForm(
  parse: (text: string) => Json | undefined,
  show: (value: Json) => string = textOf
): IForm {
  return { show, parse: shown => parse(textOf(shown)) };
}

/** A plain value as text. */
export function textOf(value: Json): string {
  return value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}
