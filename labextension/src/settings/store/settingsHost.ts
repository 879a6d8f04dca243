/** What the settings page needs of the page around it. The settings plugin implements it, tests fake it. */

import type { IViewHost } from '../../ui/hooks';

export interface ISettingsHost extends IViewHost {
  readonly confirm: (
    title: string,
    body: string,
    accept: string
  ) => Promise<boolean>;
  /** Open a file of the workspace. */
  readonly openDocument: (path: string) => void;
  /** Open the user's instructions; made from a template where there are none. */
  readonly openInstructions: () => Promise<void>;
  /** Show a conversation in the chat panel. */
  readonly openConversation: (sessionId: string) => void;
  /** Open the lab's own Settings Editor at our settings, or its shortcuts; null where there is none. */
  readonly openEditor: ((what: 'preferences' | 'shortcuts') => void) | null;
}
