/** The input prompt of a running cell: a text or password field. The text is not stored. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import type { StdinView } from '../../wire/generated';
import { ErrorNote } from '../../ui/primitives';
import {
  useAnswer,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans,
  usePendingInput
} from '../../ui/hooks';

export const InputCard = React.memo(function InputCard(props: {
  input: StdinView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { prompt, call_id, answered } = props.input;
  const waits = usePendingInput().call === call_id && answered === null;
  const title = React.useId();
  return (
    <section
      className={`shoulders-Card shoulders-StdinCard ${waits ? 'shoulders-mod-waiting' : ''}`}
      aria-labelledby={title}
    >
      <header className="shoulders-Card-head">
        <Icon name="question" />
        <span className="shoulders-Call-title" id={title}>
          {trans.__('The cell is asking for input')}
        </span>
      </header>
      {prompt.trim() !== '' && (
        <pre
          className="shoulders-Plain shoulders-StdinCard-prompt"
          // A long prompt can be scrolled by keyboard.
          tabIndex={0}
        >
          {visible(prompt)}
        </pre>
      )}
      {waits ? (
        <Field input={props.input} />
      ) : (
        <p className="shoulders-Card-remark">
          {answered === true ? trans.__('Answered') : trans.__('Not answered')}
        </p>
      )}
    </section>
  );
});

function Field({ input }: { input: StdinView }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, late, runOnce } = useAnswer();
  const [text, setText] = React.useState('');
  const label = visible(input.prompt.trim());
  return (
    <form
      className="shoulders-StdinCard-form"
      ref={useRestoreFocus<HTMLFormElement>()}
      onSubmit={event => {
        event.preventDefault();
        runOnce(() =>
          conversations.commands.answerInput(tab, input.call_id, text)
        );
      }}
    >
      <input
        className="shoulders-Input shoulders-StdinCard-field"
        type={input.password ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        value={text}
        aria-label={label === '' ? trans.__('Input for the cell') : label}
        onChange={event => setText(event.target.value)}
      />
      <button type="submit" className="shoulders-Button shoulders-mod-primary">
        {trans.__('Send')}
      </button>
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {trans.__('The cell is no longer waiting for this input.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </form>
  );
}
