/** What web tools returned, and the sources of an answer. */

import { expect, test } from 'vitest';

import { sourcesIn } from '../../../chat/markdown/linkSources';
import type { CallView, MessageView } from '../../../wire/generated';
import { pagesOf, papersOf } from '../webSources';

function call(tool: string, kind: string, data: unknown): CallView {
  return {
    type: 'call',
    tool,
    result: { ok: true, kind, data }
  } as unknown as CallView; // The fields that are read.
}

const conversation = [
  {
    role: 'agent',
    parts: [
      call('fetch_url', 'page', {
        url: 'https://a.org/x',
        final_url: 'https://a.org/y',
        title: 'Page A'
      }),
      call('web_search', 'search_results', {
        results: [{ url: 'https://b.org/', title: 'Page B' }, 3, { url: 4 }]
      }),
      call('search_papers', 'papers', {
        works: [{ title: 'Paper', authors: [], url: 'https://doi.org/10.1/x' }]
      }),
      call('read_file', 'file', { url: 'https://c.org/', title: 'No page' })
    ]
  }
] as unknown as MessageView[]; // The fields that are read.

test('pages are those of fetches and searches', () => {
  expect(pagesOf(conversation).map(({ title }) => title)).toEqual([
    'Page A',
    'Page A',
    'Page B',
    'Paper'
  ]);
});

test('papers are those of the search of papers', () => {
  const works = [{ title: 'Paper', authors: ['A'] }, { title: 3 }, null];
  expect(papersOf(call('search_papers', 'papers', { works }))).toEqual([
    { title: 'Paper', authors: ['A'] }
  ]);
  expect(papersOf(call('acme', 'papers', { works }))).toBeNull();
  expect(papersOf(call('search_papers', 'none', null))).toBeNull();
});

test('a linked page that a tool found has its title', () => {
  const text =
    'See [1](https://a.org/y#part), https://b.org and [C](https://c.org/).';
  const found = sourcesIn(text, pagesOf(conversation));
  expect(found.map(({ title, isUsed }) => [title, isUsed])).toEqual([
    ['Page A', true],
    ['Page B', true],
    ['C', false]
  ]);
});
