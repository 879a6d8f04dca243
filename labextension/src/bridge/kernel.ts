/** Shows the kernel that the agent had to start for a notebook without one. Used by `DocumentBridge`. */

import type { ISessionContext } from '@jupyterlab/apputils';

/** Connect the notebook to its kernel, which this page may not know of. */
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
