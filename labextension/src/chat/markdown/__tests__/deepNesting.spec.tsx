import { expect, test, vi } from 'vitest';
import * as React from 'react';

import { ErrorBoundary } from '../../../ui/ErrorBoundary';
import { show } from '../../__tests__/harness';
import { makeSplitter } from '../blocks';
import { Markdown } from '../Markdown';

test.each([
  ['quotes', '> '.repeat(20_000) + 'ok'],
  ['quotes of few', '> '.repeat(500) + 'ok'],
  ['lists', '- '.repeat(400) + 'ok'],
  ['brackets', '['.repeat(3_000) + 'ok'],
  ['tags', '<b>'.repeat(3_000) + 'ok']
])('deeply nested %s are shown as far as a stack goes', (_, text) => {
  const { container } = show(<Markdown text={text} />);
  expect(container.textContent).toContain('ok');
});

test('a text that is too deep is one plain block, whole', () => {
  const text = '> '.repeat(20_000) + 'ok';
  const blocks = makeSplitter()(text);
  expect(blocks.map(({ type, raw }) => [type, raw])).toEqual([['code', text]]);
});

test('what cannot be drawn leaves a remark and the parts beside it', () => {
  // React reports errors there.
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  const Broken = (): React.JSX.Element => {
    throw new Error('no pen');
  };
  const { container } = show(
    <>
      <ErrorBoundary>
        <Broken />
      </ErrorBoundary>
      <ErrorBoundary>beside</ErrorBoundary>
    </>
  );
  expect(container.textContent).toMatch(/no pen.*beside/);
  expect(told).toHaveBeenCalled();
  told.mockRestore();
});
