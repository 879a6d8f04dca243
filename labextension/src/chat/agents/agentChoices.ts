/** Agents of others as choices in the list of models. Pure; used by the picker. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { serverText } from '../../text/serverMessages';
import type { AgentInfo, AgentList } from '../../wire/generated';
import type { IListboxOption } from '../input/suggestions/Listbox';
import { bestOf } from '../input/suggestions/mentions';

/** An agent, one that can be installed, or the line that expands those. */
export type AgentChoice = IListboxOption &
  (
    | {
        readonly kind: 'agent' | 'install';
        readonly agent: AgentInfo;
      }
    | { readonly kind: 'fold-agents' | 'agents-problem' }
  );

interface IAgentList {
  readonly list: AgentList;
  readonly current: string | null;
  readonly query: string;
  /** Whether those that are not installed are shown. */
  readonly unfolded: boolean;
  /** The agent whose install command was copied last. */
  readonly copied: string | null;
}

/** The agents that were found; below them those to install, collapsed into one line unless searched for. */
export function agentChoices(
  { list, current, query, unfolded, copied }: IAgentList,
  trans: TranslationBundle
): AgentChoice[] {
  const group = trans.__('Agents');
  const searched = query.trim() !== '';
  const found = bestOf(query, list.agents, ({ title, id }) => [title, id]);
  const missing = found.filter(each => !each.installed);
  const toInstall = missing.map((agent): AgentChoice => ({
    kind: 'install',
    key: `install:${agent.id}`,
    title: agent.title,
    note: installNote(agent, copied === agent.id, trans),
    group,
    agent
  }));
  return [
    ...problemLine(searched ? null : list.problem, group, trans),
    ...found
      .filter(each => each.installed)
      .map((agent): AgentChoice => ({
        kind: 'agent',
        key: agent.id,
        title: agent.title,
        note: serverText(trans, agent.problem ?? ''),
        group,
        checked: agent.id === current,
        disabled: agent.problem !== null || list.problem !== null,
        agent
      })),
    ...(missing.length === 0 || searched
      ? []
      : [fold(missing.length, unfolded, group, trans)]),
    ...(unfolded || searched ? toInstall : [])
  ];
}

/** Why no agent can be used. */
function problemLine(
  problem: string | null,
  group: string,
  trans: TranslationBundle
): AgentChoice[] {
  return problem === null
    ? []
    : [
        {
          kind: 'agents-problem',
          key: 'agents-problem',
          title: trans.__('Agents cannot be used yet'),
          note: serverText(trans, problem),
          group,
          disabled: true
        }
      ];
}

function fold(
  count: number,
  shown: boolean,
  group: string,
  trans: TranslationBundle
): AgentChoice {
  return {
    kind: 'fold-agents',
    key: 'agents-to-install',
    title: trans._n(
      '%1 agent can be installed',
      '%1 agents can be installed',
      count
    ),
    note: '',
    icon: shown ? 'caret-down' : 'caret-right',
    group
  };
}

/** How to get an agent that is not installed; a pick copies the command. */
function installNote(
  { install, command }: AgentInfo,
  isCopied: boolean,
  trans: TranslationBundle
): string {
  if (install === null) {
    return trans.__('Not found: %1', command);
  }
  return isCopied
    ? trans.__('Copied; run it in a terminal: %1', install)
    : trans.__('Not installed. Copy the command: %1', install);
}
