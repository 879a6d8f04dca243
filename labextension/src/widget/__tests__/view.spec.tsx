import { act } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { WidgetView } from '../index';
import { page } from '../WidgetPanel';
import { lightness } from '../theme';
import { FakeModel, READY } from './kernel';

let model: FakeModel;
let element: HTMLElement;
let view: WidgetView | null;

// jsdom has no layout, so there is nothing to scroll.
Element.prototype.scrollIntoView = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  // jsdom has none.
  vi.stubGlobal('matchMedia', () => ({
    matches: false,
    addEventListener: () => {},
    removeEventListener: () => {}
  }));
  model = new FakeModel();
  element = document.body.appendChild(document.createElement('div'));
  view = null;
});

afterEach(() => {
  act(() => view?.dispose());
  element.remove();
  vi.useRealTimers();
});

function show(): ParentNode {
  act(() => {
    view = new WidgetView(model, element);
  });
  return root();
}

function root(): ParentNode {
  const { shadowRoot } = element.firstElementChild ?? {};
  if (!shadowRoot) {
    throw new Error('The panel has no shadow tree.');
  }
  return shadowRoot;
}

const note = (): string =>
  root().querySelector('.shoulders-Widget-note')?.textContent ?? '';

test('without a kernel it says so above the transcript, in which nothing can run', () => {
  model.traits.set('transcript', '<p>Because water.</p>');
  show();
  expect(note()).toContain('Connecting');
  act(() => {
    vi.advanceTimersByTime(4000);
  });

  expect(note()).toContain('busy or not running');
  const frame = root().querySelector('iframe');
  expect(frame?.getAttribute('sandbox')).toBe('');
  expect(frame?.srcdoc).toContain('Because water.');
  expect(root().querySelector('.shoulders-Chat')).toBeNull();
});

test('once the kernel answers the chat is there, in the notebook that it is in, and stays', async () => {
  show();
  await act(async () => model.say(READY));

  expect(note()).toBe('');
  expect(root().querySelector('.shoulders-Composer-field')).not.toBeNull();
  expect(root().querySelector('.shoulders-Chips')?.textContent).toContain(
    'trip.ipynb'
  );
  expect(model.of('http').map(({ path }) => path)).toContain('models');
  expect(model.of('open')).toHaveLength(1);

  await act(async () => model.say({ t: 'gone', reason: 'Start it again.' }));
  expect(note()).toContain('Start it again.');
  expect(root().querySelector('.shoulders-Composer-field')).not.toBeNull();
});

test('keys do not leave it', async () => {
  show();
  await act(async () => model.say(READY));
  const heard: string[] = [];
  const hear = ({ type }: Event): number => heard.push(type);
  const types = ['keydown', 'keyup', 'copy', 'click'];
  types.forEach(type => document.addEventListener(type, hear));
  const field = root().querySelector('.shoulders-Composer-field');
  types.forEach(type => {
    field?.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  });
  types.forEach(type => document.removeEventListener(type, hear));

  expect(heard).toEqual(['click']);
  expect(element.dataset.lmSuppressShortcuts).toBe('true');
});

test('it shows the conversation that the kernel names', async () => {
  model.traits.set('session_id', 's1');
  show();
  await act(async () => model.say(READY));
  await act(async () => vi.advanceTimersByTimeAsync(50));
  const paths = model.of('http').map(({ path }) => path ?? '');
  expect(paths.some(path => path.startsWith('sessions/s1'))).toBe(true);

  await act(async () => model.set('session_id', 's2'));
  await act(async () => vi.advanceTimersByTimeAsync(50));
  const later = model.of('http').map(({ path }) => path ?? '');
  expect(later.some(path => path.startsWith('sessions/s2'))).toBe(true);
  expect(model.saved).toBe(0);
});

test('a view that is closed leaves nothing behind', async () => {
  show();
  await act(async () => model.say(READY));
  act(() => view?.dispose());
  view = null;
  expect(model.listeners).toBe(0);
  expect(model.said.at(-1)?.t).toBe('close');
});

test('values of the page cannot end the style sheet of a transcript', () => {
  const html = page('<b>x</b>', {
    getPropertyValue: () => 'red;}</style><script>'
  });
  expect(html).not.toContain('<script>');
  expect(html.match(/<\/style>/g)).toHaveLength(1);
  expect(html).toContain("default-src 'none'");
});

test.each([
  ['rgb(255, 255, 255)', 255],
  ['rgb(0, 0, 0)', 0],
  ['rgba(0, 0, 0, 0)', null],
  ['rgb(17 17 17 / 90%)', 17],
  ['transparent', null],
  ['', null]
])('the lightness of %s is %s', (colour, light) => {
  expect(lightness(colour)).toBe(light);
});
