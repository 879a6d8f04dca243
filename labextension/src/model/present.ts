/** What of a conversation is shown and how it is grouped: pure selectors over the fold. Used by the views. */

import type {
  AgentView,
  CallView,
  Conversation,
  Json,
  PartView
} from '../wire/generated';

/** A part, or consecutive quiet reads that share one line. */
export type Item =
  | { readonly kind: 'part'; readonly key: string; readonly part: PartView }
  | {
      readonly kind: 'reads';
      readonly key: string;
      readonly calls: readonly CallView[];
    };

/** The pictures of tool calls. */
export type ToolIcon =
  | 'eye'
  | 'pencil'
  | 'add'
  | 'delete'
  | 'folder'
  | 'terminal'
  | 'search'
  | 'run'
  | 'book'
  | 'check'
  | 'tool';

const ICONS: readonly (readonly [RegExp, ToolIcon])[] = [
  [/^(run_command|run_code|git_)/, 'terminal'],
  [/^(run_|restart_|interrupt_|verify_)/, 'run'],
  [/^(add_|create_)/, 'add'],
  [/^(delete_|clear_)/, 'delete'],
  [/^(edit_|write_|rename_|move_|duplicate_|undo_|propose_)/, 'pencil'],
  [/^(search_|semantic_)/, 'search'],
  [/^(list_)/, 'folder'],
  [/^(get_reference|cite_|search_papers)/, 'book'],
  [/^(read_|inspect_|get_|file_history)/, 'eye'],
  [/^(complete|todo)/, 'check']
];

/** The picture of a tool. */
export function toolIcon(tool: string): ToolIcon {
  return ICONS.find(([names]) => names.test(tool))?.[1] ?? 'tool';
}

/** The parts to show, consecutive quiet reads folded. */
export function presentParts(message: AgentView): Item[] {
  const items: Item[] = [];
  message.parts.forEach((part, index) => {
    if (isHidden(part)) {
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

function isHidden(part: PartView): boolean {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '';
    case 'reasoning':
      return part.text.trim() === '' && !part.open;
    case 'call':
      return part.tool === 'complete' && part.state === 'ok'; // Its summary is the banner.
    case 'end':
      return part.exit === 'final_response';
    case 'clarify':
    case 'stdin':
    case 'proposal':
    case 'artifact':
    case 'notice':
    case 'error':
      return false;
  }
}

function isQuietRead(part: PartView): part is CallView {
  return (
    part.type === 'call' &&
    part.risk === 'read' &&
    part.state === 'ok' &&
    !part.external &&
    part.approval === null
  );
}

function keyOf(part: PartView, index: number): string {
  if (part.type === 'call') {
    return part.call_id;
  }
  return 'part_id' in part ? part.part_id : `${part.type}-${index}`;
}

/** Whether a turn is going on, waiting included. */
export function isRunning({ turn }: Conversation): boolean {
  return (
    turn?.state === 'running' ||
    turn?.state === 'waiting' ||
    turn?.state === 'retrying'
  );
}

/** Whether nothing has come since the user's last message. */
export function isAwaitingFirst(view: Conversation): boolean {
  const last = view.messages.at(-1);
  const empty =
    last?.role === 'agent'
      ? presentParts(last).length === 0
      : last !== undefined;
  return empty && isRunning(view);
}

/** What the agent is doing now. */
export type Activity =
  | {
      readonly kind:
        'approval' | 'question' | 'thinking' | 'writing' | 'asking';
    }
  | { readonly kind: 'tool'; readonly call: CallView }
  | {
      readonly kind: 'retry';
      readonly until: number;
      readonly attempt: number;
      readonly reason: string;
    };

/** What the running turn is doing now. */
export function activityOf(view: Conversation): Activity {
  const { turn } = view;
  if (turn?.retry) {
    const { at, delay_ms, attempt, reason } = turn.retry;
    return { kind: 'retry', until: Date.parse(at) + delay_ms, attempt, reason };
  }
  if (turn?.state === 'waiting') {
    const waits = pendingCall(view)?.state === 'waiting';
    return { kind: waits ? 'approval' : 'question' };
  }
  return activityOfParts(partsOfLast(view));
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

/** The call that waits for the user. */
export function pendingCall(view: Conversation): CallView | null {
  return view.pending_call === null
    ? null
    : (view.messages
        .flatMap(message => (message.role === 'agent' ? message.parts : []))
        .filter(part => part.type === 'call')
        .reverse()
        .find(call => call.call_id === view.pending_call) ?? null);
}

function partsOfLast(view: Conversation): readonly PartView[] {
  const last = view.messages.at(-1);
  return last?.role === 'agent' ? last.parts : [];
}

/** Text before and after, where a call is an edit of known text. */
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

/** Pictures among the outputs of the cells a call ran, as data addresses. */
export function picturesOf(call: CallView): string[] {
  const data = call.result?.data;
  const outputs = isObject(data) ? data.outputs : null;
  return (Array.isArray(outputs) ? outputs : []).flatMap(output => {
    const bundle = isObject(output) ? output.data : null;
    return isObject(bundle) ? pictureIn(bundle) : [];
  });
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
