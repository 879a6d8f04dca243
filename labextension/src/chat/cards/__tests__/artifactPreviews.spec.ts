import { describe, expect, test } from 'vitest';

import { textPreview, previewOf } from '../ArtifactCard';
import type { CallView, Json } from '../../../wire/generated';
import {
  outputsOf,
  staticPage
} from '../../../model/view-models/sandboxedHtml';

test.each([
  ['image/png', 'plot.png', 100, 'picture'],
  ['image/svg+xml', 'plot.svg', 100, 'picture'],
  ['image/png', 'large.png', 9_000_000, 'none'],
  ['image/tiff', 'scan.tiff', 100, 'none'],
  ['text/csv', 'data.csv', 100, 'table'],
  ['application/octet-stream', 'DATA.TSV', 100, 'table'],
  ['application/json', 'data.json', 100, 'text'],
  ['application/octet-stream', 'model.py', 100, 'text'],
  ['text/html', 'report.html', 100, 'page'],
  ['application/zip', 'all.zip', 100, 'none']
])('%s (%s, %i bytes) is shown as %s', (media_type, name, size, preview) => {
  expect(previewOf({ media_type, name, size })).toBe(preview);
});

test('only the beginning of a long text is shown', () => {
  expect(textPreview('short')).toEqual({ text: 'short', whole: true });
  const long = textPreview('x'.repeat(30_000));
  expect(long.text).toHaveLength(20_000);
  expect(long.whole).toBe(false);
});

describe('a page of HTML', () => {
  const tamed = (html: string): string => staticPage(html);

  test('begins with a policy that forbids every load', () => {
    const page = tamed('<p>hi</p><img src="https://evil.example/a.png">');
    expect(page.indexOf('Content-Security-Policy')).toBeLessThan(
      page.indexOf('evil.example')
    );
    expect(page).toContain("default-src 'none'");
  });

  test.each([
    '<script>steal()</script>',
    '<base href="https://evil.example/">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    '<a href="https://evil.example/">x</a>',
    '<form action="https://evil.example/"><button formaction="https://evil.example/">x</button></form>',
    '<svg><a xlink:href="https://evil.example/"><text>x</text></a></svg>',
    '<div><template shadowrootmode="open"><a href="https://evil.example/">x</a></template></div>',
    '<svg><a><set attributeName="href" to="https://evil.example/"/><text>x</text></a></svg>',
    '<iframe src="https://evil.example/"></iframe>',
    '<object data="https://evil.example/"></object>'
  ])('has no way out: %s', html => {
    const page = tamed(html);
    expect(page).not.toContain('evil.example');
    expect(page).not.toContain('steal');
  });
});

test('outputs that say more than their text are shown as the notebook has them', () => {
  const outputs: Json[] = [
    { output_type: 'stream', text: 'plain' },
    { output_type: 'stream', text: ['\u001b[31ma\n', 'b\u001b[0m'] },
    { output_type: 'error', traceback: ['\u001b[31mE\u001b[0m', 'line'] },
    { output_type: 'display_data', data: { 'text/html': ['<b>', 'x</b>'] } },
    { output_type: 'display_data', data: { 'text/plain': 'x' } },
    null
  ];
  const call = { result: { data: { outputs } } } as unknown as CallView; // The fields read here.
  expect(outputsOf(call)).toEqual([
    { kind: 'terminal', text: '\u001b[31ma\nb\u001b[0m' },
    { kind: 'terminal', text: '\u001b[31mE\u001b[0m\nline' },
    { kind: 'page', html: '<b>x</b>' }
  ]);
  expect(outputsOf({ result: null } as CallView)).toEqual([]);
});
