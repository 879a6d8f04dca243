import { fireEvent } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import * as React from 'react';

import { settled } from '../../../model/__tests__/fakes';
import { act, show } from '../../__tests__/harness';
import { Markdown } from '../Markdown';
import { sanitise } from '../sanitise';

const html = (text: string) => {
  const { container } = show(<Markdown text={text} />);
  return container;
};

/** Payloads that must neither run nor load anything, with text that must remain. */
const HOSTILE: [string, string][] = [
  ['script', '<script>window.hit = 1</script>ok'],
  ['handler', '<img src=x onerror="window.hit = 1">ok'],
  ['svg', '<svg onload="window.hit=1"><script>1</script></svg>ok'],
  ['math', '<math><mi xlink:href="javascript:1">x</mi></math>ok'],
  ['iframe', '<iframe src="https://evil.example"></iframe>ok'],
  ['object', '<object data="https://evil.example"></object>ok'],
  ['form', '<form action="https://evil.example"><input></form>ok'],
  ['button', '<button formaction="javascript:1">x</button>ok'],
  ['style', '<p style="background:url(https://evil.example/x)">ok</p>'],
  ['style tag', '<style>@import "https://evil.example";</style>ok'],
  ['link tag', '<link rel="stylesheet" href="https://evil.example">ok'],
  ['base', '<base href="https://evil.example/">ok'],
  ['meta', '<meta http-equiv="refresh" content="0;url=//evil.example">ok'],
  ['javascript link', '[ok](javascript:window.hit=1)'],
  ['entity link', '[ok](java&#x73;cript&colon;window.hit=1)'],
  ['data link', '[ok](data:text/html,<script>1</script>)'],
  ['vbscript', '<a href="vbscript:1">ok</a>'],
  ['remote image', '![ok](https://evil.example/p.png?q=secret)'],
  ['protocol-relative image', '![ok](//evil.example/p.png)'],
  ['relative image', '![ok](../api/contents)'],
  ['svg data image', '![ok](data:image/svg+xml;base64,PHN2Zz4=)'],
  ['reference image', '![ok][x]\n\n[x]: https://evil.example/p.png'],
  ['html image', '<img src="https://evil.example/p.png" alt="ok">'],
  ['srcset', '<img srcset="https://evil.example/p.png 1x" alt="ok">'],
  ['picture', '<picture><source srcset="//evil.example"></picture>ok'],
  ['video', '<video src="https://evil.example" poster="//x"></video>ok'],
  ['audio', '<audio src="https://evil.example"></audio>ok'],
  ['image input', '<input type="image" src="https://evil.example">ok'],
  ['command linker', '<a data-commandlinker-command="x" href="#">ok</a>'],
  ['class', '<div class="jp-Dialog">ok</div>'],
  ['id', '<a id="app" name="app">ok</a>'],
  ['target', '<a href="https://a.example" target="_top">ok</a>'],
  ['code in a list', '- <script>1</script>ok'],
  ['heading', '# <img src=x onerror=1>ok'],
  ['table', '| a |\n|---|\n| <img src=x onerror=1>ok |']
];

describe('untrusted text', () => {
  test.each(HOSTILE)('%s does nothing', (_, text) => {
    const page = html(text);
    expect(page.textContent).toContain('ok');
    for (const element of page.querySelectorAll('*')) {
      expect(element.tagName.toLowerCase()).not.toMatch(
        /^(script|style|link|base|meta|iframe|object|embed|form|input|svg|math|video|audio|source|picture)$/
      );
      for (const { name, value } of element.attributes) {
        expect(name).not.toMatch(
          /^(on|data-|style$|srcset|formaction|id$|name$)/
        );
        expect(value).not.toMatch(/javascript:|vbscript:|data:text/i);
      }
      expect(element.getAttribute('src') ?? 'data:image/png').toMatch(
        /^data:image\/png/
      );
      expect(element.className).not.toContain('jp-');
    }
    for (const link of page.querySelectorAll('a[href]')) {
      expect(link.getAttribute('rel')).toBe('noopener noreferrer');
      expect(link.getAttribute('target')).toBe('_blank');
    }
  });

  test('text is not made into markup', () => {
    expect(html('1 < 2 & `<b>`').textContent.trim()).toBe('1 < 2 & <b>');
  });
});

test('a picture that came with the text is shown', () => {
  const picture = html('![p](data:image/png;base64,aGk=)').querySelector('img');
  expect(picture?.getAttribute('src')).toBe('data:image/png;base64,aGk=');
});

