/** Links in an answer to cells and files. */

import { fireEvent, screen } from '@testing-library/react';
import * as React from 'react';
import { expect, test } from 'vitest';

import {
  referenceIndex,
  type Reference
} from '../../../model/view-models/textReferences';
import { show } from '../../__tests__/harness';
import { Markdown } from '../Markdown';
import { ReferenceTargetsContext } from '../useReferenceLinks';

const opened: Reference[] = [];
const referring = {
  known: referenceIndex(['work/a.ipynb', 'load.py'], 'work/a.ipynb'),
  open: (reference: Reference) => opened.push(reference)
};

function links(text: string): string[] {
  const { container } = show(
    <ReferenceTargetsContext.Provider value={referring}>
      <Markdown text={text} />
    </ReferenceTargetsContext.Provider>
  );
  return [...container.querySelectorAll('.shoulders-LocationLink')].map(
    ({ textContent }) => textContent
  );
}

test.each<[string, string[]]>([
  ['**Cell 3** and `load.py`', ['Cell 3', 'load.py']],
  ['- cell 3\n- load.py', ['cell 3', 'load.py']],
  ['| a |\n|---|\n| cell 3 |', ['cell 3']],
  ['# Cell 3', ['Cell 3']],
  ['`cell 3`, `open("load.py")`', []],
  ['```python\nload.py\n```', []],
  ['    load.py', []],
  ['[load.py](https://a.example)', []],
  ['$load.py$', []],
  ['<a class="shoulders-LocationLink" href="#">load</a>', []]
])('%s', (text, found) => {
  expect(links(text)).toEqual(found);
});

test('a link leads there by mouse and keyboard', () => {
  links('Cell 3 of a.ipynb');
  fireEvent.click(screen.getByRole('link', { name: 'Cell 3' }));
  fireEvent.keyDown(screen.getByRole('link', { name: 'a.ipynb' }), {
    key: 'Enter'
  });
  expect(opened).toEqual([
    { kind: 'cell', number: 3 },
    { kind: 'file', path: 'work/a.ipynb' }
  ]);
});

test('a growing text is linked as it comes', () => {
  const text = (words: string): React.JSX.Element => (
    <ReferenceTargetsContext.Provider value={referring}>
      <Markdown text={words} />
    </ReferenceTargetsContext.Provider>
  );
  const { container, rerender } = show(text('See cell'));
  expect(container.querySelector('a')).toBeNull();
  rerender(text('See cell 3 and loa'));
  rerender(text('See cell 3 and load.py.'));
  expect(
    [...container.querySelectorAll('a')].map(link => link.textContent)
  ).toEqual(['cell 3', 'load.py']);
});
