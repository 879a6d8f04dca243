/** Short words for narrow places: why a model cannot be used, what to do about an error. */

import * as React from 'react';
import { expect, test } from 'vitest';

import { model } from '../../model/__tests__/fakes';
import type { ProviderHealth } from '../../wire/generated';
import { modelNote } from '../input/modelFacts';
import { Hint } from '../parts';
import { FakeHost, show } from './harness';

const keyless = {
  id: 'a',
  state: 'no_key',
  key_name: 'A_KEY'
} as ProviderHealth; // The rest does not matter here.
const reason =
  'There is no key for A. Set A_KEY, or store one in the settings.';

test.each([
  ['No key · set A_KEY', false, keyless],
  ['No key', false, { ...keyless, key_name: null }],
  [reason, false, { ...keyless, state: 'failing' } as const],
  ['200k context', true, keyless]
])('a model is noted as %j', (note, available, provider) => {
  const { trans } = new FakeHost();
  const unavailable_reason = available ? null : reason;
  const one = model('a/b', { provider: 'a', available, unavailable_reason });
  expect(modelNote(one, [provider], trans)).toBe(note);
});

test('what is to be typed stands out in a hint, and nothing else changes', () => {
  const text = 'Start it (`ollama serve`), not `\u202e`, and don`t.';
  const { container } = show(<Hint text={text} />);
  const typed = [...container.querySelectorAll('code')].map(
    code => code.textContent
  );
  expect(typed).toEqual(['ollama serve', '⟨U+202E⟩']);
  expect(container.textContent).toBe(
    'Start it (ollama serve), not ⟨U+202E⟩, and don`t.'
  );
});
