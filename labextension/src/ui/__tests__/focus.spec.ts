/** The focus waits for elements rendered some frames later, and stays where the user moves it. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { focusNext, focusOn } from '../focus';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

const field = (place: HTMLElement = document.body): HTMLInputElement =>
  place.appendChild(document.createElement('input'));
const find = () => document.querySelector<HTMLElement>('.new');
const frames = (count: number): void => {
  for (let frame = 0; frame < count; frame++) {
    vi.advanceTimersToNextFrame();
  }
};

test('what comes some frames later gets the focus then, and no second time', () => {
  focusOn(find);
  frames(5);
  const late = field();
  late.className = 'new';
  frames(1);
  expect(document.activeElement).toBe(late);
  late.blur();
  frames(5);
  expect(document.activeElement).toBe(document.body);
});

test('what never comes is not waited for any more', () => {
  focusOn(find);
  frames(40);
  expect(vi.getTimerCount()).toBe(0);
  field().className = 'new';
  frames(5);
  expect(document.activeElement).toBe(document.body);
});

test.each([focusOn, (found: typeof find) => focusNext(() => null, found)])(
  'the user goes elsewhere while it is awaited: %#',
  give => {
    field().focus();
    (document.activeElement as HTMLElement).blur();
    give(find);
    frames(2);
    const elsewhere = field();
    elsewhere.focus();
    frames(1);
    field().className = 'new';
    frames(5);
    expect(document.activeElement).toBe(elsewhere);
  }
);

test('the field takes the focus from where the user acted', () => {
  field().focus();
  focusOn(find);
  frames(2);
  const late = field();
  late.className = 'new';
  frames(1);
  expect(document.activeElement).toBe(late);
});

test('a list gives the focus on within itself only', () => {
  const list = document.body.appendChild(document.createElement('div'));
  const row = field(list);
  const next = field(list);
  const outside = field();
  const give = () =>
    focusNext(
      () => list,
      () => next
    );
  outside.focus();
  give();
  frames(1);
  expect(document.activeElement).toBe(outside);
  row.focus();
  give();
  frames(1);
  expect(document.activeElement).toBe(next);
});