test('a link says where it leads', () => {
  const [link] = html(
    '[docs](https://docs.example/x?q=1)'
  ).getElementsByTagName('a');
  expect(link?.textContent).toBe('docs (docs.example)');
  expect(link?.title).toBe('https://docs.example/x?q=1');
  expect(html('<https://docs.example/x>').textContent.trim()).toBe(
    'https://docs.example/x'
  );
});

test('an address with a long query is opened only when the user says so', async () => {
  const opened = vi.spyOn(window, 'open').mockReturnValue(null);
  const far = `https://docs.example/?q=${'x'.repeat(100)}`;
  const { host, getByText } = show(
    <Markdown text={`[far](${far}) [near](https://docs.example/?q=1)`} />
  );
  expect(fireEvent.click(getByText('near'))).toBe(true);
  host.sure = false;
  expect(fireEvent.click(getByText('far'))).toBe(false);
  await settled();
  expect(opened).not.toHaveBeenCalled();
  host.sure = true;
  fireEvent.click(getByText('far'));
  await settled();
  expect(opened).toHaveBeenCalledExactlyOnceWith(
    far,
    '_blank',
    'noopener,noreferrer'
  );
});

describe('code', () => {
  const fence = '- item\n\n  ```python title\n  x = 1\n  ```';
  const name = (words: string) => ({ name: words });

  test('has its language, is copied, made a cell or a file', async () => {
    const { getByRole, getByText, host, container } = show(
      <Markdown text={fence} />
    );
    await act(() =>
      host.look({ cell: { id: 'c1', number: 1, hasError: false } })
    );
    expect(getByText('python')).toBeTruthy();
    for (const words of [
      'Copy',
      'Insert as cell below',
      'Replace the active cell',
      'New file'
    ]) {
      await act(() => getByRole('button', name(words)).click());
    }
    expect(getByRole('button', name('Copied'))).toBeTruthy();
    expect(host.done).toEqual([
      ['copy', 'x = 1'],
      ['insert', 'x = 1', 'python'],
      ['replace', 'x = 1', 'python'],
      ['file', 'x = 1', 'python']
    ]);
    expect(container.querySelector('li pre')?.textContent).toBe('x = 1');
  });

  test('becomes no cell while no notebook is in front', () => {
    const { getByRole } = show(<Markdown text={fence} />);
    const insert = getByRole(
      'button',
      name('Insert as cell below (Open a notebook first)')
    );
    expect((insert as HTMLButtonElement).disabled).toBe(true);
  });
});

test('code of other languages is not offered as a cell', () => {
  const { queryByRole } = show(<Markdown text={'```bash\nls\n```'} />);
  expect(queryByRole('button', { name: /cell/ })).toBeNull();
  expect(queryByRole('button', { name: 'New file' })).not.toBeNull();
});

test('lists, tasks, quotes and tables keep their shape', () => {
  const page = html(
    '3. a\n4. b\n\n- [x] done\n- [ ] open\n\n> q\n\n|a|b|\n|-|-:|\n|1|2|'
  );
  expect(page.querySelector('ol')?.start).toBe(3);
  const boxes = [...page.querySelectorAll('[role=checkbox]')];
  expect(boxes.map(box => box.getAttribute('aria-checked'))).toEqual([
    'true',
    'false'
  ]);
  expect(page.querySelector('input')).toBeNull();
  expect(page.querySelector('blockquote')?.textContent).toBe('q\n');
  expect(page.querySelectorAll('td')[1]?.getAttribute('align')).toBe('right');
});

test('only the growing block is rendered again', () => {
  const { container, rerender } = show(<Markdown text={'one\n\ntwo'} />);
  const [first, second] = container.querySelectorAll('p');
  rerender(<Markdown text={'one\n\ntwo and'} />);
  const [again, grown] = container.querySelectorAll('p');
  expect(again).toBe(first);
  expect(grown).not.toBe(second);
  expect(grown?.textContent).toBe('two and');
});

test('the lab’s own sanitiser is not touched', () => {
  expect(sanitise('<p class="x">a</p>').firstElementChild?.outerHTML).toBe(
    '<p>a</p>'
  );
});

test('the host after a link has a distinct look that no text can imitate', () => {
  const { container } = show(
    <Markdown
      text={
        '<span class="shoulders-Markdown-host">x</span> [y](https://a.example/)'
      }
    />
  );
  const notes = container.querySelectorAll('.shoulders-Markdown-host');
  expect([...notes].map(note => note.textContent)).toEqual([' (a.example)']);
});

test('markup of which no page can be made stands as it was written', () => {
  const page = html('<frameset onload=window.hit=1>x</frameset>');
  expect(page.textContent).toContain('frameset');
  expect(page.innerHTML).not.toContain('<frameset');
});
