import { afterEach, describe, expect, it } from 'vitest';

import { textVersion } from '../../../wire/versions';
import { lineChanges } from '../../../text/merge';
import { normalizeText, OpenText, smallChanges } from '../openText';
import type { ITextChange } from '../../../text/edits';
import { openText, type FakeTextContext } from '../../__tests__/fakeTextLab';

const opened: FakeTextContext[] = [];

function text(content: string): { lab: FakeTextContext; open: OpenText } {
  const lab = openText(content);
  opened.push(lab);
  return { lab, open: new OpenText(lab.context) };
}

afterEach(() => opened.splice(0).forEach(lab => lab.dispose()));

describe('OpenText', () => {
  it('is replaced in one step of undo, apart from what is typed before and after', () => {
    const { lab, open } = text('one\ntwo\n');
    lab.type('typed');
    open.replace('uno\ntwo\ntyped');
    lab.type(' on');
    expect(lab.text).toBe('uno\ntwo\ntyped on');
    lab.shared.undo();
    expect(lab.text).toBe('uno\ntwo\ntyped');
    lab.shared.undo();
    expect(lab.text).toBe('one\ntwo\ntyped');
    lab.shared.undo();
    expect(lab.text).toBe('one\ntwo\n');
  });

  it('takes several changes back together', () => {
    const { lab, open } = text('a = 1\nb = 1\nc = 1\n');
    open.replace('a = 2\nb = 1\nc = 2\n');
    lab.shared.undo();
    expect(lab.text).toBe('a = 1\nb = 1\nc = 1\n');
  });

  it('has unsaved changes then, and none where nothing changes', () => {
    const { lab, open } = text('one\n');
    open.replace('one\n');
    expect(open.dirty).toBe(false);
    expect(lab.shared.undoManager.undoStack).toHaveLength(0);
    open.replace('two\n');
    expect(open.dirty).toBe(true);
  });

  it('knows neither a byte order mark nor returns, and keeps the mark', () => {
    const { lab, open } = text('\ufeffone\r\ntwo\n');
    expect(open.text).toBe('one\ntwo\n');
    expect(open.version).toBe(textVersion('one\ntwo\n'));
    open.replace('one\n2\n');
    expect(lab.text).toBe('\ufeffone\n2\n');
  });

  it('counts what a room keeps as saved', () => {
    const { lab, open } = text('one\n');
    lab.type('!');
    Object.defineProperty(lab.model, 'collaborative', { value: true });
    expect(open.dirty).toBe(false);
  });
});

function applied(before: string, changes: readonly ITextChange[]): string {
  return changes.reduceRight(
    (text, { from, to, insert }) =>
      text.slice(0, from) + insert + text.slice(to),
    before
  );
}

describe('smallChanges', () => {
  const long = Array.from({ length: 6000 }, (_, at) => `line ${at}`);
  const changed = (edit: (lines: string[]) => void): string => {
    const lines = [...long];
    edit(lines);
    return lines.join('\n');
  };
  const far = (lines: string[]): void => {
    lines[0] = 'first';
  };
  it.each([
    ['a line in the middle', (lines: string[]) => lines.splice(3000, 1, 'x')],
    ['the last line', (lines: string[]) => lines.splice(-1, 1, 'x')],
    ['lines after the last', (lines: string[]) => lines.push('x', 'y')],
    ['a newline at the end', (lines: string[]) => lines.push('')],
    ['the last lines gone', (lines: string[]) => lines.splice(-2)],
    ['nearly all gone', (lines: string[]) => lines.splice(1)]
  ])('makes a far change and %s, in whole lines', (_, edit) => {
    const before = long.join('\n');
    const after = changed(lines => {
      far(lines);
      edit(lines);
    });
    const changes = smallChanges(before, after, lineChanges);
    expect(applied(before, changes)).toBe(after);
    // The line comparison may not be loaded yet.
    const piece = smallChanges(before, after, null);
    expect(piece).toHaveLength(1);
    expect(applied(before, piece)).toBe(after);
  });

  it('does not take a character apart', () => {
    const [before, after] = [
      `\u{1f600}${'a'.repeat(30_000)}\u{1f600}`,
      `\u{1f601}${'b'.repeat(30_000)}\u{1fa00}`
    ];
    expect(smallChanges(before, after, null)).toEqual([
      { from: 0, to: before.length, insert: after }
    ]);
  });

  it('leaves what is the same between far changes alone', () => {
    const after = changed(lines => {
      far(lines);
      lines[5999] = 'last';
    });
    const changes = smallChanges(long.join('\n'), after, lineChanges);
    expect(changes.map(({ insert }) => insert)).toEqual(['first\n', 'last']);
  });
});

it.each([
  ['a\r\nb\rc\n', 'a\nb\nc\n'],
  ['\ufeffa', 'a'],
  ['a\ufeff', 'a\ufeff']
])('the text of %j is %j', (source, expected) => {
  expect(normalizeText(source)).toBe(expected);
});
