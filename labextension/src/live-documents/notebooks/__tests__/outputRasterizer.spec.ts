import { afterEach, describe, expect, it, vi } from 'vitest';

import type { OutputDraw, OutputPicture } from '../../../wire/generated';
import { type IRasterizedOutput, OutputRasterizer } from '../outputRasterizer';

// The widgets of JupyterLab are not needed for an answer.
vi.mock('@jupyterlab/cells', () => ({ CodeCell: Map }));

const FRAME: OutputDraw = {
  type: 'output-draw',
  operation_id: 'operation_1',
  path: 'work/plots.ipynb',
  cell_id: 'cell-1',
  index: 2
};

function element(width: number, height: number): HTMLElement {
  const node = document.createElement('div');
  node.getBoundingClientRect = () => new DOMRect(0, 0, width, height);
  return node;
}

afterEach(() => {
  vi.useRealTimers();
});

/** Time passes only while the rasterizer waits. */
async function answerTo(
  node: HTMLElement | null,
  draw: () => Promise<IRasterizedOutput>
): Promise<OutputPicture> {
  vi.useFakeTimers();
  const answer = new OutputRasterizer(() => node, draw).answer(FRAME);
  await vi.advanceTimersByTimeAsync(10_000);
  return answer;
}

describe('OutputDrawings', () => {
  const picture = (data: string, blank = false) => ({
    url: `data:image/png;base64,${data}`,
    blank
  });
  const drawn = () => Promise.resolve(picture('cGljdHVyZQ=='));
  const oneByOne = (first: IRasterizedOutput[], then: IRasterizedOutput) => {
    const left = first.slice();
    return vi.fn(() => Promise.resolve(left.shift() ?? then));
  };
  const none = {
    type: 'output-picture',
    operation_id: 'operation_1',
    data: null
  };

  it('answers with what is shown', async () => {
    expect(await answerTo(element(300, 200), drawn)).toEqual({
      ...none,
      data: 'cGljdHVyZQ=='
    });
  });

  it('answers with nothing where nothing is shown', async () => {
    expect(await answerTo(null, drawn)).toEqual(none);
  });

  it('waits until an output is drawn', async () => {
    const blank = picture('YmxhbmsK', true);
    const draw = oneByOne(
      [blank, blank, picture('aGFsZg==')],
      picture('d2hvbGU=')
    );
    expect(await answerTo(element(300, 200), draw)).toEqual({
      ...none,
      data: 'd2hvbGU='
    });
    expect(draw).toHaveBeenCalledTimes(5);
  });

  it('sends the last picture of an output that keeps changing', async () => {
    let looks = 0;
    const draw = () => Promise.resolve(picture(btoa(String(looks++))));
    const answer = await answerTo(element(300, 200), draw);
    expect(answer).toMatchObject({ data: btoa(String(looks - 1)) });
  });

  it('has no picture of an output that stays empty', async () => {
    const blank = () => Promise.resolve(picture('YmxhbmsK', true));
    expect(await answerTo(element(300, 200), blank)).toEqual(none);
    expect(await answerTo(element(0, 0), drawn)).toEqual(none);
  });

  it('answers also when it cannot draw', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const fails = () => Promise.reject(new Error('tainted'));
    expect(await answerTo(element(300, 200), fails)).toEqual(none);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});
