/** Connects a notebook to the kernel that the agent started, and restarts it. Used by `NotebookBridge`. */

import type { ISessionContext } from '@jupyterlab/apputils';

import type { KernelRestart } from '../../wire/generated';

/** Connect the notebook to its kernel if the page has not done so. */
export async function showKernel(
  session: ISessionContext,
  path: string
): Promise<void> {
  if (session.session?.kernel) {
    return;
  }
  const found = await session.sessionManager.findByPath(path);
  const id = found?.kernel?.id;
  if (id !== undefined && !session.session?.kernel && !session.isDisposed) {
    await session.changeKernel({ id });
  }
}

/** Restart the kernel as the Kernel menu does. Ignores late requests and those for another kernel. */
export async function restartKernel(
  session: ISessionContext,
  { kernel_id, deadline_ms }: KernelRestart
): Promise<void> {
  if (session.session?.kernel?.id === kernel_id && Date.now() <= deadline_ms) {
    await session.restartKernel();
  }
}
