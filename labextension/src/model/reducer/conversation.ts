/**
 * Folds the log of a session into the conversation that views show.
 *
 * Pure, without imports from JupyterLab. The server has the same rules in `wire/conversation/reducer.py`; the fixtures
 * in `tests/wire/fixtures/reducer` test both. Called by `ConversationStore`.
 */

import type {
  ActivityView,
  AgentActivity,
  Conversation,
  Event,
  RunEnd,
  SessionUpdate,
  ToolResult,
  Restore
} from '../../wire/generated';
import {
  callPart,
  changeCall,
  clarifyPart,
  settle,
  stdinPart,
  withAnswer,
  withProgress,
  withRequest,
  withResult
} from './calls';
import {
  cellsChanged,
  editPending,
  editResolved,
  withFile,
  markUndone
} from './changes';
import { addMessage, changeQueued, hideFrom } from './messages';
import {
  addPart,
  changePart,
  changeTurn,
  closeParts,
  appendText,
  openPart,
  clearRetry
} from './parts';
import {
  addUsage,
  endTurn,
  resumeTurn,
  startStep,
  startTurn,
  waitRetry
} from './turns';

export { EMPTY } from './emptyConversation';

/** Fold one event; an event that was folded before changes nothing. */
export function reduceConversation(
  state: Conversation,
  event: Event
): Conversation {
  return event.seq <= state.last_seq
    ? state
    : { ...reduce(state, event), last_seq: event.seq };
}

/** Whether this page knows the type of an event; if not, the server is of another version. */
export function isKnown(event: Event): boolean {
  return event.type in KNOWN;
}

const KNOWN: Record<Event['type'], true> = {
  'session-create': true,
  'session-update': true,
  'message-add': true,
  'message-update': true,
  'turn-start': true,
  'turn-resume': true,
  'step-start': true,
  'retry-wait': true,
  'turn-end': true,
  'text-start': true,
  'text-delta': true,
  'text-end': true,
  'reasoning-start': true,
  'reasoning-delta': true,
  'reasoning-end': true,
  'tool-call': true,
  'tool-start': true,
  'tool-progress': true,
  'tool-result': true,
  'run-end': true,
  'approval-request': true,
  'approval-answer': true,
  'clarify-request': true,
  'clarify-answer': true,
  'stdin-request': true,
  'stdin-answer': true,
  'todo-update': true,
  'agent-activity': true,
  'agent-state': true,
  'artifact-share': true,
  notice: true,
  error: true,
  'proposal-add': true,
  'proposal-resolve': true,
  'usage-update': true,
  'edit-pending': true,
  'edit-resolve': true,
  checkpoint: true,
  'cells-change': true,
  restore: true,
  'context-rebase': true,
  'context-add': true
};

