/** State of a tab that is not in the log: draft, attachments, model, mode and outbox. Owned by `OpenTabs`. */

import { plainError } from '../../client/http';
import type {
  Attachment,
  Conversation,
  SendMessage
} from '../../wire/generated';
import type { Mode } from './interface';
import type { IPersistedState } from './persistedState';
import {
  addPendingMessage,
  remainingPendingMessages,
  type IPendingMessage
} from '../sessions/outbox';

/** The parts of the state that are saved. */
type SavedField = 'drafts' | 'edits' | 'attachments' | 'unsent';

/** Characters of images saved across reloads, for one and in total. Browsers store about five million characters. */
const MAX_SAVED_IMAGE = 700_000;
const MAX_SAVED_IMAGES = 2_500_000;

/** The state of one tab. */
export interface ITabState {
  readonly draft: string;
  /** Edited texts of sent messages, by message. */
  readonly edits: Readonly<Record<string, string>>;
  readonly attachments: readonly Attachment[];
  readonly model: string | null;
  readonly mode: Mode | null;
  readonly outbox: readonly IPendingMessage[];
}

const NONE: ITabState = {
  draft: '',
  edits: {},
  attachments: [],
  model: null,
  mode: null,
  outbox: []
};

/** Error of messages found unsent after a reload. */
const UNSENT_ERROR = plainError(
  'The page was closed before this message was sent.',
  true,
  'aborted'
);

/** The state of all tabs. */
export class TabStates {
  constructor(saved: Pick<IPersistedState, SavedField>) {
    for (const [key, draft] of Object.entries(saved.drafts)) {
      this.change(key, { draft });
    }
    for (const [key, edits] of Object.entries(saved.edits)) {
      this.change(key, { edits });
    }
    for (const [key, attachments] of Object.entries(saved.attachments)) {
      this.change(key, { attachments });
    }
    for (const [key, bodies] of Object.entries(saved.unsent)) {
      const outbox = bodies.map(body => ({ body, error: UNSENT_ERROR }));
      this.change(key, { outbox });
    }
  }

  get(key: string): ITabState {
    return this.notes.get(key) ?? NONE;
  }

  change(key: string, change: Partial<ITabState>): void {
    this.notes.set(key, { ...this.get(key), ...change });
  }

  /** Whether closing the tab would lose something. */
  has(key: string): boolean {
    const { draft, edits, attachments, outbox } = this.get(key);
    const lists = [Object.keys(edits), attachments, outbox];
    return draft !== '' || lists.some(list => list.length > 0);
  }

  drop(key: string): void {
    this.notes.delete(key);
  }

  /** Store the edited text of a sent message; null ends the edit. */
  edit(key: string, messageId: string, text: string | null): void {
    const { [messageId]: _, ...others } = this.get(key).edits;
    const edits = text === null ? others : { ...others, [messageId]: text };
    this.change(key, { edits });
  }

  /** Add a message to the tab's outbox, or update its state. */
  put(key: string, item: IPendingMessage): void {
    this.change(key, { outbox: addPendingMessage(this.get(key).outbox, item) });
  }

  /** Remove messages in the log from the outbox; return whether there were any. */
  settle(key: string, view: Conversation): boolean {
    const { outbox } = this.get(key);
    const left = remainingPendingMessages(outbox, view);
    this.change(key, { outbox: left });
    return left.length < outbox.length;
  }

  /** What to save for a reload. */
  saved(): Pick<IPersistedState, SavedField> {
    const drafts: Record<string, string> = {};
    const edited: Record<string, Record<string, string>> = {};
    const attached: Record<string, Attachment[]> = {};
    const unsent: Record<string, SendMessage[]> = {};
    const isKept = savedImageFilter();
    // Newest first: when images do not all fit, the newest are kept.
    for (const [key, notes] of [...this.notes].reverse()) {
      const { draft, edits, attachments, outbox } = notes;
      if (draft !== '') {
        drafts[key] = draft;
      }
      if (Object.keys(edits).length > 0) {
        edited[key] = edits;
      }
      if (attachments.length > 0) {
        attached[key] = attachments.filter(isKept);
      }
      if (outbox.length > 0) {
        unsent[key] = outbox.map(({ body }) => body);
      }
    }
    return { drafts, edits: edited, attachments: attached, unsent };
  }

  private readonly notes = new Map<string, ITabState>();
}

/** Return a predicate that accepts images while they fit, one after the other. */
function savedImageFilter(): (attachment: Attachment) => boolean {
  let room = MAX_SAVED_IMAGES;
  return attachment => {
    const size =
      attachment.kind === 'image' ? (attachment.data?.length ?? 0) : 0;
    const fits = size <= Math.min(MAX_SAVED_IMAGE, room);
    room -= fits ? size : 0;
    return fits;
  };
}
