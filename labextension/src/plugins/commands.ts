/** The chat's commands; their ids are part of the contract. Used by the chat plugin. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyJSONObject } from '@lumino/coreutils';

import { isRunning, pendingCall } from '../model/turn-state';
import { EXTENSION_ID, type IConversations } from '../tokens';
import { sparkIcon } from './ownIcon';
import type { ChatWidget } from './panel';

/** Command ids. */
export const COMMANDS = {
  toggle: `${EXTENSION_ID}:toggle-chat`,
  focus: `${EXTENSION_ID}:focus-chat`,
  create: `${EXTENSION_ID}:new-conversation`,
  ask: `${EXTENSION_ID}:ask`,
  stop: `${EXTENSION_ID}:stop`,
  allow: `${EXTENSION_ID}:allow-once`,
  deny: `${EXTENSION_ID}:deny`
} as const;

const NO_ARGUMENTS: ReadonlyJSONObject = { type: 'object', properties: {} };

const ASK_ARGUMENTS: ReadonlyJSONObject = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'Text to put into the input' },
    send: { type: 'boolean', description: 'Send it at once' }
  }
};

/** Add the commands to the application and its palette. */
export function addChatCommands(
  app: JupyterFrontEnd,
  panel: ChatWidget,
  conversations: IConversations,
  trans: TranslationBundle,
  palette: ICommandPalette | null
): void {
  const { shell } = app;
  const view = () => conversations.store(conversations.active.key)?.view;
  const pending = () => {
    const shown = view();
    const call = shown === undefined ? null : pendingCall(shown);
    return call?.state === 'waiting' ? call : null;
  };
  const answer = async (decision: 'allow' | 'deny'): Promise<void> => {
    const call = pending();
    if (call !== null) {
      await conversations.commands.answerApproval(
        conversations.active.key,
        call.call_id,
        {
          decision
        }
      );
    }
  };
  const show = (): void => shell.activateById(panel.id);
  const commands: Record<string, CommandRegistry.ICommandOptions> = {
    [COMMANDS.toggle]: {
      label: trans.__('Show or Hide AI Chat'),
      icon: sparkIcon,
      isToggled: () => panel.isVisible,
      // Visible but elsewhere with the cursor: go there; there already: out of the way.
      execute: () => {
        if (panel.isVisible && panel.node.contains(document.activeElement)) {
          collapse(app);
        } else {
          show();
        }
      }
    },
    [COMMANDS.focus]: {
      label: trans.__('Go to AI Chat'),
      execute: show
    },
    [COMMANDS.create]: {
      label: trans.__('New AI Conversation'),
      execute: () => {
        conversations.create();
        show();
      }
    },
    [COMMANDS.ask]: {
      label: trans.__('Ask AI…'),
      describedBy: { args: ASK_ARGUMENTS },
      execute: async args => {
        const { key } = conversations.active;
        const text = typeof args.text === 'string' ? args.text : '';
        show();
        if (args.send === true && text !== '') {
          await conversations.send(key, { text });
        } else if (text !== '') {
          conversations.suggest(key, text);
        }
      }
    },
    [COMMANDS.stop]: {
      label: trans.__('Stop the AI Agent'),
      isEnabled: () => {
        const shown = panel.isVisible ? view() : undefined;
        return shown !== undefined && isRunning(shown);
      },
      execute: () => conversations.commands.cancel(conversations.active.key)
    },
    [COMMANDS.allow]: {
      label: trans.__('Allow the Waiting AI Call Once'),
      isEnabled: () => panel.isVisible && pending() !== null,
      execute: () => answer('allow')
    },
    [COMMANDS.deny]: {
      label: trans.__('Deny the Waiting AI Call'),
      isEnabled: () => panel.isVisible && pending() !== null,
      execute: () => answer('deny')
    }
  };
  const category = trans.__('AI');
  for (const [command, options] of Object.entries(commands)) {
    app.commands.addCommand(command, {
      describedBy: { args: NO_ARGUMENTS },
      ...options
    });
    palette?.addItem({ command, category });
  }
}

/** Hide the side bar the panel is in, where the lab has one. */
function collapse(app: JupyterFrontEnd): void {
  const command = 'application:toggle-right-area';
  if (app.commands.hasCommand(command)) {
    void app.commands.execute(command);
  }
}
