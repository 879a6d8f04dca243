/** Agents of others as the picker and the input show them. Pure. */

import type { AgentOption, AgentState, PatchAgent } from '../../wire/generated';

/** The prefix of their model ids, as in `core/catalogue/external_agents.py`. */
const PREFIX = 'agent:';

/** Whether a model id names an agent of others that works in the panel. */
export function isAgentModel(model: string | null): boolean {
  return model?.startsWith(PREFIX) === true;
}

/** The model id of an agent. */
export function agentModel(agent: string): string {
  return PREFIX + agent;
}

/** The title of an agent that is not listed, from its id: `agent:claude-code` is "Claude code". */
export function titleFromId(model: string): string {
  const name = model.slice(PREFIX.length).replaceAll('-', ' ');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Something to choose, and the request that chooses it. */
export interface IAgentSetting {
  readonly option: AgentOption;
  readonly patch: (value: string) => PatchAgent;
}

/** The category of modes, as agents name it. */
const MODE = 'mode';

const ORDER = [MODE, 'model', 'thought_level'];

/**
 * What the agent lets the user choose: its mode first, then the model, how much it thinks, and the rest. Some agents
 * report the mode twice, once as an option.
 */
export function agentSettings(
  { mode, modes, options }: AgentState,
  modeName: string
): IAgentSetting[] {
  const hasModeOption = options.some(({ category }) => category === MODE);
  const all: IAgentSetting[] = options.map(option => ({
    option,
    patch: value => ({ mode: null, option: option.id, value })
  }));
  if (!hasModeOption && mode !== null) {
    all.push({
      option: {
        id: MODE,
        name: modeName,
        description: null,
        category: MODE,
        value: mode,
        choices: modes
      },
      patch: value => ({ mode: value, option: null, value: null })
    });
  }
  return all
    .filter(({ option }) => option.choices.length > 1)
    .sort((a, b) => rank(a.option) - rank(b.option));
}

function rank({ category }: AgentOption): number {
  const index = ORDER.indexOf(category ?? '');
  return index < 0 ? ORDER.length : index;
}

/** The chosen mode and model as a short label. */
export function settingsLabel(settings: readonly IAgentSetting[]): string {
  return settings
    .map(({ option }) => option)
    .filter(({ category }) => category === MODE || category === 'model')
    .map(chosenName)
    .join(' · ');
}

/** The name of the chosen value. */
export function chosenName({ value, choices }: AgentOption): string {
  return choices.find(({ id }) => id === value)?.name ?? value;
}
