/** What is dropped on the panel, and when it is shown. */

import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { expect, test } from 'vitest';

import { ReferencesWidget } from '../panelWidget';

// jsdom lacks it; the widget renders with it.
window.requestIdleCallback = run => window.setTimeout(run, 0);

async function attached() {
  const done: unknown[] = [];
  const widget = new ReferencesWidget(nullTranslator.load('x'), async () => ({
    view: () => null as never,
    dropFiles: paths => void done.push(paths),
    dropForeign: () => void done.push('foreign')
  }));
  widget.shown.connect(() => done.push('shown'));
  Widget.attach(widget, document.body);
  await Promise.resolve();
  await Promise.resolve();
  const send = (type: string, more: object): Event => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.assign(event, more);
    widget.node.dispatchEvent(event);
    return event;
  };
  return { done, send, widget };
}

const drag = (type: string, value: unknown) => ({
  mimeData: { hasData: (asked: string) => asked === type, getData: () => value }
});

test('files of the file browser are taken', async () => {
  const { done, send, widget } = await attached();
  const files = drag('application/x-jupyter-icontents', ['a/paper.pdf']);
  for (const type of ['lm-dragenter', 'lm-dragover', 'lm-drop']) {
    const event = send(type, files);
    expect(event).toMatchObject({
      defaultPrevented: true,
      dropAction: 'copy'
    });
  }
  expect(send('lm-drop', drag('cells', [])).defaultPrevented).toBe(false);
  expect(done).toEqual([['a/paper.pdf']]);
  widget.dispose();
});

test('files from outside of the lab are named as such', async () => {
  const { done, send, widget } = await attached();
  send('drop', { dataTransfer: { types: ['text/plain'] } });
  send('drop', { dataTransfer: { types: ['Files'] } });
  expect(done).toEqual(['foreign']);
  widget.dispose();
});

test('the page learns that the panel is shown again', async () => {
  const { done, widget } = await attached();
  widget.hide();
  expect(done).toEqual([]);
  widget.show();
  expect(done).toEqual(['shown']);
  widget.dispose();
});
