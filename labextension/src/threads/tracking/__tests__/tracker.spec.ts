import { expect, test } from 'vitest';

import { remember } from '../../anchors/anchors';
import type { Anchor } from '../../../wire/generated';
import type { IThreadPosition } from '../trackedThread';
import { ThreadTracker } from '../tracker';
import { RandomEdits } from './randomEdits';

const SEEDS = Array.from({ length: 30 }, (_, seed) => seed + 1);
const STEPS = 120;

/** Text in which no character occurs twice. */
function unique(): (next: () => number) => string {
  let code = 0x4e00;
  return next =>
    Array.from({ length: 6 + Math.floor(next() * 12) }, () => {
      code += 1;
      return String.fromCharCode(code);
    }).join('');
}

/** Lines of code, many of them equal. */
function alike(next: () => number): string {
  const name = 'xyz'.charAt(Math.floor(next() * 3));
  return `${name} = load(${Math.floor(next() * 2)})`;
}

interface IMarked {
  id: string;
  marks: Set<number>;
  /** The text when it was last found. */
  quote: string;
  /** Whether it was ever in two places. */
  isTorn: boolean;
}

function anchorOf(
  cell_id: string,
  text: string,
  from: number,
  to: number
): Anchor {
  return {
    ...{ document: 'a.ipynb', cell_id, target: 'source', range: { from, to } },
    ...remember(text, { from, to }),
    ...{ version: null, certainty: 'exact', output: null }
  };
}

/** Anchor threads to ranges of the notebook. */
function pinned(storm: RandomEdits, tracker: ThreadTracker): IMarked[] {
  return storm.cells.flatMap(({ id, text, marks }, index) => {
    const from = text.indexOf('\n') + 1;
    const to = text.indexOf('\n', from + 1);
    const name = `thread-${index}`;
    tracker.track(name, anchorOf(id, text, from, to));
    return [
      {
        id: name,
        marks: new Set(marks.slice(from, to)),
        quote: text.slice(from, to),
        isTorn: false
      }
    ];
  });
}

interface IPlace {
  cell: string;
  from: number;
  to: number;
}

/** The ranges with the characters of a thread; text inserted among them belongs to it. */
function partsOf(storm: RandomEdits, { marks }: IMarked): IPlace[] {
  return storm.cells.flatMap(cell => {
    const places = cell.marks.flatMap((mark, at) =>
      marks.has(mark) && cell.text.charAt(at).trim() !== '' ? [at] : []
    );
    const [from, last] = [places[0], places.at(-1)];
    if (from === undefined || last === undefined) {
      return [];
    }
    cell.marks.slice(from, last + 1).forEach(mark => marks.add(mark));
    return [trimmed({ cell: cell.id, from, to: last + 1 }, cell.text)];
  });
}

/** The range without surrounding white space. */
function trimmed({ cell, from, to }: IPlace, text: string): IPlace {
  const part = text.slice(from, to);
  const start = from + (part.length - part.trimStart().length);
  return { cell, from: start, to: start + part.trim().length };
}

/** Whether a range is the expected one; text just written in place of its ends may belong to it. */
function isMeant(
  storm: RandomEdits,
  { marks, isTorn }: IMarked,
  place: IPlace,
  part: IPlace
): boolean {
  if (place.cell !== part.cell) {
    return false;
  }
  if (isTorn && place.from >= part.from && place.to <= part.to) {
    return true;
  }
  const all = storm.cells.find(({ id }) => id === part.cell)?.marks ?? [];
  const beside = [
    ...all.slice(place.from, part.from),
    ...all.slice(part.to, place.to)
  ];
  const isAround = place.from <= part.from && place.to >= part.to;
  const isIt =
    isAround && beside.every(mark => mark > storm.known || marks.has(mark));
  beside.filter(() => isIt).forEach(mark => marks.add(mark));
  return isIt;
}

interface ICount {
  steps: number;
  exact: number;
  uncertain: number;
  gone: number;
  lost: string[];
  wrong: string[];
}

/** Compare one thread with the positions of its characters. */
function look(
  storm: RandomEdits,
  tracker: ThreadTracker,
  thread: IMarked,
  count: ICount,
  at: string
): void {
  const parts = partsOf(storm, thread);
  const spot = tracker.positionOf(thread.id) ?? null;
  const told = `${at} ${thread.id}: ${JSON.stringify(parts)}`;
  thread.isTorn ||= parts.length > 1;
  if (spot?.certainty === 'exact') {
    count.exact += 1;
    if (!isRight(storm, thread, spot, parts)) {
      count.wrong.push(told);
    }
    return;
  }
  count[parts.length === 0 ? 'gone' : 'uncertain'] += 1;
  if (spot === null && parts.some(part => isWhole(storm, thread, part))) {
    count.lost.push(told);
  }
}

/**
 * Whether a certain location is right: that of the characters, or of the same text written again. In a text replaced
 * as a whole, equal lines cannot be told apart.
 */
function isRight(
  storm: RandomEdits,
  thread: IMarked,
  { unit, range }: IThreadPosition,
  parts: readonly IPlace[]
): boolean {
  const { from, to } = range ?? { from: 0, to: 0 };
  const text = unit.source.slice(from, to);
  const isSame = text === thread.quote;
  const isBack = isSame && parts.length === 0;
  thread.quote = text;
  const place = trimmed({ cell: unit.id ?? '', from, to }, unit.source);
  if (isBack || parts.some(part => isMeant(storm, thread, place, part))) {
    return true;
  }
  const isEither = isSame && storm.isRewritten;
  if (isEither) {
    thread.marks = new Set(marksIn(storm, unit.id, from, to));
  }
  return isEither;
}

function marksIn(
  storm: RandomEdits,
  cell: string | null,
  from: number,
  to: number
): number[] {
  const all = storm.cells.find(({ id }) => id === cell)?.marks ?? [];
  return all.slice(from, to);
}

/** Whether a range is all of a thread that was never torn. */
function isWhole(storm: RandomEdits, thread: IMarked, part: IPlace): boolean {
  const text = storm.cells.find(({ id }) => id === part.cell)?.text ?? '';
  return !thread.isTorn && text.slice(part.from, part.to) === thread.quote;
}

test.each([
  { name: 'no character comes twice', words: unique },
  { name: 'many lines are the same', words: () => alike }
])(
  'threads follow their text where $name',
  ({ words }) => {
    const count: ICount = { ...NOTHING, lost: [], wrong: [] };
    for (const seed of SEEDS) {
      run(seed, words(), count);
    }

    expect({ lost: count.lost, wrong: count.wrong }).toEqual(FLAWLESS);
    expect(count.steps).toBeGreaterThan(50 * SEEDS.length);
    expect(count.exact).toBeGreaterThan(2 * count.uncertain);
  },
  60_000
);

const NOTHING = { steps: 0, exact: 0, uncertain: 0, gone: 0 };
const FLAWLESS = { lost: [], wrong: [] };

/** Run random changes on one notebook while all positions are known. */
function run(
  seed: number,
  words: (next: () => number) => string,
  count: ICount
): void {
  const storm = new RandomEdits(seed, words, 6);
  const tracker = new ThreadTracker(storm.notebook.ydoc, true);
  const threads = pinned(storm, tracker);
  for (let step = 0; step < STEPS; step += 1) {
    const act = storm.step();
    if (!storm.isKnown) {
      return;
    }
    count.steps += 1;
    for (const thread of threads) {
      look(storm, tracker, thread, count, `${seed}.${step} ${act}`);
    }
  }
}
