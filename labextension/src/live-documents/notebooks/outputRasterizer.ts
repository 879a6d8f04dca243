/**
 * Draws outputs as this page shows them, for a model to look at: plots of plotly and altair, SVG, widgets. Loaded by
 * the documents plugin with the first request. Does not scroll, open or run anything: an output outside the rendered
 * page stays text. Browsers do not report when an output is drawn, so an output counts as drawn when two pictures in
 * a row are equal and not blank.
 */

import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';

import type { OutputDraw, OutputPicture } from '../../wire/generated';

/** Longest side in pixels; models scale larger pictures down. */
const LONGEST_SIDE = 1568;

/** Milliseconds between two pictures of an output that is still being drawn. */
const POLL_INTERVAL = 150;

/** Milliseconds to wait for an output to be drawn; the server gives up after ten seconds. */
const DRAW_TIMEOUT = 6000;

/** An element as a PNG (a data URL), and whether all of it has one colour. */
export interface IRasterizedOutput {
  url: string;
  blank: boolean;
}

/** Draws an element. */
export type Rasterize = (
  node: HTMLElement,
  size: { width: number; height: number }
) => Promise<IRasterizedOutput>;

/** Answers the server's requests for pictures. */
export class OutputRasterizer {
  constructor(
    private readonly find: (frame: OutputDraw) => HTMLElement | null,
    private readonly draw: Rasterize = drawn
  ) {}

  /** The picture of an output, or an answer without one. */
  async answer(frame: OutputDraw): Promise<OutputPicture> {
    let data: string | null = null;
    try {
      data = await this.picture(frame);
    } catch (error) {
      // The server tells the model that there is no picture.
      console.warn('An output could not be drawn for the agent:', error);
    }
    const { operation_id } = frame;
    return { type: 'output-picture', operation_id, data };
  }

  private async picture(frame: OutputDraw): Promise<string | null> {
    const deadline = performance.now() + DRAW_TIMEOUT;
    let last: IRasterizedOutput | null = null;
    for (;;) {
      const node = this.find(frame);
      if (node === null) {
        return null;
      }
      const seen = await this.capture(node);
      if (seen !== null && !seen.blank && seen.url === last?.url) {
        return base64(seen);
      }
      last = seen;
      if (performance.now() > deadline) {
        return last === null || last.blank ? null : base64(last);
      }
      await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL));
    }
  }

  private async capture(node: HTMLElement): Promise<IRasterizedOutput | null> {
    const { width, height } = node.getBoundingClientRect();
    return width < 1 || height < 1 ? null : this.draw(node, { width, height });
  }
}

function base64(rasterize: IRasterizedOutput): string | null {
  const [, data] = rasterize.url.split(';base64,');
  return data === undefined || data === '' ? null : data;
}

/** Return the element that shows an output; null when no notebook of this page shows it. */
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
        // JupyterLab has no renderer for it and shows its text, which the model has.
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

/** Draw with a library that is loaded on first use. */
async function drawn(
  node: HTMLElement,
  { width, height }: { width: number; height: number }
): Promise<IRasterizedOutput> {
  const { toCanvas } = await import('html-to-image');
  const background =
    getComputedStyle(node).getPropertyValue('--jp-layout-color0');
  const canvas = await toCanvas(node, {
    backgroundColor: background || 'white',
    pixelRatio: Math.min(1, LONGEST_SIDE / Math.max(width, height)),
    skipFonts: true // Fonts would be fetched again.
  });
  return { url: canvas.toDataURL('image/png'), blank: hasOneColour(canvas) };
}

function hasOneColour(canvas: HTMLCanvasElement): boolean {
  const { width, height } = canvas;
  const image = canvas.getContext('2d')?.getImageData(0, 0, width, height);
  const pixels = new Uint32Array(image?.data.buffer ?? new ArrayBuffer(0));
  return pixels.every(pixel => pixel === pixels[0]);
}
