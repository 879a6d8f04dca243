/**
 * Line diff with the same rule as the server's `core/line_diff.py`: lines that occur once in both texts align them
 * (patience diff); between them, the longest common runs of lines (Ratcliff and Obershelp, as in Python's `difflib`).
 * Pure.
 */

/** Half-open line ranges: from and to in the old text, from and to in the new one. */
export type Region = readonly [
  start: number,
  end: number,
  first: number,
  last: number
];

/** Lines `start` to `end` (from 0, half-open) of a text become `lines`. */
export interface ILineChange {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

type Lines = readonly string[];

/** Largest region, in pairs of lines, that is compared line by line; a larger one counts as changed as a whole. */
const COMPARED = 90_000;

/** The changes that turn `old` into `now`, in order. */
export function lineChangesOf(old: Lines, now: Lines): ILineChange[] {
  return changedRegions(old, now).map(([start, end, first, last]) => ({
    start,
    end,
    lines: now.slice(first, last)
  }));
}

/** The lines of a text after changes that do not overlap. */
export function changedLines(
  lines: Lines,
  changes: readonly ILineChange[]
): string[] {
  const result: string[] = [];
  let position = 0;
  const ordered = [...changes].sort(
    (one, other) => one.start - other.start || one.end - other.end
  );
  for (const change of ordered) {
    result.push(...lines.slice(position, change.start), ...change.lines);
    position = change.end;
  }
  return [...result, ...lines.slice(position)];
}

/** The differing regions in order; adjacent ones are joined. */
export function changedRegions(old: Lines, now: Lines): Region[] {
  const joined: Region[] = [];
  for (const region of regions(old, now, [0, old.length, 0, now.length])) {
    const before = joined.at(-1);
    if (before?.[1] === region[0] && before[3] === region[2]) {
      joined[joined.length - 1] = [before[0], region[1], before[2], region[3]];
    } else {
      joined.push(region);
    }
  }
  return joined;
}

function regions(old: Lines, now: Lines, whole: Region): Region[] {
  const region = trimmed(old, now, whole);
  const [start, end, first, last] = region;
  if (start === end || first === last) {
    return isEmpty(region) ? [] : [region];
  }
  const held = anchors(old, now, region);
  return held.length === 0
    ? compared(old, now, region)
    : between(region, held).flatMap(part => regions(old, now, part));
}

function isEmpty([start, end, first, last]: Region): boolean {
  return start === end && first === last;
}

/** A region without its common first and last lines. */
function trimmed(
  old: Lines,
  now: Lines,
  [start, end, first, last]: Region
): Region {
  const most = Math.min(end - start, last - first);
  let head = 0;
  while (head < most && old[start + head] === now[first + head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < most - head && old[end - 1 - tail] === now[last - 1 - tail]) {
    tail += 1;
  }
  return [start + head, end - tail, first + head, last - tail];
}

/** The regions between aligned lines. */
function between(
  [from, end, begin, last]: Region,
  held: readonly Pair[]
): Region[] {
  let [start, first] = [from, begin];
  return [...held, [end, last] as const].map(([line, other]) => {
    const part: Region = [start, line, first, other];
    start = line + 1;
    first = other + 1;
    return part;
  });
}

type Pair = readonly [line: number, other: number];

/** The longest ascending sequence of lines that occur once in both. */
function anchors(
  old: Lines,
  now: Lines,
  [start, end, first, last]: Region
): Pair[] {
  if (end - start === 1 || last - first === 1) {
    return [];
  }
  const mine = positionsOf(old, start, end);
  const others = positionsOf(now, first, last);
  const pairs: Pair[] = [];
  for (const [line, [place, ...more]] of mine) {
    const [other, ...rest] = others.get(line) ?? [];
    const isOnce = more.length === 0 && rest.length === 0;
    if (isOnce && place !== undefined && other !== undefined) {
      pairs.push([place, other]);
    }
  }
  return ascending(pairs);
}

/** Positions of each line of a range, in order. */
function positionsOf(
  lines: Lines,
  from: number,
  to: number
): Map<string, number[]> {
  const places = new Map<string, number[]>();
  lines.slice(from, to).forEach((line, index) => {
    const known = places.get(line);
    if (known === undefined) {
      places.set(line, [from + index]);
    } else {
      known.push(from + index);
    }
  });
  return places;
}

interface IRow {
  readonly pair: Pair;
  readonly before: IRow | null;
}

/** The longest sequence of pairs with ascending second numbers (patience sorting). */
function ascending(pairs: readonly Pair[]): Pair[] {
  const piles: IRow[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((piles[middle]?.pair[1] ?? 0) < pair[1]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    piles[low] = { pair, before: piles[low - 1] ?? null };
  }
  const row: Pair[] = [];
  for (let at = piles.at(-1) ?? null; at !== null; at = at.before) {
    row.unshift(at.pair);
  }
  return row;
}

/** The regions beside the longest common runs of lines. */
function compared(old: Lines, now: Lines, region: Region): Region[] {
  const [start, end, first, last] = region;
  if (isEmpty(region)) {
    return [];
  }
  if ((end - start) * (last - first) > COMPARED) {
    return [region];
  }
  const [line, other, size] = longestRun(old, now, region);
  return size === 0
    ? [region]
    : [
        ...compared(old, now, [start, line, first, other]),
        ...compared(old, now, [line + size, end, other + size, last])
      ];
}

/** The first longest common run of lines: its position in each text, and its length. */
function longestRun(
  old: Lines,
  now: Lines,
  [start, end, first, last]: Region
): [line: number, other: number, size: number] {
  const places = positionsOf(now, first, last);
  let best: [number, number, number] = [start, first, 0];
  let runs = new Map<number, number>();
  for (let line = start; line < end; line += 1) {
    const longer = new Map<number, number>();
    for (const other of places.get(old[line] ?? '') ?? []) {
      const size = (runs.get(other - 1) ?? 0) + 1;
      longer.set(other, size);
      if (size > best[2]) {
        best = [line - size + 1, other - size + 1, size];
      }
    }
    runs = longer;
  }
  return best;
}
