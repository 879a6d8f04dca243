/** Edits a sent message. Sending it continues the conversation from there; the earlier version is kept. */

import * as React from 'react';

import type { UserView } from '../../wire/generated';
import { BranchesContext } from './branches';
import { Button } from '../../ui/primitives';
import { focusComposer, useTabContext, useTrans } from '../../ui/hooks';

export function EditMessage(props: {
  message: UserView;
  /** Whether the user just opened it. */
  takesFocus: boolean;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { message, takesFocus, onClose } = props;
  const { message_id: id } = message;
  const { earlierVersion } = React.useContext(BranchesContext);
  const [text, setText] = React.useState(
    () => conversations.edit(tab, id) ?? message.text
  );
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useLayoutEffect(() => {
    const element = field.current;
    if (takesFocus) {
      element?.focus();
      element?.setSelectionRange(element.value.length, element.value.length);
    }
  }, [takesFocus]);
  React.useLayoutEffect(() => {
    const element = field.current;
    if (element !== null) {
      element.style.height = 'auto';
      element.style.height = `${element.scrollHeight}px`; // CSS limits it.
    }
  }, [text]);
  const isEmpty = text.trim() === '' && message.attachments.length === 0;
  const canSend = !isEmpty && earlierVersion === null;
  const send = (): void => {
    if (canSend) {
      const { attachments, context } = message;
      onClose();
      focusComposer();
      void conversations.send(tab, {
        text: text.trim(),
        attachments,
        context,
        replaces: id
      });
    }
  };
  return (
    <form
      className="shoulders-EditMessage"
      aria-label={trans.__('Edit message')}
      onSubmit={event => {
        event.preventDefault();
        send();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.preventDefault();
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <textarea
        ref={field}
        className="shoulders-EditMessage-field"
        rows={1}
        value={text}
        aria-label={trans.__('Message')}
        onChange={event => {
          setText(event.target.value);
          conversations.setEdit(tab, id, event.target.value);
        }}
        onKeyDown={event => {
          const plain = !event.shiftKey && !event.nativeEvent.isComposing;
          if (event.key === 'Enter' && plain) {
            event.preventDefault();
            send();
          }
        }}
      />
      <p className="shoulders-EditMessage-note">
        {earlierVersion === null
          ? trans.__(
              'The replies that followed are kept as an earlier version. Notebooks and files do not change.'
            )
          : trans.__(
              'This message belongs to an earlier version. Your text is kept here so that you can copy it.'
            )}
      </p>
      <div className="shoulders-Actions">
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={!canSend}
        >
          {trans.__('Send')}
        </button>
        <Button onClick={onClose}>{trans.__('Cancel')}</Button>
      </div>
    </form>
  );
}
