import { nullTranslator } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';
import { Signal } from '@lumino/signaling';
import { expect, test, vi } from 'vitest';

import type {
  CompletionEnd,
  CompletionSettings,
  ServerFrame
} from '../../wire/generated';
import { UnavailableHint } from '../unavailableHint';
import { CompletionPreferences } from '../preferences';

function end(reason: CompletionEnd['reason'], message: string | null = null) {
  const type = 'completion-end' as const;
  return {
    ...{ type, request_id: 'r', suggestions: [], model: null },
    ...{ reason, message }
  };
}

function scene() {
  const shown: Widget[] = [];
  const done: string[] = [];
  const hint = new UnavailableHint({
    bar: {
      registerStatusItem: (_, { item }) => {
        shown.push(item);
        return new DisposableDelegate(() => shown.splice(shown.indexOf(item)));
      }
    },
    trans: nullTranslator.load('jupyter_ai_shoulders'),
    open: section => done.push(`open ${section}`),
    announce: text => done.push(`say ${text}`)
  });
  const button = () => shown[0]?.node.querySelector('button') ?? null;
  return { hint, shown, done, button };
}

test('a reason is shown once, with a remedy; a click leads there', () => {
  const { hint, shown, done, button } = scene();
  hint.report(end('no_key', 'Add a key.'));
  expect(button()?.textContent).toBe('No AI suggestions: no key');
  expect(button()?.title).toBe('Add a key.');
  button()?.click();
  expect(shown).toEqual([]);
  hint.report(end('no_key', 'Add a key.'));
  expect(shown).toEqual([]);
  expect(done).toEqual(['say Add a key.', 'open providers']);
});

test('hidden characters in the words of a provider are spelt out', () => {
  const { hint, done, button } = scene();
  hint.report(end('provider_down', 'No\u202e, later.'));
  expect(button()?.title).toBe('No⟨U+202E⟩, later.');
  expect(done).toEqual(['say No⟨U+202E⟩, later.']);
});

test('another reason takes its place, and suggestions take it away', () => {
  const { hint, shown, button } = scene();
  hint.report(end('provider_down'));
  hint.report(end('budget'));
  expect(shown).toHaveLength(1);
  expect(button()?.textContent).toContain('budget');
  hint.report(end(null));
  expect(shown).toEqual([]);
});

test.each(['private', 'disabled', 'cancelled', 'nothing'] as const)(
  '%s is no reason to tell',
  reason => {
    const { hint, shown, done } = scene();
    hint.report(end(reason));
    expect([shown, done]).toEqual([[], []]);
  }
);

test('the settings are reloaded when they change and when the page connects', async () => {
  const frameReceived = new Signal<object, ServerFrame>({});
  const opened = new Signal<object, void>({});
  let held: CompletionSettings | null = null;
  let calls = 0;
  const call = async <T>(): Promise<T> => {
    calls += 1;
    if (held === null) {
      throw new Error('down');
    }
    return { values: { ghost: held } } as T; // The only setting that is read.
  };
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const preferences = new CompletionPreferences(
    { call },
    { frameReceived, opened } as ConstructorParameters<
      typeof CompletionPreferences
    >[1] // The socket's signals.
  );
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  expect(preferences.current).toBeNull();

  held = { enabled_plus: true, automatic: false, skip_languages: ['c'] };
  opened.emit();
  await vi.waitFor(() => expect(preferences.current).toEqual(held));

  held = { ...held, enabled_plus: false };
  frameReceived.emit({ type: 'settings-update', part: 'budget' });
  frameReceived.emit({ type: 'settings-update', part: 'settings' });
  await vi.waitFor(() => expect(preferences.current).toEqual(held));
  expect(calls).toBe(3);
});
