/** State of the message being written and its actions. Used by `Composer`. */

import * as React from 'react';

import type { IConversations } from '../../model/conversations/interface';
import {
  messageContextOf,
  type RemovedPieces,
  type ContextPiece
} from './editorContext';
import { parseCommand, type ISlashCommand } from './suggestions/slashCommands';
import type {
  Conversation,
  ErrorInfo,
  McpPromptView,
  ModelInfo,
  PreviewMessage
} from '../../wire/generated';
import type { IEditorContext } from '../../host/chatHost';
import {
  useAction,
  useHost,
  useTabContext,
  useEditorContext
} from '../../ui/hooks';
import { isImage } from './imageAttachments';
import { useAttachments, type IAttachments } from './useAttachments';
import { useSlashCommands, type Sheet } from './useSlashCommands';

export interface IComposer {
  /** Whether the conversation is a thread, whose anchor replaces the editor context. */
  readonly isThread: boolean;
  readonly draft: IDraft;
  readonly editorContext: IEditorContext;
  readonly removedContext: RemovedPieces;
  readonly removeContext: (piece: ContextPiece) => void;
  readonly restoreContext: () => void;
  readonly attachments: IAttachments;
  readonly commands: readonly ISlashCommand[];
  readonly sheet: Sheet | null;
  readonly setSheet: (sheet: Sheet | null) => void;
  /** The prompt whose arguments are asked for. */
  readonly prompt: McpPromptView | null;
  readonly closePrompt: () => void;
  /** Whether the list of models is open. */
  readonly models: boolean;
  readonly setModels: (shown: boolean) => void;
  /** The chosen model, if images are attached and it cannot see them. */
  readonly modelWithoutImages: ModelInfo | null;
  /** The message that would be sent with a text. */
  readonly message: (text: string) => PreviewMessage;
  readonly send: (typed: string) => void;
  readonly run: (
    command: ISlashCommand,
    argument: string,
    rest: string
  ) => void;
  /** Null in a page that cannot open files. */
  readonly openInstructions: (() => void) | null;
  /** Whether the message waits for attachments. */
  readonly isWaiting: boolean;
  readonly cancelSend: () => void;
  readonly canSend: boolean;
  readonly error: ErrorInfo | null;
}

export function useComposer(
  view: Conversation | null,
  closed: boolean
): IComposer {
  const { openInstructions } = useHost();
  const { conversations, tab } = useTabContext();
  const isThread = conversations.anchor(tab) !== null;
  const editorContext = useEditorContext();
  const draft = useDraft();
  const {
    removed: removedContext,
    remove: removeContext,
    restore: restoreContext
  } = useRemovedContext(editorContext);
  const attachments = useAttachments();
  const [sheet, setSheet] = React.useState<Sheet | null>(null);
  const [prompt, setPrompt] = React.useState<McpPromptView | null>(null);
  const [models, setModels] = React.useState(false);
  const action = useAction();
  const commands = useSlashCommands({
    view,
    open: setSheet,
    openModels: () => setModels(true),
    openPrompt: setPrompt,
    isCommandBegun: draft.text.startsWith('/')
  });
  const message = (text: string): PreviewMessage => ({
    text,
    attachments: [...attachments.all],
    context: isThread ? null : messageContextOf(editorContext, removedContext),
    model: conversations.model(tab),
    mode: conversations.mode(tab)
  });
  const isEmpty = (text: string): boolean =>
    text.trim() === '' &&
    attachments.all.length === 0 &&
    attachments.pending.length === 0;
  const isWaiting = useWaiting(restoreContext);
  const deliver = (typed: string): void => {
    const text = typed.trim();
    if (closed || isEmpty(text)) {
      return;
    }
    const { attachments: attached = [], context = null } = message(text);
    const { uploads } = conversations;
    if (uploads.pending(tab).length > 0) {
      draft.set(typed);
      uploads.sendWhenReady(tab, { text, context });
      return;
    }
    draft.set('');
    attachments.clear();
    restoreContext();
    void conversations.send(tab, { text, attachments: attached, context });
  };
  const run = (
    command: ISlashCommand,
    argument: string,
    rest: string
  ): void => {
    if (command.isSkill === true) {
      draft.set(`/${command.name} ${rest}`);
    } else {
      draft.set(rest);
      action.run(async () => command.run(argument));
    }
  };
  const send = (typed: string): void => {
    const line = parseCommand(typed);
    const command = commands.find(({ name }) => name === line?.name);
    if (line === null || command === undefined || command.isSkill === true) {
      deliver(typed);
    } else if (command.isSent === true) {
      run(command, '', '');
      deliver(line.argument);
    } else {
      // A text that is no argument stays in the input.
      run(
        command,
        line.argument,
        command.choices === undefined ? line.argument : ''
      );
    }
  };
  return {
    isThread,
    draft,
    editorContext,
    removedContext,
    removeContext,
    restoreContext,
    attachments,
    commands,
    sheet,
    setSheet,
    prompt,
    closePrompt: () => setPrompt(null),
    models,
    setModels,
    modelWithoutImages: attachments.all.some(isImage)
      ? findModelWithoutImages(conversations, tab)
      : null,
    message,
    send,
    run,
    openInstructions:
      openInstructions === null ? null : () => action.run(openInstructions),
    isWaiting,
    cancelSend: () => conversations.uploads.cancelSend(tab),
    canSend: !isEmpty(draft.text),
    error: attachments.error ?? action.error
  };
}

/** The chosen model, unless it sees images or is unknown. */
function findModelWithoutImages(
  conversations: IConversations,
  tab: string
): ModelInfo | null {
  const id = conversations.model(tab);
  const model = conversations.models?.models.find(each => each.id === id);
  return model?.images === false ? model : null;
}

/**
 * Whether the message waits for attachments. Calls `onSent` when it is sent after the wait, which restores removed
 * context.
 */
function useWaiting(onSent: () => void): boolean {
  const { conversations, tab } = useTabContext();
  const waiting = conversations.uploads.waiting(tab) !== null;
  const sent = conversations.outbox(tab).at(-1)?.body.id;
  const before = React.useRef({ waiting, sent });
  React.useEffect(() => {
    const { current } = before;
    before.current = { waiting, sent };
    const ended = current.waiting && !waiting;
    if (ended && sent !== undefined && sent !== current.sent) {
      onSent();
    }
  });
  return waiting;
}

interface IDraft {
  readonly text: string;
  readonly set: (text: string) => void;
}

function useDraft(): IDraft {
  const { conversations, tab } = useTabContext();
  const [text, setText] = React.useState(() => conversations.draft(tab));
  const set = (next: string): void => {
    setText(next);
    conversations.setDraft(tab, next);
  };
  React.useEffect(() => {
    const read = (): void => setText(conversations.draft(tab));
    conversations.changed.connect(read);
    return () => {
      conversations.changed.disconnect(read);
    };
  }, [conversations, tab]);
  return { text, set };
}

const NOTHING: RemovedPieces = new Set();

/** Context pieces the user removed, until the message is sent or another document is active. */
function useRemovedContext({ document }: IEditorContext): {
  removed: RemovedPieces;
  remove: (piece: ContextPiece) => void;
  restore: () => void;
} {
  const [state, setState] = React.useState({ document, left: NOTHING });
  const removed = state.document === document ? state.left : NOTHING;
  return {
    removed,
    remove: piece => setState({ document, left: new Set([...removed, piece]) }),
    restore: () => setState({ document, left: NOTHING })
  };
}
