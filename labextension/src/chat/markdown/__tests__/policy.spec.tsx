/** Parts of Markdown that use the host: formulas, workspace images, link confirmation. */

import { fireEvent } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import * as React from 'react';

import { settled } from '../../../model/__tests__/fakes';
import { act, show } from '../../__tests__/harness';
import { Markdown } from '../Markdown';
import { workspaceImage } from '../sanitise';
import { isHarmless } from '../Html';

/** The formulas of a text, each with whether it is displayed as a block. */
const formulas = (text: string): unknown[] =>
  show(<Markdown text={text} />)
    .host.done.filter(([what]) => what === 'typeset')
    .map(([, ...formula]) => formula);

describe('formulas', () => {
  test.each([
    ['in a line', 'so $a_1 * b_2$ is', [['a_1 * b_2', false]]],
    ['in parentheses', 'so \\(x^2\\) is', [['x^2', false]]],
    ['by itself', '$$\nx = 1\n- y\n$$', [['x = 1\n- y', true]]],
    ['in brackets', 'so\n\\[\n  x\n\\]\nis', [['x', true]]],
    ['in the middle of a line', 'a $$x$$ b', [['x', true]]],
    [
      'in an environment',
      '\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}',
      [['\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}', true]]
    ],
    ['that look like headings', '$$\na\n= b\n$$', [['a\n= b', true]]],
    ['with signs of HTML', '$a < b > c & d$', [['a < b > c & d', false]]],
    [
      'in a list and a table',
      '- $x$\n\n|a|\n|-|\n|$y$|',
      [
        ['x', false],
        ['y', false]
      ]
    ]
  ])('%s are typeset as they were written', (_, text, expected) => {
    expect(formulas(text)).toEqual(expected);
  });

  test.each([
    ['money', 'from $5 to $10 and $20'],
    ['one sign', 'cost in $'],
    ['escaped signs', 'so \\$a\\$ is'],
    ['code', '`$x$`'],
    ['a fence', '```\n$x$\n```'],
    ['spaces', '$ x $'],
    ['two lines of prose', 'a $b\n\nc$ d']
  ])('%s are none', (_, text) => {
    expect(formulas(text)).toEqual([]);
  });

  test.each([
    '\\href{javascript:1}{x}',
    '\\url{https://evil.example}',
    '\\style{background:url(x)}{y}',
    '\\class{jp-Dialog}{x}',
    '\\cssId{app}{x}',
    '\\data{commandlinker-command=x}{y}',
    '\\require{html}',
    '\\def\\x{1}',
    '\\gdef\\x{1}',
    '\\let\\x=y',
    '\\newcommand{\\x}{1}',
    '\\renewcommand{\\frac}{1}',
    '\\DeclareMathOperator{\\x}{x}',
    '\\includegraphics{https://evil.example/x.png}',
    '\\unicode[x;url(y)]{65}',
    '\\bbox[url(x)]{y}',
    'x'.repeat(4001)
  ])('%s stays as it was written', tex => {
    expect(isHarmless(tex)).toBe(false);
    expect(formulas(`$${tex}$`)).toEqual([]);
  });

  test.each(['\\left( x \\right)', '\\leq \\delta \\urcorner', '\\hat x'])(
    '%s is harmless',
    tex => {
      expect(isHarmless(tex)).toBe(true);
    }
  );

  test('an unfinished one stays whole until its end comes', () => {
    const { container, rerender, host } = show(<Markdown text={'$$\na_1 *'} />);
    expect(container.querySelector('em')).toBeNull();
    rerender(<Markdown text={'$$\na_1 * b *\n$$\n\nso'} />);
    expect(host.done.at(-1)).toEqual(['typeset', 'a_1 * b *', true]);
    expect(container.querySelector('mjx-container')).toBeTruthy();
  });
});