function reduce(state: Conversation, event: Event): Conversation {
  switch (event.type) {
    case 'session-create':
      return { ...state, session: event.session };
    case 'session-update':
      return updateSession(state, event);
    case 'message-add':
      return addMessage(state, event);
    case 'message-update':
      return changeQueued(state, event);
    case 'turn-start':
      return startTurn(state, event);
    case 'turn-resume':
      return resumeTurn(state, event);
    case 'step-start':
      return startStep(state, event);
    case 'retry-wait':
      return waitRetry(state, event);
    case 'turn-end':
      return endTurn(state, event);
    case 'text-start':
      return openPart(state, event, 'text');
    case 'reasoning-start':
      return openPart(state, event, 'reasoning');
    case 'text-delta':
    case 'reasoning-delta':
      return appendText(state, event);
    case 'text-end':
    case 'reasoning-end':
      return changePart(state, part =>
        'part_id' in part && part.part_id === event.part_id
          ? { ...part, open: false }
          : null
      );
    case 'tool-call':
      return addPart(clearRetry(state), event, callPart(event));
    case 'tool-start':
      return changeCall(state, event.call_id, call => ({
        ...call,
        state: 'running'
      }));
    case 'tool-progress':
      return changeCall(state, event.call_id, call =>
        withProgress(call, event)
      );
    case 'tool-result':
      return withFile(setResult(state, event), event);
    case 'run-end':
      return setResult(state, event);
    case 'approval-request':
      return waiting(
        changeCall(state, event.call_id, call => withRequest(call, event)),
        event.call_id
      );
    case 'clarify-request':
      return waiting(addPart(state, event, clarifyPart(event)), event.call_id);
    case 'stdin-request':
      return waitForCellInput(
        addPart(state, event, stdinPart(event)),
        event.call_id
      );
    case 'approval-answer':
    case 'clarify-answer':
    case 'stdin-answer':
      return settle(
        changePart(state, part => withAnswer(part, event)),
        event.call_id
      );
    case 'todo-update':
      return { ...state, todo: event.items };
    case 'agent-activity':
      return setActivity(state, event);
    case 'agent-state':
      return { ...state, agent: event };
    case 'artifact-share': {
      const { call_id, name, media_type, size, description } = event;
      return addPart(state, event, {
        type: 'artifact',
        call_id,
        name,
        media_type,
        size,
        description
      });
    }
    case 'notice': {
      const { level, code, text, call_id } = event;
      if (text === '') {
        return state; // Replaces a damaged event, which the preceding event reports.
      }
      return addPart(state, event, {
        type: 'notice',
        level,
        code,
        text,
        call_id,
        details: event.details ?? null // Logs of older servers have none.
      });
    }
    case 'restore':
      return applyRestore(state, event);
    case 'error':
      return addPart(state, event, { type: 'error', error: event.error });
    case 'proposal-add':
      return addPart(state, event, {
        type: 'proposal',
        call_id: event.call_id,
        proposal: event.proposal
      });
    case 'proposal-resolve':
      return changePart(state, part =>
        part.type === 'proposal' && part.proposal.id === event.proposal_id
          ? { ...part, proposal: { ...part.proposal, state: event.state } }
          : null
      );
    case 'usage-update':
      return { ...state, usage: addUsage(state.usage, event) };
    case 'edit-pending':
      return editPending(state, event);
    case 'edit-resolve':
      return editResolved(state, event);
    case 'cells-change':
      return cellsChanged(state, event);
    case 'checkpoint':
    case 'context-rebase':
    case 'context-add':
      return state; // Needed for restores and requests, not shown.
    default:
      event satisfies never;
      return state; // From a newer server: nothing this page can show.
  }
}

/** Something that an agent of another program does by itself: its newest state replaces the one before. */
function setActivity(state: Conversation, event: AgentActivity): Conversation {
  const { activity_id, title, kind, status } = event;
  const activity: ActivityView = {
    type: 'activity',
    activity_id,
    title,
    kind,
    status,
    locations: event.locations,
    content: event.content,
    input: event.input
  };
  const changed = changePart(state, part =>
    part.type === 'activity' && part.activity_id === activity_id
      ? activity
      : null
  );
  return changed === state
    ? addPart(clearRetry(state), event, activity)
    : changed;
}

function setResult(
  state: Conversation,
  event: ToolResult | RunEnd
): Conversation {
  return settle(
    changeCall(state, event.call_id, call => withResult(call, event)),
    event.call_id
  );
}

function updateSession(
  state: Conversation,
  event: SessionUpdate
): Conversation {
  const next = { ...state, session: event.session };
  const stopped =
    event.session.status === 'interrupted' &&
    state.turn !== null &&
    state.turn.state !== 'ended';
  return stopped
    ? closeParts(changeTurn(next, { state: 'interrupted', retry: null }))
    : pause(next, event);
}

/** A turn may wait without a question: at a budget limit, or for results from the user. */
function pause(state: Conversation, event: SessionUpdate): Conversation {
  const { status } = event.session;
  if (status === 'waiting' && state.turn?.state === 'running') {
    return changeTurn(closeParts(state), { state: 'waiting' });
  }
  const over = status === 'running' && state.turn?.state === 'waiting';
  return over && state.pending_call === null
    ? changeTurn(state, { state: 'running' })
    : state;
}

function waiting(state: Conversation, callId: string): Conversation {
  return changeTurn({ ...state, pending_call: callId }, { state: 'waiting' });
}

/** A cell asks for input; after the end of its turn this does not reopen the turn. */
function waitForCellInput(state: Conversation, callId: string): Conversation {
  return state.turn?.state === 'ended'
    ? { ...state, pending_call: callId }
    : waiting(state, callId);
}

/** Documents, or the conversation, went back to before a message. */
function applyRestore(state: Conversation, event: Restore): Conversation {
  const { restore_id, seq, what, documents, drift, undone } = event;
  const before = event.conversation
    ? hideFrom(state, event, event.conversation)
    : state;
  const undoneTurn = event.undone_turn ?? null; // Logs of older servers have none.
  return addPart(markUndone(before, undoneTurn), event, {
    type: 'restore',
    restore_id,
    seq,
    what,
    documents,
    drift,
    undone,
    undone_turn: undoneTurn
  });
}
