/** Previews of runs. */

import { describe, expect, test } from 'vitest';

import { tableIn } from '../runPreviews';

const row = (...cells: string[]): string => `<tr>${cells.join('')}</tr>`;

describe('the table of an output', () => {
  test('is its names and first rows, with the size that pandas says', () => {
    const head = row('<th></th>', '<th>city</th>', '<th>price</th>');
    const body = [1, 2, 3, 4, 5].map(n =>
      row(`<th>${n}</th>`, '<td>Bern</td>', `<td>${n}.5</td>`)
    );
    expect(
      tableIn(
        `<style>td { color: red }</style><table><thead>${head}</thead><tbody>${body.join('')}</tbody></table><p>1,000 rows × 2 columns</p>`
      )
    ).toEqual({
      header: ['', 'city', 'price'],
      rows: [
        ['1', 'Bern', '1.5'],
        ['2', 'Bern', '2.5'],
        ['3', 'Bern', '3.5']
      ],
      size: { rows: 1000, columns: 2 }
    });
  });

  test('is counted where nothing says how large it is', () => {
    const html = `<table>${row('<th>a</th>', '<th>b</th>')}${row('<td>1</td>', '<td>2</td>')}</table>`;
    expect(tableIn(html)).toEqual({
      header: ['a', 'b'],
      rows: [['1', '2']],
      size: { rows: 1, columns: 2 }
    });
  });

  test('has the size that polars says', () => {
    const html = `<div><small>shape: (5_000, 3)</small><table>${row('<td>1</td>')}</table></div>`;
    expect(tableIn(html)?.size).toEqual({ rows: 5000, columns: 3 });
  });

  test('is text: markup of its cells does nothing', () => {
    const html = `<table>${row('<td><img src=x onerror="window.hit = 1">a<b>b</b></td>')}</table>`;
    expect(tableIn(html)?.rows).toEqual([['ab']]);
    expect(window).not.toHaveProperty('hit');
  });

  test('is cut: columns, long texts', () => {
    const wide = row(
      ...Array.from({ length: 20 }, () => `<td>${'x'.repeat(99)}</td>`)
    );
    const rows = tableIn(`<table>${wide}</table>`)?.rows;
    expect(rows?.[0]).toHaveLength(6);
    expect(rows?.[0]?.[0]).toBe(`${'x'.repeat(40)}…`);
  });

  test.each(['<p>none</p>', '<table></table>', ''])('is none in %s', html => {
    expect(tableIn(html)).toBeNull();
  });
});
