/** Where the agent works, read from the calls of a conversation. Pure; used by the follower of the page. */

import { cellOf, pathOf } from '../model/view-models/callTargets';
import { editOf } from '../model/view-models/conversationItems';
import { isRunning } from '../model/view-models/turnState';
import type { CallView, Conversation } from '../wire/generated';

/** One step of the agent's work in a document. */
export interface IAgentActivity {
  /** Of the call, or of the run of one of its cells. */
  readonly id: string;
  readonly path: string;
  /** Null in a text file. */
  readonly cellId: string | null;
  /** `now` while it waits or runs; after it what is to be seen: a changed text, or outputs. */
  readonly stage: 'now' | 'changed' | 'ran';
  /** The text before and after, where it is known. */
  readonly edit: { readonly before: string; readonly after: string } | null;
}

/** The turn that runs. */
export function turnOf(view: Conversation): string | null {
  return isRunning(view) ? (view.turn?.turn_id ?? null) : null;
}

/** The work of the newest message in documents, in order; reading is none. */
export function agentActivityIn(view: Conversation): IAgentActivity[] {
  return callsIn(view).flatMap(call => {
    const path = pathOf(call);
    const cellId = cellOf(call);
    const stage = stageOf(call);
    const isSomewhere = cellId === null ? isOfText(call) : !isGone(call);
    return path !== null && isSomewhere && stage !== null
      ? [{ id: call.call_id, path, cellId, stage, edit: editIn(call, stage) }]
      : [];
  });
}

/** Whether a running call runs cells of a notebook one after another; which, only the page's frames say. */
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
/** Those that may make it. */
const MAKE = /^(write_file|create_file)$/;

/** Whether a call writes a text file that is there. */
function isOfText({ tool, state }: CallView): boolean {
  return TEXT_TOOLS.test(tool) && (!MAKE.test(tool) || state === 'ok');
}

/** Whether there is no cell any more. */
function isGone({ tool, state }: CallView): boolean {
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
