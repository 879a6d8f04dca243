/** The headings of the history. */

import { expect, test } from 'vitest';

import { groupByDay } from '../History';
import { session } from '../../../model/__tests__/fakes';

const now = new Date(2026, 10, 22, 9, 30);

const at = (id: string, ...when: [number, number, number, number]) => {
  const [year, month, day, hour] = when;
  const updated_at = new Date(year, month - 1, day, hour).toISOString();
  return session(id, { updated_at });
};

test('conversations stand below the day they were last used', () => {
  const sessions = [
    at('ahead', 2026, 11, 22, 23),
    at('morning', 2026, 11, 22, 0),
    at('night', 2026, 11, 21, 23),
    at('monday', 2026, 11, 16, 12),
    at('sunday', 2026, 11, 15, 23),
    at('last year', 2025, 11, 22, 9),
    session('unreadable', { updated_at: '' })
  ];
  const found = groupByDay(sessions, now).map(group => [
    group.day,
    ...group.sessions.map(({ id }) => id)
  ]);
  expect(found).toEqual([
    ['today', 'ahead', 'morning'],
    ['yesterday', 'night'],
    ['week', 'monday'],
    ['earlier', 'sunday', 'last year', 'unreadable']
  ]);
});

test('a conversation that is held keeps its place whatever happens in it', () => {
  const before = [at('b', 2026, 11, 21, 9), at('a', 2026, 11, 21, 8)];
  const held = new Map(before.map(({ id, updated_at }) => [id, updated_at]));
  const after = [
    at('new', 2026, 11, 22, 9),
    at('a', 2026, 11, 22, 8),
    at('b', 2026, 11, 21, 9)
  ];
  const found = groupByDay(after, now, held).map(group => [
    group.day,
    ...group.sessions.map(({ id }) => id)
  ]);
  expect(found).toEqual([
    ['today', 'new'],
    ['yesterday', 'b', 'a']
  ]);
});

test('a day without conversations has no heading', () => {
  expect(groupByDay([], now)).toEqual([]);
  const [only, ...rest] = groupByDay([at('a', 2026, 11, 20, 9)], now);
  expect(only?.day).toBe('week');
  expect(rest).toEqual([]);
});
