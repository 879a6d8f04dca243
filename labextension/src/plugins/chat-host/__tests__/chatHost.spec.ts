import { CommandRegistry } from '@lumino/commands';
import { expect, test } from 'vitest';

import type { IPanelPlacement } from '../../../host/panelPlacement';
import { createChatHost } from '../chatHost';
import type { ILabParts } from '../labParts';

test('the kernel of the notebook that is meant is restarted, not that of the current one', () => {
  const commands = new CommandRegistry();
  const restarted: unknown[] = [];
  commands.addCommand('notebook:restart-kernel', {
    describedBy: { args: {} },
    execute: args => restarted.push(args)
  });
  const parts = {
    app: {
      commands,
      shell: { currentWidget: null, widgets: () => [] },
      serviceManager: { contents: {} }
    },
    documents: {
      openOrReveal: (path: string) =>
        path === 'a.ipynb' ? { id: 'panel-of-a' } : undefined
    },
    notebooks: null,
    labShell: null,
    editors: null,
    latex: null
  } as unknown as ILabParts; // The members in use.

  const host = createChatHost(parts, {} as IPanelPlacement); // Passed on without being read.
  host.restartKernel?.('a.ipynb');
  host.restartKernel?.('gone.txt');

  expect(restarted).toEqual([{ semanticWidget: 'panel-of-a' }]);
});
