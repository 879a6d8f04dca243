/** The focus survives the removal of its element and the disabling of its button. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { RuleInfo } from '../../wire/generated';
import { provider } from './fakes';
import { press, show } from './renderSettings';

const rule = (tool: string): RuleInfo => ({
  action: 'ask',
  tool,
  match: null,
  examples: null,
  problem: null,
  line: null,
  locked: false,
  applies: true,
  note: null
});
const rules = (...tools: string[]) =>
  show('rules', api => {
    api.list = { ...api.list, rules: tools.map(rule) };
  });
const focused = () => document.activeElement?.getAttribute('aria-label');

test('after a rule is removed the next one has the focus, and after the last the way to a new one', async () => {
  const { user } = await rules('one', 'two', 'three');
  await press(user, 'Remove: Ask two');
  expect(focused()).toBe('Remove: Ask three');
  await press(user, 'Remove: Ask three');
  expect(focused()).toBe('Remove: Ask one');
  await press(user, 'Remove: Ask one');
  expect(document.activeElement?.textContent).toBe('Add a rule…');
});

test('a rule that reached the end has the focus on its way back', async () => {
  const { user, api } = await rules('one', 'two', 'three');
  await press(user, 'Move down: Ask one');
  expect(focused()).toBe('Move down: Ask one');
  await press(user, 'Move down: Ask one');
  expect(api.list.rules.map(({ tool }) => tool)).toEqual([
    'two',
    'three',
    'one'
  ]);
  expect(focused()).toBe('Move up: Ask one');
  await press(user, 'Move up: Ask one');
  await press(user, 'Move up: Ask one');
  expect(focused()).toBe('Move down: Ask one');
});

test('after a key is removed another one can be typed', async () => {
  const { user } = await show('providers', api => {
    const acme = provider('acme', {
      key_set: true,
      key_source: 'file',
      state: 'ok'
    });
    api.catalogue = { ...api.catalogue, providers: [acme] };
  });
  await press(user, 'Remove key');
  expect(document.activeElement).toBe(
    screen.getByLabelText('Key for Name of acme')
  );
});
