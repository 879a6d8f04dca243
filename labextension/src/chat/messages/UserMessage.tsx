/** A user message: a bubble on the right, shortened if long, with its attachments and context. */

import * as React from 'react';

import { formatMoment } from '../../text/numberFormat';
import { legible } from '../../text/hiddenCharacters';
import type {
  Attachment,
  MessageContext,
  UserView
} from '../../wire/generated';
import { EditMessage } from './EditMessage';
import { MessageActions } from './MessageActions';
import { References } from './References';
import { useTabContext, useSignal, useTrans } from '../../ui/hooks';
import { VersionSwitcher } from './VersionSwitcher';

/** A logged message, which can be restored to. */
export const UserMessage = React.memo(function UserMessage(props: {
  message: UserView;
}): React.JSX.Element {
  const { message } = props;
  const { message_id: id } = message;
  const { conversations, tab } = useTabContext();
  const edits = useSignal(
    conversations.changed,
    () => conversations.edit(tab, id) !== null
  );
  // A restored field does not take the focus.
  const [asked, setAsked] = React.useState(false);
  const ref = React.useRef<HTMLDivElement>(null);
  const open = (): void => {
    setAsked(true);
    conversations.setEdit(tab, id, message.text);
  };
  const close = (): void => {
    setAsked(false);
    conversations.setEdit(tab, id, null);
    ref.current?.focus();
  };
  return (
    <div
      className="shoulders-User"
      title={edits ? undefined : formatMoment(message.at)}
      tabIndex={-1}
      ref={ref}
    >
      {edits ? (
        <EditMessage message={message} takesFocus={asked} onClose={close} />
      ) : (
        <Bubble text={message.text} />
      )}
      <References attachments={message.attachments} context={message.context} />
      <VersionSwitcher seq={message.seq} />
      {!edits && <MessageActions message={message} onEdit={open} />}
    </div>
  );
});

/** A message being sent. */
export function UserBubble(props: {
  text: string;
  attachments?: readonly Attachment[];
  context?: MessageContext | null;
  className?: string;
}): React.JSX.Element {
  return (
    <div className={`shoulders-User ${props.className ?? ''}`}>
      <Bubble text={props.text} />
      <References
        attachments={props.attachments ?? []}
        context={props.context ?? null}
      />
    </div>
  );
}

/** The text; a long one is shortened. */
function Bubble({ text }: { text: string }): React.JSX.Element | null {
  const trans = useTrans();
  const [whole, setWhole] = React.useState(false);
  const ref = React.useRef<HTMLDivElement>(null);
  const beginning = clampText(text);
  const overflows = useOverflow(ref, whole);
  if (text === '') {
    return null; // Attachments can be sent without text.
  }
  return (
    <div className="shoulders-User-bubble">
      <div
        className={`shoulders-User-text ${whole ? '' : 'shoulders-mod-clamped'}`}
        ref={ref}
        dir="auto"
      >
        {legible(whole ? text : beginning)}
      </div>
      {(whole || overflows || beginning !== text) && (
        <button
          type="button"
          className="shoulders-Link"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? trans.__('Show less') : trans.__('Show more')}
        </button>
      )}
    </div>
  );
}

/** Whether the shortened text overflows at the current width. */
function useOverflow(
  place: React.RefObject<HTMLElement>,
  whole: boolean
): boolean {
  const [overflows, setOverflows] = React.useState(false);
  React.useLayoutEffect(() => {
    const element = place.current;
    if (element === null || whole) {
      return;
    }
    const look = (): void =>
      setOverflows(element.scrollHeight > element.clientHeight + 1);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [place, whole]);
  return overflows;
}

/** Lines and characters shown of a long message. */
export const MAX_LINES = 5;
export const MAX_CHARACTERS = 300;

/** Cut a long text between words where possible; returns a short one unchanged. */
export function clampText(text: string): string {
  const lines = text.split('\n');
  const few =
    lines.length > MAX_LINES ? lines.slice(0, MAX_LINES).join('\n') : text;
  if (few.length <= MAX_CHARACTERS) {
    return few === text ? text : `${few.trimEnd()}…`;
  }
  const cut = few.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
  return `${cut.replace(/\s\S{0,20}$/, '').trimEnd()}…`;
}
