/** The commands of the input; each is also a button or menu entry elsewhere. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ExportFormat } from '../../client/http';
import type { Mode } from '../../model/conversations/interface';
import { isRunning } from '../../model/view-models/conversationItems';
import {
  chosenBy,
  type IChoice,
  type ISlashCommand
} from './suggestions/slashCommands';
import { useLeadingAgent } from '../agents/useLeadingAgent';
import type {
  AgentState,
  Conversation,
  McpPromptView,
  SkillSummary
} from '../../wire/generated';
import { usePrompts } from './usePrompts';
import { fileNameOf, titleOf } from '../sessions/panelActions';
import {
  useHost,
  useTabContext,
  useTrans,
  usePendingInput
} from '../../ui/hooks';
import { modelFacts, modelName } from '../../ui/modelLabels';

/** A sheet above the input. */
export type Sheet = 'request' | 'tools' | 'skills';

/** What commands can do to the input. */
export interface ISlashCommandState {
  readonly view: Conversation | null;
  readonly open: (sheet: Sheet) => void;
  readonly openModels: () => void;
  /** Show the form for a prompt's arguments. */
  readonly openPrompt: (prompt: McpPromptView) => void;
  /** Whether a command is being typed. */
  readonly isCommandBegun: boolean;
}

const FORMATS: readonly ExportFormat[] = ['md', 'jsonl', 'ipynb'];

export function useSlashCommands(
  commanded: ISlashCommandState
): ISlashCommand[] {
  const trans = useTrans();
  const skills = useSkills();
  const prompts = usePrompts(commanded.isCommandBegun, commanded.openPrompt);
  const agent = useLeadingAgent(commanded.view);
  const own = [
    ...useConversationCommands(commanded),
    ...useChoiceCommands(commanded),
    ...useSheetCommands(commanded)
  ];
  return agent === null
    ? [...own, ...skills.map(skillCommand), ...prompts]
    : withAgentCommands(own, agent.commands, trans.__('The agent’s commands'));
}

/** Commands for the whole conversation. */
function useConversationCommands({
  view
}: ISlashCommandState): ISlashCommand[] {
  const host = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const begun = view !== null && view.session !== null;
  const turnId = lastTurn(view);
  const save = async (format: ExportFormat): Promise<void> => {
    const content = await conversations.commands.exportAs(tab, format);
    const title = titleOf(conversations.session(tab), trans);
    host.save(`${fileNameOf(title)}.${format}`, content);
  };
  // Takes the draft along.
  const startConversation = (): void => {
    const text = conversations.draft(tab);
    const attachments = conversations.attachments(tab);
    conversations.suggest(tab, '');
    conversations.setAttachments(tab, []);
    conversations.create();
    const { key } = conversations.active;
    conversations.suggest(key, text);
    conversations.setAttachments(key, attachments);
  };
  return [
    {
      name: 'clear',
      title: trans.__(
        'Start a new conversation; this one stays in the history'
      ),
      run: () => {
        if (begun) {
          startConversation();
          conversations.close(tab);
        }
      }
    },
    {
      name: 'new',
      title: trans.__('Start a new conversation in another tab'),
      run: startConversation
    },
    ...when(begun, {
      name: 'export',
      title: trans.__('Save this conversation as a file'),
      choices: () =>
        FORMATS.map(format => ({
          value: format,
          title: format,
          note: formatNote(format, trans)
        })),
      run: argument => save(FORMATS.find(format => format === argument) ?? 'md')
    }),
    ...when(turnId !== null && view !== null && !isRunning(view), {
      name: 'compact',
      title: trans.__('Summarise earlier messages for the model'),
      run: () => conversations.commands.compact(tab)
    }),
    ...when(turnId !== null && view !== null && !isRunning(view), {
      name: 'undo',
      title: trans.__('Undo what the last turn changed'),
      run: async () => {
        await conversations.commands.undoTurn(tab, turnId ?? '');
      }
    })
  ];
}

