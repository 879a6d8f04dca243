/** Markers of citations in Markdown: where they become chips, and that no text can make a chip of its own. */

import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import * as React from 'react';

import {
  citedSources,
  distinctCitations
} from '../../../model/view-models/citedSources';
import type { ICitation } from '../../../text/citations';
import { show } from '../../__tests__/harness';
import { makeSplitter } from '../blocks';
import { CitationsContext } from '../CitationChip';
import { citationsIn } from '../citationTokens';
import { Markdown } from '../Markdown';

const opened: ICitation[] = [];

/** A text that cites, as `AgentMessage` shows it. */
function Answer({ text }: { text: string }): React.JSX.Element {
  const [splitter] = React.useState(makeSplitter);
  const citations = distinctCitations(citationsIn(splitter(text)));
  const context = {
    sources: citedSources(citations, []),
    open: (citation: ICitation) => void opened.push(citation),
    splitterOf: () => splitter
  };
  return (
    <CitationsContext.Provider value={context}>
      <Markdown text={text} splitter={splitter} />
    </CitationsContext.Provider>
  );
}

const chipsIn = (container: Element): string[] =>
  [...container.querySelectorAll('.shoulders-Citation-chip')].map(
    chip => chip.ariaLabel ?? chip.getAttribute('aria-label') ?? ''
  );

test.each<[string, string[]]>([
  ['So [[a.ipynb#c1]].', ['Source 1: a.ipynb, Cell c1']],
  ['So [[src/a.py:3]].', ['Source 1: a.py, Line 3']],
  ['So [[src/a.csv]].', ['Source 1: a.csv']],
  ['**So** [[__init__.py:3]]', ['Source 1: __init__.py, Line 3']],
  ['**So [[__a__.py]]**', ['Source 1: __a__.py']],
  ['- [[a.py]]\n\n  > # [[b.py]]', ['Source 1: a.py', 'Source 2: b.py']],
  [
    '| a |\n|-|\n| [[b.py]] |\n| [[a.py]] |',
    ['Source 1: b.py', 'Source 2: a.py']
  ],
  [
    '[[a.py]] [[b.py]] [[a.py]]',
    ['Source 1: a.py', 'Source 2: b.py', 'Source 1: a.py']
  ],
  ['[[a.py]][[a.py]] [[a.py]]', ['Source 1: a.py']],
  ['`[[a.py]]`', []],
  ['```\n[[a.py]]\n```', []],
  ['    [[a.py]]', []],
  ['<code>[[a.py]]</code>', []],
  ['[see [[a.py]]](https://a.example)', []],
  ['\\[[a.py]]', []]
])('%j', (text, chips) => {
  const { container } = show(<Answer text={text} />);
  expect(chipsIn(container)).toEqual(chips);
});

test.each([
  '[[javascript:alert(1)]]',
  '[[a"onmouseover=x]]',
  '[[a"onmouseover=x.py]]',
  '[[<img src=x>]]',
  '[[<img src=x onerror=alert(1)>.py]]',
  '[[../../etc/passwd.txt]]',
  '[[/etc/passwd.txt]]',
  '<span class="shoulders-Citation">[[javascript:alert(1)]]</span>',
  '<span class="shoulders-Citation-chip">1</span>',
  '<button class="shoulders-Citation-chip" onclick="alert(1)">1</button>',
  '<span class="shoulders-Citation" onclick="alert(1)">../a.py</span>'
])('%s stays text', text => {
  const { container } = show(<Answer text={text} />);
  expect(chipsIn(container)).toEqual([]);
  expect(
    container.querySelector('button, img, a[href], [class*="Citation"]')
  ).toBeNull();
  expect(container.innerHTML).not.toMatch(/<[^>]*\son\w+=/);
});

test('a marker that is not of an answer is text', () => {
  const { container } = show(<Markdown text="So [[a.py:3]]." />);
  expect(container.textContent.trim()).toBe('So [[a.py:3]].');
});

test('a copied selection has the path instead of the number', () => {
  const { container } = show(<Answer text="So [[src/a.py:3]]." />);
  const copied = container.querySelector('.shoulders-Citation-copied');
  expect(copied?.textContent).toBe('(src/a.py)');
});

test('a chip opens its place and shows it on focus', () => {
  show(<Answer text="So [[src/a.py:3]]." />);
  const chip = screen.getByRole('button', { name: 'Source 1: a.py, Line 3' });
  fireEvent.click(chip);
  expect(opened).toEqual([{ path: 'src/a.py', cellId: null, line: 3 }]);
  expect(screen.queryByRole('tooltip')).toBeNull();
  fireEvent.focus(chip);
  expect(screen.getByRole('tooltip').textContent).toBe('src/a.pyLine 3');
  fireEvent.keyDown(chip, { key: 'Escape' });
  expect(screen.queryByRole('tooltip')).toBeNull();
});

test('a chip keeps its element while the answer goes on', () => {
  const { container, rerender } = show(<Answer text={'A [[a.py]].\n\nB'} />);
  const chip = container.querySelector('.shoulders-Citation-chip');
  rerender(<Answer text={'A [[a.py]].\n\nB [[b.py]] [[a.py]]'} />);
  expect(chipsIn(container)).toHaveLength(3);
  expect(container.querySelector('.shoulders-Citation-chip')).toBe(chip);
});
