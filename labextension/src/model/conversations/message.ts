import type { Attachment, MessageContext } from '../../wire/generated';

/** What the user sends. */
export interface IMessage {
  text: string;
  attachments?: Attachment[];
  context?: MessageContext | null;
  /** The message of which this is the edited version; the conversation goes on from there. */
  replaces?: string;
}