describe('pictures', () => {
  test.each([
    ['figures/plot.png', 'figures/plot.png'],
    ['./plot%20one.svg', 'plot one.svg'],
    ['Ünder/ß.jpeg', 'Ünder/ß.jpeg']
  ])('%s is a file of the workspace', (source, path) => {
    expect(workspaceImage(source)).toBe(path);
  });

  test.each([
    'https://evil.example/x.png',
    '//evil.example/x.png',
    '/api/contents/x.png',
    '\\\\evil\\x.png',
    '../x.png',
    'a/../../x.png',
    '%2e%2e/x.png',
    'a%2f..%2f..%2fx.png',
    'file:///x.png',
    'blob:x.png',
    'x.png?secret=1',
    'x.png#y',
    'x.html',
    'a//x.png',
    'a\u202egnp.png',
    '%zz.png',
    `${'x'.repeat(1001)}.png`
  ])('%s is not', source => {
    expect(workspaceImage(source)).toBeNull();
  });

  test('of the workspace are read as the user, once while text grows', async () => {
    const made = vi
      .spyOn(URL, 'createObjectURL')
      .mockReturnValue('blob:picture');
    const revoked = vi.spyOn(URL, 'revokeObjectURL').mockReturnValue(undefined);
    const { container, host, rerender, unmount } = show(<Markdown text="a" />);
    host.pictures.set('plot.png', new Blob(['x'], { type: 'image/png' }));
    for (const more of ['', ' b', ' b c']) {
      await act(() =>
        rerender(<Markdown text={`![the plot](plot.png)${more}`} />)
      );
    }
    const picture = container.querySelector('img');
    expect(picture?.src).toBe('blob:picture');
    expect(picture?.alt).toBe('the plot');
    expect(made).toHaveBeenCalledOnce();
    unmount();
    await settled();
    expect(revoked).toHaveBeenCalledExactlyOnceWith('blob:picture');
  });

  test('that are not there are named', async () => {
    const { container } = show(<Markdown text="![x](none.png) ok" />);
    await act(settled);
    expect(container.textContent).toContain('[image not shown: none.png] ok');
    expect(container.querySelector('img')).toBeNull();
  });
});

describe('references', () => {
  test('find what is defined below them, as text streams in', () => {
    const text = 'See [docs][1].\n\nMore.\n\n[1]: https://docs.example/x';
    const { container, rerender } = show(<Markdown text="See [do" />);
    for (let end = 8; end <= text.length; end++) {
      rerender(<Markdown text={text.slice(0, end)} />);
    }
    const link = container.querySelector('a');
    expect(link?.getAttribute('href')).toBe('https://docs.example/x');
    rerender(<Markdown text={`${text}\n\nAnd [again][1].`} />);
    expect(container.querySelectorAll('a')).toHaveLength(2);
  });
});

describe('links', () => {
  const shown = (text: string): string =>
    show(<Markdown text={text} />).container.textContent.trim();

  test.each([
    ['[docs.example](https://ample/)', 'docs.example (ample)'],
    [
      '[https://bank.example](https://evil.example/)',
      'https://bank.example (evil.example)'
    ],
    ['[x](https://bank.example@evil.example:8443/)', 'x (evil.example:8443)'],
    ['[write](mailto:a@b.example)', 'write (a@b.example)'],
    ['<https://docs.example/a>', 'https://docs.example/a']
  ])('%s says where it leads', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('are asked about for every way of opening them', async () => {
    const far = `https://docs.example/?q=${'x'.repeat(100)}`;
    const opened = vi.spyOn(window, 'open').mockReturnValue(null);
    const { getByText, host } = show(<Markdown text={`[far](${far})`} />);
    host.sure = false;
    const link = getByText('far');
    for (const event of [
      new MouseEvent('click', { bubbles: true, cancelable: true }),
      new MouseEvent('click', {
        bubbles: true,
        cancelable: true,
        ctrlKey: true
      }),
      new MouseEvent('auxclick', { bubbles: true, cancelable: true, button: 1 })
    ]) {
      expect(fireEvent(link, event)).toBe(false);
    }
    await settled();
    expect(opened).not.toHaveBeenCalled();
  });
});
