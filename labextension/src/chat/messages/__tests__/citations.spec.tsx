/** Citations of an answer: while it streams, its list of sources, and how places open. */

import { Signal } from '@lumino/signaling';
import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../../model/__tests__/reducerFixtures';
import type { Event } from '../../../wire/generated';
import type { IOpenDocumentTexts } from '../../../host/threadsHost';
import { act, showPanel } from '../../__tests__/harness';

/** The log of an answer with this text, in pieces. */
function answering(...pieces: string[]): Event[] {
  let count = 0;
  return fixture('streamed-text').events.map(event =>
    event.type === 'text-delta'
      ? { ...event, text: pieces[count++] ?? '' }
      : event
  );
}

const isEnd = ({ type }: Event): boolean => type === 'text-end';

/** Texts of documents that open later. */
class FakeTexts implements IOpenDocumentTexts {
  readonly changed = new Signal<this, void>(this);
  readonly texts = new Map<string, string | null>();
  textOf(document: string, cellId: string | null): string | null | undefined {
    return this.texts.get(`${document} ${cellId ?? ''}`);
  }
  open(document: string, cellId: string | null, text: string | null): void {
    this.texts.set(`${document} ${cellId ?? ''}`, text);
    this.changed.emit();
  }
}

const answer = (): string | undefined =>
  document
    .querySelector('.shoulders-Agent .shoulders-Markdown')
    ?.textContent.trim();

describe('an answer that streams', () => {
  test('shows no half of a marker, and its chip at once', async () => {
    const log = answering('See [[a.ip', 'ynb#c1', ']] for it');
    const starts = log.findIndex(({ type }) => type === 'text-delta');
    const { socket } = await showPanel(log.slice(0, starts + 1));
    expect(answer()).toBe('See');
    await act(() => socket.deliver(log.slice(starts + 1, starts + 2)));
    expect(answer()).toBe('See');
    await act(() => socket.deliver(log.slice(starts + 2, starts + 3)));
    expect(answer()).toBe('See (a.ipynb)1 for it');
    expect(screen.queryByRole('region', { name: 'Sources' })).toBeNull();
  });

  test('that ends in half a marker shows it', async () => {
    const log = answering('See [[a.ip');
    await showPanel(log.slice(0, log.findIndex(isEnd) + 1));
    expect(answer()).toBe('See [[a.ip');
  });
});

describe('the sources', () => {
  const sources = () => screen.getByRole('region', { name: 'Sources' });
  const buttons = () =>
    within(sources())
      .getAllByRole('button')
      .map(({ textContent }) => textContent);

  test('are listed once each, and copied as they were written', async () => {
    const text = 'A [[b.py:2]], B [[a.csv]], C [[b.py:2]].';
    const { host } = await showPanel(answering(text));
    expect(buttons()).toEqual(['1b.pyLine 2', '2a.csv']);
    const [copy] = screen
      .getAllByRole('button', { name: 'Copy message' })
      .slice(-1);
    fireEvent.click(copy ?? document);
    expect(host.done).toContainEqual(['copy', text]);
  });

  test('are collapsed when there are many', async () => {
    await showPanel(answering('[[a.py]] [[b.py]] [[c.py]] [[d.py]]'));
    expect(buttons()).toEqual(['4 sources']);
    fireEvent.click(screen.getByRole('button', { name: '4 sources' }));
    expect(buttons()).toHaveLength(5);
  });

  test('do not share their title with links', async () => {
    await showPanel(
      answering('[[a.py]] https://a.example/1 https://b.example/2')
    );
    expect(screen.getAllByRole('region', { name: 'Sources' })).toHaveLength(1);
    expect(screen.getByRole('region', { name: 'Links' })).toBeTruthy();
  });
});

describe('a place', () => {
  const chip = () => screen.getAllByRole('button', { name: /^Source 1/ })[0];

  const showAnswer = async (text: string) => {
    const texts = new FakeTexts();
    const panel = await showPanel(answering(text), (_, host) => {
      host.texts = texts;
    });
    return { ...panel, texts };
  };

  test('in a notebook that lost the cell opens, and the panel says so', async () => {
    const { host, texts } = await showAnswer('See [[a.ipynb#c1]].');
    await act(() => void fireEvent.click(chip() ?? document));
    const target = { path: 'a.ipynb', cellId: 'c1', lines: null };
    expect(host.done).toEqual([['target', target]]);
    expect(screen.queryByRole('alert')).toBeNull();
    await act(() => texts.open('a.ipynb', 'c1', null));
    expect(screen.getByRole('alert').textContent).toContain(
      'The cited cell is no longer in a.ipynb.'
    );
    texts.texts.set('a.ipynb c1', 'x = 1');
    await act(() => void fireEvent.click(chip() ?? document));
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('in a file opens at its line', async () => {
    const { host } = await showAnswer('See [[a.py:2]].');
    await act(() => void fireEvent.click(chip() ?? document));
    const lines = { first: 2, last: 2 };
    expect(host.done).toEqual([
      ['target', { path: 'a.py', cellId: null, lines }]
    ]);
  });
});
