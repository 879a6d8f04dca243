/** Selects and groups the visible parts of a conversation. Pure selectors over the folded state, used by the views. */

import type {
  AgentView,
  CallView,
  Conversation,
  Json,
  NoticeView,
  PartView,
  ReasoningView
} from '../../wire/generated';
import { DELEGATE } from './subAgents';
import { serverToolOf } from './toolOwners';
import { plainTool, repeatsActivity } from './agentActivities';
import type { ToolIcon } from './toolIcons';
import { isRunning, isAbandoned, pendingCall } from './turnState';

export { isRunning, isAbandoned, pendingCall };
export type { ToolIcon };

/** A part, or consecutive read calls that share one line. */
export type MessageItem =
  | { readonly kind: 'part'; readonly key: string; readonly part: PartView }
  | {
      readonly kind: 'reads';
      readonly key: string;
      readonly calls: readonly CallView[];
    };

const ICONS: readonly (readonly [RegExp, ToolIcon])[] = [
  [/^(run_command|run_code|run$|git_)/, 'terminal'],
  [/^(run_|restart_|interrupt_|verify_)/, 'run'],
  [/^(create_proposal|propose_)/, 'pencil'],
  [/^(add_|create_|write_|duplicate_)/, 'file-add'],
  [/^(delete_|clear_)/, 'delete'],
  [/^(edit|rename_|move_|undo_|remember$|forget$)/, 'pencil'],
  [/^(get_reference|cite_|search_papers)/, 'book'],
  [/^(search_|semantic_|web_search)/, 'search'],
  [/^fetch/, 'link'],
  [/^list_files/, 'folder'],
  [/^(read|inspect_|get_|list_|file_history)/, 'eye'],
  [/^(complete|todo)/, 'check'],
  [/^share_/, 'file'],
  [/^clarify/, 'question']
];

/** The icon of a tool. */
export function toolIcon(tool: string): ToolIcon {
  const name = plainTool(tool);
  return ICONS.find(([names]) => names.test(name))?.[1] ?? 'tool';
}

/** The target of a call for its line; for a command its beginning. */
export function targetOf({ target, tool, arguments: given }: CallView): string {
  const command = plainTool(tool) === 'run_command' ? given?.command : null;
  return (
    target ??
    (typeof command === 'string' ? (command.trim().split('\n')[0] ?? '') : '')
  );
}

/** The visible parts, with consecutive read calls grouped. */
export function presentParts(message: AgentView): MessageItem[] {
  const items: MessageItem[] = [];
  message.parts.forEach((part, index) => {
    if (
      isHidden(part, message.parts) ||
      isRepeated(part, message.parts[index + 1])
    ) {
      return;
    }
    const last = items.at(-1);
    if (isQuietRead(part) && last?.kind === 'reads') {
      items[items.length - 1] = { ...last, calls: [...last.calls, part] };
    } else if (isQuietRead(part)) {
      items.push({ kind: 'reads', key: keyOf(part, index), calls: [part] });
    } else {
      items.push({ kind: 'part', key: keyOf(part, index), part });
    }
  });
  return items;
}

function isHidden(part: PartView, parts: readonly PartView[]): boolean {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '';
    case 'reasoning':
      return part.text.trim() === '' && !part.open;
    case 'call':
      return isShownElsewhere(part) || repeatsActivity(part, parts);
    case 'activity':
    case 'end': // The change list shows the end of a plain answer.
    case 'clarify':
    case 'stdin':
    case 'proposal':
    case 'artifact':
    case 'notice':
    case 'restore':
    case 'error':
      return false;
  }
}

/** Calls represented by their effect: a question, a to-do list, a file or a banner. */
function isShownElsewhere({ tool, state }: CallView): boolean {
  switch (tool) {
    case 'clarify':
      return state !== 'error' && state !== 'denied' && state !== 'skipped';
    case 'complete':
    case 'todo':
    case 'share_artifact':
      return state === 'ok';
    default:
      return false;
  }
}

/** Whether the next part repeats a notice, as when a turn stops at a limit. */
function isRepeated(part: PartView, next: PartView | undefined): boolean {
  if (part.type !== 'notice' || next === undefined) {
    return false;
  }
  return next.type === 'notice'
    ? part.code === 'budget_80' && PAUSES.has(next.code)
    : next.type === 'end' && next.error?.message === part.text;
}

function isQuietRead(part: PartView): part is CallView {
  return (
    part.type === 'call' &&
    part.risk === 'read' &&
    part.tool !== DELEGATE &&
    part.state === 'ok' &&
    !part.external &&
    part.approval === null
  );
}

function keyOf(part: PartView, index: number): string {
  if (part.type === 'call') {
    return part.call_id;
  }
  if (part.type === 'activity') {
    return `activity-${part.activity_id}`;
  }
  return 'part_id' in part ? part.part_id : `${part.type}-${index}`;
}

/** Whether nothing has come since the user's last message. */
export function isAwaitingResponse(view: Conversation): boolean {
  const last = view.messages.at(-1);
  const empty =
    last?.role === 'agent'
      ? presentParts(last).length === 0
      : last !== undefined;
  return empty && isRunning(view);
}

/** Code of the notice that asks whether earlier messages may be summarised. */
export const COMPACTION_ASK = 'compaction_ask';

/** Codes of notices about a pause: at a budget limit or at the model's window. */
const PAUSES = new Set(['turn_limit', 'session_limit', COMPACTION_ASK]);

