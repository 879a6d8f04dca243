/** What the settings page needs from its surroundings. Implemented by the settings plugin, faked in tests. */

import type { IViewHost } from '../../ui/hooks';

/** A page opened in another tab of the browser. */
export interface IOpenedPage {
  readonly go: (address: string) => void;
  readonly close: () => void;
}

export interface ISettingsHost extends IViewHost {
  readonly confirm: (
    title: string,
    body: string,
    accept: string
  ) => Promise<boolean>;
  /** The address of the Jupyter server, as the browser reaches it. */
  readonly serverAddress: string;
  /** Open an empty page in another tab; null if the browser did not. */
  readonly openPage: () => IOpenedPage | null;
  readonly copy: (text: string) => void;
  /** Open a file of the workspace. */
  readonly openDocument: (path: string) => void;
  /** Open the user's instructions, creating the file from a template. */
  readonly openInstructions: () => Promise<void>;
  /** Show a conversation in the chat panel. */
  /** Open the agent's database; null in a page without it. */
  readonly openDatabase: (() => void) | null;
  readonly openConversation: (sessionId: string) => void;
  /** Open JupyterLab's Settings Editor at our settings or the shortcuts; null if it is missing. */
  readonly openEditor: ((what: 'preferences' | 'shortcuts') => void) | null;
}
