/** Recognition of pasted text, and the requests of the form. */

import { expect, test } from 'vitest';

import {
  authOf,
  bodyOf,
  formOfDetected,
  headersOf,
  isAddress,
  isSecret
} from '../providerRequest';
import { FOUND } from '../../__tests__/fakes';

test.each([
  ['http://127.0.0.1:8000', true],
  ['https://models.example.org/v1', true],
  ['localhost:11434', true],
  ['127.0.0.1', true],
  ['gpu-box:8000', true],
  ['[::1]:8000', true],
  ['models.example.org', true],
  ['sk-ant-api03-abcdef', false],
  ['AQ.Ab8RN6Kabcdef', false],
  ['eyJhbGciOi.eyJzdWIi.abc', false],
  ['0123456789abcdef0123456789abcdef', false]
])('%j is an address: %j', (text, expected) => {
  expect(isAddress(text)).toBe(expected);
  expect(isSecret(text)).toBe(!expected);
});

test('headers are lines of names and values', () => {
  expect(headersOf('X-Team: physics\n\n a:b:c ')).toEqual({
    'X-Team': 'physics',
    a: 'b:c'
  });
  expect(headersOf('no value')).toBeNull();
  expect([authOf('api-key'), authOf('bearer'), authOf(' ')]).toEqual([
    'header:api-key',
    'bearer',
    ''
  ]);
});

test('few models are all offered, many are chosen from', () => {
  const typed = { key: 'k', auth: '', headers: '' };
  expect(bodyOf(formOfDetected(FOUND, typed), true, false)).toMatchObject({
    list_models: true,
    models: [],
    model: 'big'
  });
  const names = Array.from({ length: 40 }, (_, at) => `m${at}`);
  const models = names.map(name => ({ name, context_window: null }));
  const form = formOfDetected({ ...FOUND, models }, typed);
  expect(form.all).toBe(false);
  expect(bodyOf({ ...form, models: ['m3'] }, true, false).model).toBe('m3');
});
