/** Signs in at a server: opens its page in another tab, and reads the list again when the user returns. */

import * as React from 'react';

import { useAction } from '../../ui/hooks';
import { useSettingsPage } from '../components/hooks';

export interface ISignIn extends ReturnType<typeof useAction> {
  readonly signIn: () => void;
  /** The page, where the browser did not open it. */
  readonly link: string | null;
  /** Whether the page is open, and the answer not here yet. */
  readonly waits: boolean;
}

export function useSignIn(name: string): ISignIn {
  const { store, host } = useSettingsPage();
  const action = useAction();
  const [link, setLink] = React.useState<string | null>(null);
  const [waits, setWaits] = React.useState(false);
  const { list } = store.mcp;
  React.useEffect(() => {
    if (!waits) {
      return;
    }
    const look = (): void => void list.refresh();
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, [list, waits]);
  const signIn = (): void => {
    // Opened now, because browsers open none after a wait.
    const page = host.openPage();
    action.run(async () => {
      try {
        const { url } = await store.mcp.api.signIn(name, host.serverAddress);
        if (page === null) {
          setLink(url);
        } else {
          page.go(url);
        }
        setWaits(true);
      } catch (error) {
        page?.close();
        throw error;
      }
    });
  };
  return { ...action, signIn, link, waits };
}
