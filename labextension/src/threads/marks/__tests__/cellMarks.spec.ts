import { afterEach, expect, test, vi } from 'vitest';

import { drawNodeMark, type INodeMark } from '../cellMarks';

afterEach(() => document.body.replaceChildren());

const ONE: INodeMark = {
  ids: ['a'],
  classes: 'shoulders-mod-idle',
  label: 'Thread a'
};

function scene() {
  const node = document.createElement('div');
  document.body.append(node);
  const opened = vi.fn();
  const draw = (mark: INodeMark | null) => drawNodeMark(node, mark, { opened });
  const button = () => node.querySelector('button');
  return { node, opened, draw, button };
}

test('the mark of a cell is a button with a name that opens its threads', () => {
  const { draw, button, opened } = scene();
  draw(ONE);
  expect(button()?.getAttribute('aria-label')).toBe('Thread a');
  button()?.click();
  expect(opened).toHaveBeenCalledWith(['a'], expect.anything());
});

test('a mark that becomes another keeps the focus, and opens what it shows now', () => {
  const { draw, button, opened } = scene();
  draw(ONE);
  const before = button();
  before?.focus();
  draw({
    ids: ['a', 'b'],
    classes: 'shoulders-mod-running',
    label: '2 threads'
  });
  expect(button()).toBe(before);
  expect(document.activeElement).toBe(before);
  expect(before?.textContent).toBe('2');
  before?.click();
  expect(opened).toHaveBeenCalledWith(['a', 'b'], expect.anything());
});

test('a mark that stays is not touched, and one that goes leaves nothing', async () => {
  const { node, draw } = scene();
  draw(ONE);
  const changes = vi.fn();
  const observer = new MutationObserver(changes);
  observer.observe(node, { attributes: true, childList: true, subtree: true });
  draw({ ...ONE });
  await Promise.resolve();
  expect(changes).not.toHaveBeenCalled();
  observer.disconnect();
  draw(null);
  expect(node.outerHTML).toBe('<div class=""></div>');
});

test('keys on a mark are not the notebook’s', () => {
  const { node, draw, button } = scene();
  const heard = vi.fn();
  node.addEventListener('keydown', heard);
  draw(ONE);
  button()?.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })
  );
  expect(heard).not.toHaveBeenCalled();
});