/** What waits for the user. */
export interface IPendingInput {
  /** The call with an approval or a question. */
  readonly call: string | null;
  /** The notice of the limit that paused the turn. */
  readonly pause: NoticeView | null;
  /** Whether calls wait for results from the user. */
  readonly results: boolean;
}

/** What waits for the user; also in an interrupted turn. */
export function pendingInputOf(view: Conversation): IPendingInput {
  const { turn, pending_call: call, session } = view;
  if (isAbandoned(view)) {
    return { call: null, pause: null, results: false };
  }
  const rests = turn?.state === 'waiting' || turn?.state === 'interrupted';
  const free = rests && call === null;
  return {
    call,
    pause: free ? pauseIn(partsOfLast(view)) : null,
    results: free && session?.tools === 'parse_only'
  };
}

/** The pause notice, if no part other than notices follows it. */
function pauseIn(parts: readonly PartView[]): NoticeView | null {
  for (const part of [...parts].reverse()) {
    if (part.type !== 'notice') {
      return null;
    }
    if (PAUSES.has(part.code)) {
      return part;
    }
  }
  return null;
}

/** Whether a question of the agent is open, so that the next message answers it. */
export function asksQuestion(view: Conversation): boolean {
  const { call } = pendingInputOf(view);
  return (
    call !== null &&
    view.messages.some(
      message =>
        message.role === 'agent' &&
        message.parts.some(
          part =>
            part.type === 'clarify' &&
            part.call_id === call &&
            part.answer === null
        )
    )
  );
}

/** What the agent is doing now. */
export type Activity =
  | {
      readonly kind:
        | 'approval'
        | 'question'
        | 'pause'
        | 'results'
        | 'thinking'
        | 'writing'
        | 'asking';
    }
  | { readonly kind: 'tool'; readonly call: CallView }
  | {
      readonly kind: 'retry';
      readonly until: number;
      readonly attempt: number;
      readonly reason: string;
    };

/** What the running turn is doing. */
export function activityOf(view: Conversation): Activity {
  const { turn } = view;
  if (turn?.retry) {
    const { at, delay_ms, attempt, reason } = turn.retry;
    return { kind: 'retry', until: Date.parse(at) + delay_ms, attempt, reason };
  }
  if (turn?.state === 'waiting') {
    return { kind: waitingFor(view) };
  }
  return activityOfParts(partsOfLast(view));
}

function waitingFor(
  view: Conversation
): 'approval' | 'question' | 'pause' | 'results' {
  const { pause, results } = pendingInputOf(view);
  if (pause !== null) {
    return 'pause';
  }
  if (results) {
    return 'results';
  }
  return pendingCall(view)?.state === 'waiting' ? 'approval' : 'question';
}

function activityOfParts(parts: readonly PartView[]): Activity {
  for (const part of parts) {
    if (part.type === 'call' && part.state === 'running') {
      return { kind: 'tool', call: part };
    }
  }
  const last = parts.at(-1);
  if (last === undefined || !('open' in last) || !last.open) {
    return { kind: 'asking' };
  }
  return { kind: last.type === 'reasoning' ? 'thinking' : 'writing' };
}

function partsOfLast(view: Conversation): readonly PartView[] {
  const last = view.messages.at(-1);
  return last?.role === 'agent' ? last.parts : [];
}

/** The text before and after, when a call edits known text. */
export function editOf(
  call: CallView
): { before: string; after: string } | null {
  const data = call.result?.data;
  if (isObject(data)) {
    const { before, after } = data;
    if (typeof before === 'string' && typeof after === 'string') {
      return { before, after };
    }
  }
  const { old_string, new_string } = call.arguments ?? {};
  return typeof old_string === 'string' && typeof new_string === 'string'
    ? { before: old_string, after: new_string }
    : null;
}

/** The images of a call as data URLs: from the cells it ran, else those sent to the model. */
export function picturesOf({ tool, result, content }: CallView): string[] {
  const isOurs = serverToolOf(tool) === null;
  const outputs = isOurs && isObject(result?.data) ? result.data.outputs : null;
  const pictures = (Array.isArray(outputs) ? outputs : []).flatMap(output => {
    const bundle = isObject(output) ? output.data : null;
    return isObject(bundle) ? pictureIn(bundle) : [];
  });
  return pictures.length > 0
    ? pictures
    : content.flatMap(part =>
        part.type === 'text'
          ? []
          : [`data:${part.media_type};base64,${part.data}`]
      );
}

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function pictureIn(bundle: Record<string, Json>): string[] {
  for (const type of PICTURES) {
    const data = bundle[type];
    if (typeof data === 'string') {
      return [`data:${type};base64,${data.replace(/\s/g, '')}`];
    }
  }
  return [];
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An item, or consecutive reasoning as one section. */
export type Section =
  | MessageItem
  | {
      readonly kind: 'reasoning';
      readonly key: string;
      readonly parts: readonly ReasoningView[];
    };

/** Group consecutive reasoning into sections. */
export function withReasoning(items: readonly MessageItem[]): Section[] {
  const sections: Section[] = [];
  for (const item of items) {
    const last = sections.at(-1);
    if (item.kind !== 'part' || item.part.type !== 'reasoning') {
      sections.push(item);
    } else if (last?.kind === 'reasoning') {
      const parts = [...last.parts, item.part];
      sections[sections.length - 1] = { ...last, parts };
    } else {
      const { key, part } = item;
      sections.push({ kind: 'reasoning', key, parts: [part] });
    }
  }
  return sections;
}
