/** The hooks of the settings views: the page around them, what was read, and what was typed. */

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

/** The page of the settings, to all its views. */
export interface ISettingsPage {
  readonly host: ISettingsHost;
  readonly store: SettingsStore;
  /** For which folders preferences are changed now. */
  readonly scope: Scope;
  /** How often the form for a new provider was asked for elsewhere. */
  readonly adds: number;
  /** Go to the review of the folder's settings. */
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

/** What a resource holds now; reads it the first time. */
export function useResource<T>(resource: Resource<T>): {
  value: T | null;
  error: ErrorInfo | null;
} {
  useSignalVersion(resource.changed);
  React.useEffect(() => resource.want(), [resource]);
  return { value: resource.value, error: resource.error };
}

/** A field with what the user made of it. */
export interface IField {
  readonly value: Json;
  readonly stored: Json;
  readonly isDirty: boolean;
  readonly busy: boolean;
  readonly error: ErrorInfo | null;
  /** What is stored now is not what was when the user began. */
  readonly isOvertaken: boolean;
  readonly edit: (value: Json) => void;
  readonly save: () => void;
  /** Change and save at once. */
  readonly choose: (value: Json) => void;
  readonly discard: () => void;
  /** Keep what was typed, over what is stored now. */
  readonly keep: () => void;
}

/** A field of the page, by the name of its draft. */
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
    isOvertaken: draft !== null && !draft.busy && !same(draft.base, stored),
    edit: value => drafts.edit(name, value, stored),
    save,
    choose: value => {
      drafts.edit(name, value, stored);
      void drafts.saveChoice(name, store);
    },
    discard: () => drafts.drop(name),
    keep: () => drafts.rebase(name, stored)
  };
}

/** A preference: its field, where its value comes from, and why it cannot be changed. */
export interface ISetting extends IField {
  readonly source: Settings['sources'][string];
  /** Why the administrator's value stands. */
  readonly lock: string | null;
  /** This folder has a value of its own, and the user looks at those of all folders. */
  readonly isOverruled: boolean;
  /** Take the value out of the file that is being changed. */
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
    throughForm(form, stored, put)
  );
  return {
    ...field,
    source,
    lock: settings.locks[name] ?? null,
    isOverruled: scope === 'user' && source === 'workspace',
    reset: source === scope ? () => put(null, stored) : null
  };
}

/** How a value is written in its field. */
export interface IForm {
  readonly show: (value: Json) => Json;
  /** The value of what stands in the field; undefined when that makes no sense. */
  readonly parse: (shown: Json) => Json | undefined;
}

const AS_IT_IS: IForm = { show: value => value, parse: value => value };

/** Store what a field shows as the value it stands for. */
export function throughForm(
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

/** A form of text. */
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
