/** The agent of others that would answer the next message. Used by the input. */

import { agentModel } from '../../model/view-models/externalAgents';
import type { AgentState, Conversation } from '../../wire/generated';
import { useTabContext } from '../../ui/hooks';

/** What it offers; null when a model answers, or another agent, or before the agent said anything. */
export function useLeadingAgent(view: Conversation | null): AgentState | null {
  const { conversations, tab } = useTabContext();
  const model = conversations.model(tab);
  const agent = view?.agent ?? null;
  return agent !== null && model === agentModel(agent.agent) ? agent : null;
}
