/** What an MCP server needs or does now, from the facts the server reports. Pure. */

import type { McpServerView } from '../../wire/generated';
import { joinWords } from './commandWords';

export type ServerState =
  | 'idle'
  | 'starting'
  | 'restarting'
  | 'running'
  | 'failed'
  | 'review'
  | 'declined'
  | 'forbidden'
  | 'missing_value'
  | 'sign_in'
  | 'disabled';

/** The state that matters most to the user. */
export function stateOf(server: McpServerView): ServerState {
  const { trust, enabled } = server;
  if (trust === 'forbidden' || trust === 'declined') {
    return trust;
  }
  if (asksForTrust(server)) {
    return 'review';
  }
  return enabled ? startedState(server) : 'disabled';
}

function startedState(server: McpServerView): ServerState {
  const { status, missing_values, authorization } = server;
  if (status === 'running') {
    return status;
  }
  if (missing_values.length > 0) {
    return 'missing_value';
  }
  if (authorization === 'needed') {
    return 'sign_in';
  }
  switch (status) {
    case 'stopped':
      return 'idle';
    case 'waiting':
      return 'restarting';
    case 'starting':
    case 'failed':
      return status;
  }
}

/** Whether an entry of the folder waits for the user's answer. */
export function asksForTrust({ trust, trust_id }: McpServerView): boolean {
  return (trust === 'new' || trust === 'changed') && trust_id !== null;
}

/** The command line or the address. */
export function targetOf({ command, url }: McpServerView): string {
  return url ?? joinWords(command);
}
