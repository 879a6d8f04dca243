import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import loader from '../../../../jupyter_ai_shoulders/kernel/panel/loader.js';
import { FakeModel } from './kernel';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('until the kernel sends the panel, the transcript can be read in its place', async () => {
  const model = new FakeModel();
  model.traits.set('transcript_name', 'abc');
  model.traits.set(
    'transcript',
    '<div class="shoulders-transcript shoulders-transcript-abc">Because water.</div>'
  );
  const el = document.body.appendChild(document.createElement('div'));
  const below = document.body.appendChild(document.createElement('div'));
  below.className = 'shoulders-transcript-abc';
  void loader.render({ model, el });
  expect(model.of('load')).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(4000);

  expect(el.textContent).toContain('busy or not running');
  const [shown] = el.getElementsByTagName('div');
  expect(shown?.textContent).toBe('Because water.');
  for (const part of el.querySelectorAll('div')) {
    expect(getComputedStyle(part).display).toBe('block');
  }
  expect(getComputedStyle(below).display).toBe('none');
});
