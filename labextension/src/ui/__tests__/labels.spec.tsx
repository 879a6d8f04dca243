/** Short labels: why a model is unavailable, what to do about an error. */

import * as React from 'react';
import { expect, test } from 'vitest';

import type { ProviderHealth } from '../../wire/generated';
import { keyNote } from '../modelLabels';
import { Hint } from '../primitives';
import { FakeHost, show } from '../../chat/__tests__/harness';

const keyless = {
  id: 'a',
  state: 'no_key',
  key_name: 'A_KEY'
} as ProviderHealth; // Other fields do not matter here.

test.each([
  ['No key · set A_KEY', keyless],
  ['No key', { ...keyless, key_name: null }]
])('a provider without a key is noted as %j', (note, provider) => {
  expect(keyNote(provider, new FakeHost().trans)).toBe(note);
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
