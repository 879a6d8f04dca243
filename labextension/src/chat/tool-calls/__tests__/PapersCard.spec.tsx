/** The works that a search of papers found. */

import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import type { Paper, Reference } from '../../../wire/generated';
import { act, show } from '../../__tests__/harness';
import { PapersCard } from '../PapersCard';

const paper: Paper = {
  title: 'Array programming with NumPy',
  authors: ['A. One', 'B. Two', 'C. Three', 'D. Four'],
  more_authors: 22,
  year: 2020,
  doi: '10.1/numpy',
  url: 'https://doi.org/10.1/numpy',
  citations: 17,
  type: 'article',
  venue: 'Nature',
  volume: null,
  issue: null,
  pages: null,
  abstract: null,
  open_access_url: 'https://www.nature.com/numpy.pdf',
  is_retracted: false
};
const reference: Reference = {
  key: 'one2020array',
  type: 'article',
  file: 'references.bib',
  line: 1,
  title: paper.title,
  authors: paper.authors,
  year: '2020',
  venue: 'Nature',
  doi: '10.1/numpy',
  url: '',
  pdf: '',
  unverified: '',
  is_duplicate: false
};

const article = (name: string): HTMLElement =>
  screen.getByRole('article', { name });

test('a work shows its facts and its links with their hosts', () => {
  show(<PapersCard works={[paper]} />);
  const shown = article(paper.title);
  expect(shown.textContent).toContain(
    'A. One, B. Two, C. Three and others · 2020 · Nature · cited 17 times'
  );
  expect(
    within(shown)
      .getAllByRole('link')
      .map(link => [link.textContent, link.getAttribute('href')])
  ).toEqual([
    [paper.title, 'https://doi.org/10.1/numpy'],
    ['Free to read', 'https://www.nature.com/numpy.pdf']
  ]);
  expect(shown.textContent).toContain('(www.nature.com)');
  expect(within(shown).queryByText('retracted')).toBeNull();
});

test('a work that says little has no button and no empty facts', () => {
  const bare: Paper = {
    ...paper,
    title: 'Bare',
    authors: ['A. One'],
    more_authors: 0,
    year: null,
    doi: null,
    url: 'javascript:alert(1)',
    citations: null,
    type: null,
    venue: null,
    open_access_url: null,
    is_retracted: true
  };
  show(<PapersCard works={[bare]} />);
  const shown = article('Bare');
  expect(shown.textContent).toBe('BareretractedA. One');
  expect(within(shown).queryByRole('link')).toBeNull();
  expect(within(shown).queryByRole('button')).toBeNull();
});

test('a long list is shortened', async () => {
  const works = [1, 2, 3, 4, 5, 6].map(number => ({
    ...paper,
    title: `Work ${number}`
  }));
  show(<PapersCard works={works} />);
  expect(screen.getAllByRole('article')).toHaveLength(4);
  await userEvent.click(screen.getByRole('button', { name: '2 more' }));
  expect(screen.getAllByRole('article')).toHaveLength(6);
});

test.each([
  ['added', 'Added as one2020array'],
  ['duplicate', 'In your references as one2020array']
] as const)(
  'a work that is %s has no button any more',
  async (status, text) => {
    const { host } = show(<PapersCard works={[paper]} />);
    host.added = { status, reason: '', reference, source: 'Crossref' };
    await userEvent.click(screen.getByRole('button', { name: /^Add/ }));
    await act(() => {});
    expect(host.asked).toContainEqual(['addReference', '10.1/numpy']);
    expect(screen.getByRole('status').textContent).toBe(text);
    expect(screen.queryByRole('button')).toBeNull();
  }
);

test('a work that no register knows can be tried again', async () => {
  show(<PapersCard works={[paper]} />);
  await userEvent.click(screen.getByRole('button', { name: /^Add/ }));
  await act(() => {});
  expect(screen.getByRole('status').textContent).toBe(
    'No register knows this DOI.'
  );
  expect(screen.getByRole('button', { name: /^Add/ })).toBeTruthy();
});
