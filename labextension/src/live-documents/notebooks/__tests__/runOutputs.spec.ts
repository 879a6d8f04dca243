import type { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel } from '@jupyterlab/outputarea';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { RunOutputs, type Pace } from '../runOutputs';

const stream = (text: string, name = 'stdout'): IOutput => ({
  output_type: 'stream',
  name,
  text
});
const result = (text: string): IOutput => ({
  output_type: 'execute_result',
  data: { 'text/plain': text },
  metadata: {},
  execution_count: 1
});

let area: OutputAreaModel;

beforeEach(() => {
  area = new OutputAreaModel({ values: [stream('old')] });
});
afterEach(() => {
  area.dispose();
});

/** A page that is never busy. */
const atOnce: Pace = (work, then) => {
  work();
  then();
};

function shown(...steps: [number, IOutput[]][]): unknown[] {
  const run = new RunOutputs(area, atOnce);
  for (const [index, outputs] of steps) {
    run.show(index, outputs);
  }
  return inArea();
}

function inArea(): unknown[] {
  return area
    .toJSON()
    .map(({ output_type, text, data }) => [output_type, text ?? data]);
}

describe('RunOutputs', () => {
  it('shows a stream that grows, in place of what stood there', () => {
    expect(
      shown(
        [0, [stream('a\n')]],
        [0, [stream('a\nb\n')]],
        [0, [stream('a\nb\nc')]]
      )
    ).toEqual([['stream', 'a\nb\nc']]);
  });

  it('applies carriage returns as the lab does', () => {
    expect(
      shown(
        [0, [stream('10%\r')]],
        [0, [stream('10%\r20%\r')]],
        [0, [stream('10%\r20%\rdone\n')]]
      )
    ).toEqual([['stream', 'done\n']]);
  });

  it('adds what follows a stream', () => {
    expect(
      shown(
        [0, [stream('a')]],
        [0, [stream('ab'), result('7')]],
        [2, [stream('no', 'stderr')]]
      )
    ).toEqual([
      ['stream', 'ab'],
      ['execute_result', { 'text/plain': '7' }],
      ['stream', 'no']
    ]);
  });

  it('replaces an output that changed and drops those that are gone', () => {
    expect(shown([0, [result('1'), result('2')]], [0, [result('3')]])).toEqual([
      ['execute_result', { 'text/plain': '3' }]
    ]);
  });

  it('starts again when the text was cleared', () => {
    expect(shown([0, [stream('first')]], [0, [stream('second')]])).toEqual([
      ['stream', 'second']
    ]);
  });

  it('waits until the page had time for other things, then shows the latest', () => {
    const waiting: (() => void)[] = [];
    const run = new RunOutputs(area, (work, then) => {
      work();
      waiting.push(then);
    });
    run.show(0, [stream('a')]);
    run.show(0, [stream('ab')]);
    run.show(0, [stream('abc')]);
    expect(inArea()).toEqual([['stream', 'a']]);
    waiting.pop()?.();
    expect(inArea()).toEqual([['stream', 'abc']]);
    waiting.pop()?.();
    expect(waiting).toEqual([]);
  });

  it('shows the ends of a flood while it comes, and all that was sent at last', () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join('');
    const run = new RunOutputs(area, atOnce);
    run.show(0, [stream(text)]);
    const [[, live]] = inArea() as [[string, string]];
    expect(live.length).toBeLessThan(50_000);
    expect([live.slice(0, 4), live.slice(-6)]).toEqual(['0\n1\n', '19999\n']);
    run.stop();
    run.showAll();
    expect(inArea()).toEqual([['stream', text]]);
  });

  it('shows nothing more once it is stopped', () => {
    const run = new RunOutputs(area, atOnce);
    run.stop();
    run.show(0, [stream('late')]);
    expect(inArea()).toEqual([]);
  });
});
