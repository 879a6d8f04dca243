/** A message of the user: a bubble on the right, long ones clamped. */

import * as React from 'react';

import { formatMoment } from '../model/format';
import { visible } from '../model/visible';
import type { MessageContext } from '../wire/generated';
import { MessageActions } from './MessageActions';
import { useHost, useTrans } from './use';

const CLAMP_LINES = 5;
const CLAMP_CHARACTERS = 300;

export const UserBubble = React.memo(function UserBubble(props: {
  text: string;
  at?: string;
  context?: MessageContext | null;
  /** Of a message of the log; one can go back to before it. */
  seq?: number;
  className?: string;
  children?: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { text } = props;
  const [whole, setWhole] = React.useState(false);
  const long =
    text.length > CLAMP_CHARACTERS || text.split('\n').length > CLAMP_LINES;
  return (
    <div
      className={`shoulders-User ${props.className ?? ''}`}
      title={props.at === undefined ? '' : formatMoment(props.at)}
    >
      <div className="shoulders-User-bubble">
        <div
          className={`shoulders-User-text ${long && !whole ? 'shoulders-mod-clamped' : ''}`}
        >
          {text}
        </div>
        {long && (
          <button
            type="button"
            className="shoulders-Link"
            aria-expanded={whole}
            onClick={() => setWhole(!whole)}
          >
            {whole ? trans.__('Show less') : trans.__('Show more')}
          </button>
        )}
        {props.children}
      </div>
      {props.context && <SentContext context={props.context} />}
      {props.seq !== undefined && (
        <MessageActions point={{ seq: props.seq, text }} />
      )}
    </div>
  );
});

/** What was sent beside the text; opens its target. */
function SentContext(props: {
  context: MessageContext;
}): React.JSX.Element | null {
  const { openDocument } = useHost();
  const { active_document, active_cell_id, selection } = props.context;
  const trans = useTrans();
  if (active_document === null) {
    return null;
  }
  const name = active_document.split('/').at(-1) ?? active_document;
  return (
    <button
      type="button"
      className="shoulders-User-context"
      title={visible(active_document)}
      onClick={() => openDocument(active_document, active_cell_id)}
    >
      {selection === null
        ? visible(name)
        : trans.__('%1 · selection', visible(name))}
    </button>
  );
}
