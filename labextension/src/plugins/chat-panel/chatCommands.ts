/**
 * The chat's commands; their ids are a public interface. Their implementation is loaded with the panel. Used by the
 * chat plugin.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type {
  ReadonlyJSONObject,
  ReadonlyPartialJSONObject
} from '@lumino/coreutils';

import type { PanelActions } from '../../chat/sessions/panelActions';
import type { PanelLocation } from '../../host/panelPlacement';
import { EXTENSION_ID } from '../../tokens';
import { sparkIcon } from '../../lab/customIcons';
import type { ChatWidget } from './chatWidget';
import type { PanelPlacement } from './panelPlacement';

export const COMMANDS = {
  toggle: `${EXTENSION_ID}:toggle-chat`,
  focus: `${EXTENSION_ID}:focus-chat`,
  right: `${EXTENSION_ID}:dock-right`,
  left: `${EXTENSION_ID}:dock-left`,
  main: `${EXTENSION_ID}:dock-main`,
  bubble: `${EXTENSION_ID}:dock-bubble`,
  create: `${EXTENSION_ID}:new-conversation`,
  next: `${EXTENSION_ID}:next-conversation`,
  previous: `${EXTENSION_ID}:previous-conversation`,
  close: `${EXTENSION_ID}:close-conversation`,
  rename: `${EXTENSION_ID}:rename-conversation`,
  fork: `${EXTENSION_ID}:fork-conversation`,
  export: `${EXTENSION_ID}:export-conversation`,
  remove: `${EXTENSION_ID}:delete-conversation`,
  history: `${EXTENSION_ID}:show-history`,
  threads: `${EXTENSION_ID}:show-threads`,
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

const EXPORT_ARGUMENTS: ReadonlyJSONObject = {
  type: 'object',
  properties: {
    format: {
      type: 'string',
      enum: ['md', 'ipynb', 'jsonl'],
      description: 'Markdown (the default), a notebook, or JSON lines'
    }
  }
};

type Commands = Record<string, CommandRegistry.ICommandOptions>;

/** Add the commands to the application and its palette. */
export function addChatCommands(
  app: JupyterFrontEnd,
  panel: ChatWidget,
  places: PanelPlacement,
  trans: TranslationBundle,
  palette: ICommandPalette | null
): void {
  const commands = {
    ...locationCommands(panel, places, trans),
    ...conversationCommands(panel, places, trans),
    ...turnCommands(panel, trans)
  };
  const category = trans.__('AI');
  for (const [command, options] of Object.entries(commands)) {
    app.commands.addCommand(command, {
      describedBy: { args: NO_ARGUMENTS },
      ...options
    });
    palette?.addItem({ command, category });
  }
  const changed = (): void => app.commands.notifyCommandChanged();
  places.changed.connect(changed);
}

function locationCommands(
  panel: ChatWidget,
  places: PanelPlacement,
  trans: TranslationBundle
): Commands {
  const labels: Record<PanelLocation, string> = {
    right: trans.__('Move AI Chat to the Right Side Bar'),
    left: trans.__('Move AI Chat to the Left Side Bar'),
    main: trans.__('Open AI Chat as a Tab in the Main Area'),
    bubble: trans.__('Float AI Chat as a Bubble')
  };
  const dock = (place: PanelLocation): CommandRegistry.ICommandOptions => ({
    label: labels[place],
    isToggled: () => places.location === place,
    isVisible: () => places.locations.includes(place),
    isEnabled: () => places.locations.includes(place),
    execute: () => places.moveTo(place)
  });
  return {
    [COMMANDS.toggle]: {
      label: trans.__('Show or Hide AI Chat'),
      icon: sparkIcon,
      isToggled: () => panel.isVisible,
      execute: () => places.toggle()
    },
    [COMMANDS.focus]: {
      label: trans.__('Go to AI Chat'),
      execute: () => places.show()
    },
    [COMMANDS.right]: dock('right'),
    [COMMANDS.left]: dock('left'),
    [COMMANDS.main]: dock('main'),
    [COMMANDS.bubble]: dock('bubble')
  };
}

/** Commands on conversations show the panel. */
function conversationCommands(
  panel: ChatWidget,
  places: PanelPlacement,
  trans: TranslationBundle
): Commands {
  const command = (
    label: string,
    act: (actions: PanelActions, args: ReadonlyPartialJSONObject) => unknown
  ): CommandRegistry.ICommandOptions => ({
    label,
    execute: async args => {
      await places.show();
      await act(await panel.ready(), args);
    }
  });
  /** For conversations with at least one message. */
  const begun = (
    options: CommandRegistry.ICommandOptions
  ): CommandRegistry.ICommandOptions => ({
    ...options,
    isEnabled: () => panel.options.conversations.active.sessionId !== null
  });
  return {
    [COMMANDS.create]: command(trans.__('New AI Conversation'), panel =>
      panel.create()
    ),
    [COMMANDS.next]: command(trans.__('Next AI Conversation'), panel =>
      panel.step(1)
    ),
    [COMMANDS.previous]: command(trans.__('Previous AI Conversation'), panel =>
      panel.step(-1)
    ),
    [COMMANDS.close]: command(trans.__('Close AI Conversation'), panel =>
      panel.close()
    ),
    [COMMANDS.history]: command(trans.__('Show AI Conversations'), panel =>
      panel.showList('history')
    ),
    [COMMANDS.threads]: command(trans.__('Show AI Threads'), panel =>
      panel.showList('threads')
    ),
    [COMMANDS.rename]: begun(
      command(trans.__('Rename AI Conversation'), panel => panel.beginRename())
    ),
    [COMMANDS.fork]: begun(
      command(trans.__('Fork AI Conversation'), panel => panel.forkThis())
    ),
    [COMMANDS.export]: begun({
      ...command(trans.__('Export AI Conversation'), (panel, { format }) =>
        panel.exportThis(
          format === 'ipynb' || format === 'jsonl' ? format : 'md'
        )
      ),
      describedBy: { args: EXPORT_ARGUMENTS }
    }),
    [COMMANDS.remove]: begun(
      command(trans.__('Delete AI Conversation'), panel => panel.removeThis())
    ),
    [COMMANDS.ask]: {
      ...command(trans.__('Ask AI…'), (panel, { text, send }) =>
        panel.ask(typeof text === 'string' ? text : '', send === true)
      ),
      describedBy: { args: ASK_ARGUMENTS }
    }
  };
}

function turnCommands(panel: ChatWidget, trans: TranslationBundle): Commands {
  const shown = (): PanelActions | null =>
    panel.isVisible ? panel.actions : null;
  const waits = (): boolean => {
    const actions = shown();
    return actions !== null && actions.waitingCall !== null;
  };
  return {
    [COMMANDS.stop]: {
      label: trans.__('Stop the AI Agent'),
      isEnabled: () => shown()?.canStop === true,
      execute: () => shown()?.stop()
    },
    [COMMANDS.allow]: {
      label: trans.__('Allow the Waiting AI Call Once'),
      isEnabled: waits,
      execute: () => shown()?.answer('allow')
    },
    [COMMANDS.deny]: {
      label: trans.__('Deny the Waiting AI Call'),
      isEnabled: waits,
      execute: () => shown()?.answer('deny')
    }
  };
}
