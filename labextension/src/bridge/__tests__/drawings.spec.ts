import { Signal } from '@lumino/signaling';
import { describe, expect, it, vi } from 'vitest';

import type { OutputDraw, PageFrame, ServerFrame } from '../../wire/generated';
import { OutputDrawings } from '../drawings';

// The lab's widgets are not needed to answer.
vi.mock('@jupyterlab/cells', () => ({ CodeCell: Map }));

const FRAME: OutputDraw = {
  type: 'output-draw',
  operation_id: 'operation_1',
  path: 'work/plots.ipynb',
  cell_id: 'cell-1',
  index: 2
};

class Channel {
  readonly frameReceived = new Signal<unknown, ServerFrame>(this);
  readonly opened = new Signal<unknown, void>(this);
  readonly sent: PageFrame[] = [];
  send(frame: PageFrame): boolean {
    this.sent.push(frame);
    return true;
  }
}

function element(width: number, height: number): HTMLElement {
  const node = document.createElement('div');
  node.getBoundingClientRect = () => new DOMRect(0, 0, width, height);
  return node;
}

async function answerTo(
  node: HTMLElement | null,
  draw: () => Promise<string>
): Promise<PageFrame[]> {
  const channel = new Channel();
  const drawings = new OutputDrawings(channel, () => node, draw);
  channel.frameReceived.emit(FRAME);
  await vi.waitFor(() => {
    expect(channel.sent).toHaveLength(1);
  });
  drawings.dispose();
  channel.frameReceived.emit(FRAME);
  return channel.sent;
}

describe('OutputDrawings', () => {
  const drawn = () => Promise.resolve('data:image/png;base64,cGljdHVyZQ==');
  const none = {
    type: 'output-picture',
    operation_id: 'operation_1',
    data: null
  };

  it('answers with what is shown', async () => {
    expect(await answerTo(element(300, 200), drawn)).toEqual([
      { ...none, data: 'cGljdHVyZQ==' }
    ]);
  });

  it('answers with nothing where nothing is shown', async () => {
    expect(await answerTo(null, drawn)).toEqual([none]);
    expect(await answerTo(element(0, 0), drawn)).toEqual([none]);
  });

  it('answers also when it cannot draw', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const fails = () => Promise.reject(new Error('tainted'));
    expect(await answerTo(element(300, 200), fails)).toEqual([none]);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});
