/** The agent's activity in documents, read from a conversation's calls. Pure; used by the follower. */

import { cellOf, pathOf } from '../model/view-models/callTargets';
import { editOf } from '../model/view-models/conversationItems';
import { isRunning } from '../model/view-models/turnState';
import type { CallView, Conversation } from '../wire/generated';

/** One step of the agent's work in a document. */
export interface IAgentActivity {
  /** Id of the call, or of a cell run. */
  readonly id: string;
  readonly path: string;
  /** Null for a text file. */
  readonly cellId: string | null;
  /** `now` while waiting or running; then `changed` for a new text, or `ran` for new outputs. */
  readonly stage: 'now' | 'changed' | 'ran';
  /** The text before and after, if known. */
  readonly edit: { readonly before: string; readonly after: string } | null;
}

/** The running turn. */
export function turnOf(view: Conversation): string | null {
  return isRunning(view) ? (view.turn?.turn_id ?? null) : null;
}

/** The newest message's activity in documents, in order, without reading. */
export function agentActivityIn(view: Conversation): IAgentActivity[] {
  return callsIn(view).flatMap(call => {
    const path = pathOf(call);
    const cellId = cellOf(call);
    const stage = stageOf(call);
    const isSomewhere = cellId === null ? isOfText(call) : !isCellDeleted(call);
    return path !== null && isSomewhere && stage !== null
      ? [{ id: call.call_id, path, cellId, stage, edit: editIn(call, stage) }]
      : [];
  });
}

/** Whether a running call runs several cells of a notebook; only the page's frames say which cell runs. */
export function runsCellsOf(view: Conversation, path: string): boolean {
  return callsIn(view).some(
    call =>
      call.state === 'running' &&
      call.risk === 'execute' &&
      cellOf(call) === null &&
      pathOf(call) === path
  );
}

const TEXT_TOOLS =
  /^(edit_file|write_file|create_file|edit_document|undo_file_change)$/;
/** Tools that may create a file. */
const CREATING_TOOLS = /^(write_file|create_file)$/;

/** Whether a call writes an existing text file. */
function isOfText({ tool, state }: CallView): boolean {
  return (
    TEXT_TOOLS.test(tool) && (!CREATING_TOOLS.test(tool) || state === 'ok')
  );
}

/** Whether the cell was deleted. */
function isCellDeleted({ tool, state }: CallView): boolean {
  return tool === 'delete_cell' && state === 'ok';
}

function callsIn({ messages }: Conversation): CallView[] {
  const last = messages.at(-1);
  return last?.role === 'agent'
    ? last.parts.filter(part => part.type === 'call')
    : [];
}

function stageOf({ risk, state }: CallView): IAgentActivity['stage'] | null {
  if (risk === 'read') {
    return null;
  }
  switch (state) {
    case 'waiting':
    case 'running':
      return 'now';
    case 'ok':
      return risk === 'execute' ? 'ran' : 'changed';
    case 'error':
      return risk === 'execute' ? 'ran' : null;
    case 'proposed':
    case 'denied':
    case 'skipped':
    case 'cancelled':
    case 'unknown':
      return null;
  }
}

function editIn(
  call: CallView,
  stage: IAgentActivity['stage']
): IAgentActivity['edit'] {
  return stage === 'changed' ? editOf(call) : null;
}
