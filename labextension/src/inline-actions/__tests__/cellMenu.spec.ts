import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { afterEach, expect, test, vi } from 'vitest';

import { INLINE_ACTION_COMMANDS } from '../commandIds';
import { CellMenu } from '../cellMenu';

afterEach(() => document.body.replaceChildren());

/** An open notebook whose active cell has the button at a position of the page. */
function notebook(left: number, bottom: number): HTMLElement {
  const node = document.createElement('div');
  node.className = 'jp-Notebook';
  node.innerHTML =
    '<div class="jp-Cell jp-mod-active"><i data-jp-item-name="shoulders-ai"></i></div>';
  const [cell] = node.querySelectorAll<HTMLElement>('.jp-Cell');
  const [item] = node.querySelectorAll('i');
  if (cell === undefined || item === undefined) {
    throw new Error('The notebook has no cell.');
  }
  item.getBoundingClientRect = () => new DOMRect(left, bottom - 10, 10, 10);
  document.body.append(node);
  return cell;
}

test('the menu opens in the notebook in front, not in another that is open', () => {
  // The page is large enough for the menu.
  const { documentElement: page } = document;
  vi.spyOn(page, 'clientWidth', 'get').mockReturnValue(1000);
  vi.spyOn(page, 'clientHeight', 'get').mockReturnValue(1000);
  const commands = new CommandRegistry();
  Object.values(INLINE_ACTION_COMMANDS).forEach(id =>
    commands.addCommand(id, {
      describedBy: { args: {} },
      execute: () => undefined
    })
  );
  notebook(10, 20);
  const node = notebook(300, 400);

  // The members of the application in use.
  const app = { commands } as unknown as JupyterFrontEnd;
  const notebooks = { activeCell: { node } } as unknown as INotebookTracker;
  new CellMenu(app, notebooks, nullTranslator.load('')).open();

  const menu = document.querySelector<HTMLElement>('.shoulders-CellMenu');
  expect(menu?.style.transform).toBe('translate(300px, 400px)');
});
