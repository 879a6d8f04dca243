import type { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel } from '@jupyterlab/outputarea';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { RunOutputs } from '../runOutputs';

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

function shown(...steps: [number, IOutput[]][]): unknown[] {
  const run = new RunOutputs(area);
  for (const [index, outputs] of steps) {
    run.show(index, outputs);
  }
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
});
