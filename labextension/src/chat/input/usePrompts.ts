/** Prompts of running MCP servers: commands of the input that put the server's text into the message. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { appendToDraft } from '../../model/conversations/draftText';
import type { McpPromptView } from '../../wire/generated';
import { useHost, useTabContext } from '../../ui/hooks';
import type { ISlashCommand } from './suggestions/slashCommands';

/** The values of a prompt's arguments, by name. */
export type PromptArguments = Record<string, string>;

/** The prompts as commands; read again each time a command is begun, because servers start and end. */
export function usePrompts(
  isCommandBegun: boolean,
  openForm: (prompt: McpPromptView) => void
): ISlashCommand[] {
  const { lookups, trans } = useHost();
  const insert = useInsertPrompt();
  const [prompts, setPrompts] = React.useState<readonly McpPromptView[]>([]);
  React.useEffect(() => {
    if (!isCommandBegun) {
      return;
    }
    let isOver = false;
    lookups
      .mcpPrompts()
      .then(list => {
        if (!isOver) {
          setPrompts(list.prompts);
        }
      })
      .catch((reason: unknown) => {
        console.warn('The prompts of MCP servers are not listed:', reason);
      });
    return () => {
      isOver = true;
    };
  }, [lookups, isCommandBegun]);
  return prompts.map(prompt => ({
    name: promptName(prompt),
    title: visible(prompt.title ?? prompt.description ?? ''),
    group: trans.__('MCP prompts'),
    run: async () => {
      if (prompt.arguments.length === 0) {
        await insert(prompt, {});
      } else {
        openForm(prompt);
      }
    }
  }));
}

export function promptName({ server, name }: McpPromptView): string {
  return `${server}:${name}`;
}

/** Puts the text of a prompt into the message, marked as the server's. */
export function useInsertPrompt(): (
  prompt: McpPromptView,
  values: PromptArguments
) => Promise<void> {
  const { lookups } = useHost();
  const { conversations, tab } = useTabContext();
  return async ({ server, name }, values) => {
    const { text } = await lookups.mcpPrompt(server, name, values);
    const typed = conversations.draft(tab);
    conversations.suggest(tab, appendToDraft(typed, text));
    conversations.attach(tab, { kind: 'mcp_prompt', server, name });
  };
}
