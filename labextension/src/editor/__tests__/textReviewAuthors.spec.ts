/**
 * Random histories of a text in two windows: typing, agent edits, keep and undo. Every word has an author: only the
 * agent's are marked, and no decision removes the user's.
 */

import { ChangeSet, type Text } from '@codemirror/state';
import { describe, expect, it } from 'vitest';

import {
  adoptBaseline,
  baselineOf,
  withFinalNewline,
  keepChange,
  rebaseBaseline,
  compareWithBaseline,
  textOf,
  undoChange,
  type ITextReview
} from '../textReview';

const LIVES = 120;
const STEPS = 40;

/** Pseudo-random numbers from 0 to 1 for a seed (Mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function words(text: string): Set<string> {
  return new Set(text.split(/\s+/).filter(word => word !== ''));
}

/** Words that occur more than once: an agent's deletion undone in a window that never had it. */
function repeated(text: string): Set<string> {
  const all = text.split(/\s+/);
  return new Set(all.filter((word, index) => all.indexOf(word) !== index));
}

function usersIn(text: string): string[] {
  return [...words(text)].filter(word => !word.startsWith('g'));
}

/** A window: its text and the baseline of its editor. */
class Window {
  constructor(
    public text: string,
    public baseline: Text = withFinalNewline(textOf(text))
  ) {}

  get review(): ITextReview {
    return compareWithBaseline(
      this.baseline,
      withFinalNewline(textOf(this.text))
    );
  }

  /** The user edits the text. */
  type(from: number, to: number, insert: string): void {
    const changes = ChangeSet.of({ from, to, insert }, this.text.length);
    this.baseline = rebaseBaseline(
      this.review,
      changes,
      withFinalNewline(textOf(this.text))
    );
    this.text = changes.apply(textOf(this.text)).toString();
  }

  undo(index: number): void {
    const chunk = this.review.chunks[index];
    if (chunk !== undefined) {
      const change = undoChange(this.review, chunk, this.text.length);
      const changes = ChangeSet.of(change, this.text.length);
      this.text = changes.apply(textOf(this.text)).toString();
    }
  }

  keep(index: number): void {
    const chunk = this.review.chunks[index];
    if (chunk !== undefined) {
      this.baseline = keepChange(
        this.review,
        chunk,
        withFinalNewline(textOf(this.text))
      );
    }
  }

  /** Take the server's state of the edit from another window. */
  adopt({ text, review: other }: Window): void {
    const baseline = adoptBaseline(this.text, text, baselineOf(other));
    this.baseline = withFinalNewline(textOf(baseline));
  }

  /** Check that marked lines are the agent's and contain no new words of the user. */
  check(): void {
    const current = withFinalNewline(textOf(this.text));
    const twice = repeated(this.baseline.toString());
    for (const { fromA, toA, fromB, toB } of this.review.chunks) {
      const before = words(this.baseline.sliceString(fromA, toA));
      const lines = current.sliceString(fromB, toB).split('\n');
      for (const line of lines.filter(each => each.trim() !== '')) {
        expect([...words(line)].some(word => word.startsWith('g'))).toBe(true);
        expect(
          usersIn(line).filter(word => !before.has(word) && !twice.has(word))
        ).toEqual([]);
      }
    }
  }
}

function play(seed: number): void {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const windows = [new Window('s1\ns2\ns3'), new Window('s1\ns2\ns3')] as const;
  let count = 0;
  const word = (who: string): string => {
    count += 1;
    return `${who}${count}`;
  };
  const type = (window: Window): void => {
    const lines = window.text.split('\n');
    const line = below(lines.length);
    const from = lines.slice(0, line).join('\n').length + (line === 0 ? 0 : 1);
    const end = from + (lines[line]?.length ?? 0);
    const text = word('u');
    const changes: (readonly [number, number, string])[] = [
      [from, from, `${text}\n`],
      [end, end, `\n${text}`],
      [end, end, ` ${text}`],
      [from, from, `${text} `],
      [from, Math.min(end + 1, window.text.length), '']
    ];
    window.type(...(changes[below(changes.length)] ?? [0, 0, text]));
  };
  const agent = (window: Window): void => {
    const lines = window.text.split('\n');
    const at = below(lines.length);
    const text = word('g');
    const edits = [
      () => lines.splice(at, 0, text),
      () => lines.splice(at, 1, text),
      () => lines.splice(at, 1, `${lines[at] ?? ''} ${text}`),
      () => lines.splice(at, 1)
    ];
    edits[below(edits.length)]?.();
    window.text = lines.join('\n');
  };
  const decide = (window: Window, act: 'undo' | 'keep'): void => {
    const before = usersIn(window.text);
    window[act](below(window.review.chunks.length));
    expect(before.filter(each => !words(window.text).has(each))).toEqual([]);
  };
  for (let step = 0; step < STEPS; step += 1) {
    const [window, other] = below(2) === 0 ? windows : [windows[1], windows[0]];
    const steps = [
      () => type(window),
      () => type(window),
      () => agent(window),
      () => agent(window),
      () => decide(window, 'undo'),
      () => decide(window, 'keep'),
      () => window.adopt(other)
    ];
    steps[below(steps.length)]?.();
    windows.forEach(each => each.check());
  }
}

describe('a mark of the agent', () => {
  it(`covers only its text in ${LIVES * STEPS} random steps, and no decision takes the user’s`, () => {
    for (let seed = 1; seed <= LIVES; seed += 1) {
      play(seed);
    }
  });
});
