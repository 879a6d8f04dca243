/** The agents of others on this computer, asked for when they are first needed. Used by the list of models. */

import * as React from 'react';

import type { AgentList } from '../../wire/generated';
import { useHost } from '../../ui/hooks';

const NONE: AgentList = { agents: [], problem: null };

/** The agents; none until `needed`, and none when the server cannot tell. Asked again each time they become needed. */
export function useAgents(needed: boolean): AgentList {
  const { lookups } = useHost();
  const [agents, setAgents] = React.useState(NONE);
  React.useEffect(() => {
    if (!needed) {
      return;
    }
    let gone = false;
    lookups
      .agents()
      .then(list => {
        if (!gone) {
          setAgents(list);
        }
      })
      .catch((reason: unknown) => {
        console.warn('The agents are not listed:', reason);
      });
    return () => {
      gone = true;
    };
  }, [lookups, needed]);
  return agents;
}
