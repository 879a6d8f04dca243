/**
 * Draws outputs as this page shows them, for a model to look at: plots of plotly and altair, SVG,
 * widgets. Made by the documents plugin, one per page. Nothing is scrolled, opened or run for it: an
 * output that is not on the screen's page is left to text.
 */

import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { OutputDraw, ServerFrame } from '../wire/generated';
import type { IFrameChannel } from './documents';

/** The longest side a model gets, in pixels; larger pictures are only scaled down on the way. */
const LONGEST_SIDE = 1568;

/** Turns an element into a PNG as a data URL. */
export type Draw = (
  node: HTMLElement,
  size: { width: number; height: number }
) => Promise<string>;

/** Answers requests of the server for pictures. */
export class OutputDrawings implements IDisposable {
  constructor(
    private readonly channel: IFrameChannel,
    private readonly find: (frame: OutputDraw) => HTMLElement | null,
    private readonly draw: Draw = drawn
  ) {
    channel.frameReceived.connect(this.onFrame, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    Signal.clearData(this);
  }

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'output-draw') {
      void this.answer(frame);
    }
  };

  private async answer(frame: OutputDraw): Promise<void> {
    let data: string | null = null;
    try {
      data = await this.picture(frame);
    } catch (error) {
      // The server tells the model that there is no picture.
      console.warn('An output could not be drawn for the agent:', error);
    }
    const { operation_id } = frame;
    this.channel.send({ type: 'output-picture', operation_id, data });
  }

  private async picture(frame: OutputDraw): Promise<string | null> {
    const node = this.find(frame);
    const { width, height } = node?.getBoundingClientRect() ?? NOTHING;
    if (node === null || width < 1 || height < 1) {
      return null;
    }
    const url = await this.draw(node, { width, height });
    const [, data] = url.split(';base64,');
    return data === undefined || data === '' ? null : data;
  }

  private disposed = false;
}

const NOTHING = { width: 0, height: 0 };

/** Return the element that shows an output, null when no notebook of this page does. */
export function shownOutput(
  notebooks: INotebookTracker,
  frame: OutputDraw
): HTMLElement | null {
  const panels = notebooks.filter(
    panel => panel.context.localPath === frame.path
  );
  for (const panel of panels) {
    const cell = panel.content.widgets.find(
      item => item.model.id === frame.cell_id
    );
    if (cell instanceof CodeCell) {
      const output = cell.outputArea.widgets[frame.index]?.node;
      if (output?.isConnected && output.getClientRects().length > 0) {
        const content = rendered(output);
        // The lab has no renderer for it and shows its text, which the model has.
        return content.dataset.mimeType === 'text/plain' ? null : content;
      }
    }
  }
  return null;
}

/** The content of an output without its prompt. */
function rendered(output: HTMLElement): HTMLElement {
  return output.querySelector<HTMLElement>('.jp-OutputArea-output') ?? output;
}

/** Draw with a library that is loaded when it is first needed. */
async function drawn(
  node: HTMLElement,
  { width, height }: { width: number; height: number }
): Promise<string> {
  const { toPng } = await import('html-to-image');
  const background =
    getComputedStyle(node).getPropertyValue('--jp-layout-color0');
  return toPng(node, {
    backgroundColor: background || 'white',
    pixelRatio: Math.min(1, LONGEST_SIDE / Math.max(width, height)),
    skipFonts: true // They would be fetched again.
  });
}
