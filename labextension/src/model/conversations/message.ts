import type { Attachment, MessageContext } from '../../wire/generated';

/** A message from the user. */
export interface IMessage {
  text: string;
  attachments?: Attachment[];
  context?: MessageContext | null;
  /** Id of the message this edited version replaces; the conversation continues from here. */
  replaces?: string;
}