/** Commands that change how the agent works. */
function useChoiceCommands({
  openModels
}: ISlashCommandState): ISlashCommand[] {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const models = (conversations.models?.models ?? []).filter(
    ({ available }) => available
  );
  const choices = models.map((model): IChoice => ({
    value: model.id,
    title: modelName(model),
    note: modelFacts(model, trans)
  }));
  const mode = (name: string, value: Mode, title: string): ISlashCommand => ({
    name,
    title,
    isSent: true,
    run: () => conversations.setMode(tab, value)
  });
  return [
    {
      name: 'model',
      title: trans.__('Choose the model'),
      choices: () => choices,
      run: argument => {
        const model = argument === '' ? undefined : chosenBy(argument, choices);
        if (model === undefined) {
          openModels();
        } else {
          conversations.setModel(tab, model.value);
        }
      }
    },
    mode('plan', 'plan', trans.__('Only read and plan')),
    mode('ask', 'ask', trans.__('Ask before code runs and files change')),
    mode('auto-edit', 'auto_edit', trans.__('Edit without asking'))
  ];
}

/** Commands that show something. */
function useSheetCommands({ open }: ISlashCommandState): ISlashCommand[] {
  const { openInstructions, schedule } = useHost();
  const trans = useTrans();
  const { editBudget } = usePendingInput();
  return [
    {
      name: 'cost',
      title: trans.__('Show costs and limits'),
      run: editBudget
    },
    {
      name: 'tools',
      title: trans.__('List the agent’s tools'),
      run: () => open('tools')
    },
    {
      name: 'skills',
      title: trans.__('List instructions for particular tasks'),
      run: () => open('skills')
    },
    {
      name: 'request',
      title: trans.__('Show what is sent to the model'),
      run: () => open('request')
    },
    ...(schedule === null
      ? []
      : [
          {
            name: 'schedule',
            title: trans.__('Run a prompt later, again, or when files change'),
            run: (prompt: string) => schedule({ prompt })
          }
        ]),
    ...(openInstructions === null
      ? []
      : [
          {
            name: 'instructions',
            title: trans.__('Open your instructions for this workspace'),
            run: () => openInstructions()
          }
        ])
  ];
}

/** The skills, requested once; offered beside the commands. */
function useSkills(): readonly SkillSummary[] {
  const { lookups } = useHost();
  const [skills, setSkills] = React.useState<readonly SkillSummary[]>([]);
  React.useEffect(() => {
    let gone = false;
    lookups
      .skills()
      .then(list => {
        if (!gone) {
          setSkills(list.skills);
        }
      })
      .catch((reason: unknown) => {
        console.warn('The skills are not listed:', reason);
      });
    return () => {
      gone = true;
    };
  }, [lookups]);
  return skills;
}

function skillCommand({
  name,
  description
}: Pick<SkillSummary, 'name' | 'description'>): ISlashCommand {
  return {
    name,
    title: description,
    isSkill: true,
    run: () => {
      // The command stays in the message, and the server adds its text.
    }
  };
}

/** Commands of ours that an agent of others has no use for: it keeps its own memory, tools and skills. */
const OWN_AGENT_ONLY = new Set(['compact', 'tools', 'skills', 'request']);

/** Our commands, and those of the agent that leads the conversation; ours win where names are equal. */
function withAgentCommands(
  own: readonly ISlashCommand[],
  commands: AgentState['commands'],
  group: string
): ISlashCommand[] {
  const kept = own.filter(({ name }) => !OWN_AGENT_ONLY.has(name));
  const names = new Set(kept.map(({ name }) => name));
  return [
    ...kept,
    ...commands
      .filter(({ name }) => !names.has(name))
      .map(({ name, description, hint }) => ({
        ...skillCommand({
          name,
          description: hint === null ? description : `${description} ${hint}`
        }),
        group
      }))
  ];
}

function when(possible: boolean, command: ISlashCommand): ISlashCommand[] {
  return possible ? [command] : [];
}

function lastTurn(view: Conversation | null): string | null {
  const turns = (view?.messages ?? []).flatMap(message =>
    message.role === 'agent' && message.turn_id !== null
      ? [message.turn_id]
      : []
  );
  return turns.at(-1) ?? null;
}

function formatNote(format: ExportFormat, trans: TranslationBundle): string {
  switch (format) {
    case 'md':
      return trans.__('Markdown, to read');
    case 'jsonl':
      return trans.__('Every event, for programs');
    case 'ipynb':
      return trans.__('A notebook with the code');
  }
}
