/**
 * State kept across reloads: open conversations, drafts, unsent messages, chosen model and mode. Used by `OpenTabs`;
 * the chat plugin provides the storage.
 */

import type { Attachment, SendMessage, Session } from '../../wire/generated';
import type { ITab } from './tabs';

/** Stores one text. */
export interface IStateStorage {
  read(): string | null;
  write(text: string): void;
}

/** The saved state. */
export interface IPersistedState {
  tabs: ITab[];
  active: string | null;
  /** Closed tabs with drafts, the newest last. */
  aside: ITab[];
  /** Text in the input, by tab. */
  drafts: Record<string, string>;
  /** Sent messages being edited, by tab and message. */
  edits: Record<string, Record<string, string>>;
  /** Attachments of the next message, by tab. */
  attachments: Record<string, Attachment[]>;
  /** Messages the server has not accepted yet, by tab. */
  unsent: Record<string, SendMessage[]>;
  model: string | null;
  mode: Session['mode'] | null;
}

const NOTHING: IPersistedState = {
  tabs: [],
  active: null,
  aside: [],
  drafts: {},
  edits: {},
  attachments: {},
  unsent: {},
  model: null,
  mode: null
};

/** Load the saved state; ignores what cannot be parsed. */
export function loadPersistedState(storage: IStateStorage): IPersistedState {
  const text = storage.read();
  if (text === null) {
    return NOTHING;
  }
  try {
    const saved: unknown = JSON.parse(text);
    return isMemory(saved) ? { ...NOTHING, ...saved } : NOTHING;
  } catch {
    return NOTHING; // Another program's text under our name.
  }
}

/** Save the state. */
export function savePersistedState(
  storage: IStateStorage,
  memory: IPersistedState
): void {
  storage.write(JSON.stringify({ version: 1, ...memory }));
}

function isMemory(saved: unknown): saved is IPersistedState {
  return (
    typeof saved === 'object' &&
    saved !== null &&
    'version' in saved &&
    saved.version === 1 &&
    'tabs' in saved &&
    Array.isArray(saved.tabs)
  );
}
