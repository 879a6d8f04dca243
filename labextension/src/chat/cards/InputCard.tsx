/** The input prompt of a running cell: a text or password field. The text is not stored. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { serverToolOf } from '../../model/view-models/toolOwners';
import { visible } from '../../text/hiddenCharacters';
import type { StdinView } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
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
  const server = useAskingServer(call_id);
  const waits = usePendingInput().call === call_id && answered === null;
  const title = React.useId();
  return (
    <section
      className={`shoulders-Card shoulders-StdinCard ${waits ? 'shoulders-mod-waiting' : ''}`}
      role="group" // several may have the same name
      aria-labelledby={title}
    >
      <header className="shoulders-Card-head">
        <Icon name="question" />
        <span className="shoulders-Call-title" id={title}>
          {server === null
            ? trans.__('The cell is asking for input')
            : trans.__('The MCP server %1 is asking', visible(server))}
        </span>
      </header>
      {prompt.trim() !== '' && (
        <pre
          className="shoulders-Plain shoulders-StdinCard-prompt"
          // A long prompt can be scrolled by keyboard.
          tabIndex={0}
        >
          {visible(server === null ? prompt : withoutHint(prompt))}
        </pre>
      )}
      {waits ? (
        <Field input={props.input} isServer={server !== null} />
      ) : (
        <p className="shoulders-Card-remark">
          {answered === true ? trans.__('Answered') : trans.__('Not answered')}
        </p>
      )}
    </section>
  );
});

/** The MCP server whose tool asks; null for a cell. */
function useAskingServer(callId: string): string | null {
  const { conversations, tab } = useTabContext();
  const parts = (conversations.store(tab)?.view.messages ?? []).flatMap(
    message => (message.role === 'agent' ? message.parts : [])
  );
  const call = parts.find(
    part => part.type === 'call' && part.call_id === callId
  );
  return call?.type === 'call'
    ? (serverToolOf(call.tool)?.server ?? null)
    : null;
}

/** Answers that refuse a server's question, which the engine reads. */
const DECLINE = '/decline';
const CANCEL = '/cancel';

/** The prompt without its last line, for which the card has buttons. */
function withoutHint(prompt: string): string {
  return prompt.replace(/\n\/decline declines, \/cancel cancels\.$/, '');
}

function choiceName(choice: string, trans: TranslationBundle): string {
  switch (choice) {
    case 'yes':
      return trans.__('Yes');
    case 'no':
      return trans.__('No');
    default:
      return visible(choice);
  }
}

function Field(props: {
  input: StdinView;
  isServer: boolean;
}): React.JSX.Element {
  const { input, isServer } = props;
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, late, runOnce } = useAnswer();
  const [text, setText] = React.useState('');
  const label = visible(
    (isServer ? withoutHint(input.prompt) : input.prompt).trim()
  );
  const unnamed = isServer
    ? trans.__('Your answer')
    : trans.__('Input for the cell');
  const send = (answer: string): void =>
    runOnce(() =>
      conversations.commands.answerInput(tab, input.call_id, answer)
    );
  return (
    <form
      className="shoulders-StdinCard-form"
      ref={useRestoreFocus<HTMLFormElement>()}
      onSubmit={event => {
        event.preventDefault();
        send(text);
      }}
    >
      {input.choices.length > 0 ? (
        input.choices.map(choice => (
          <Button kind="primary" key={choice} onClick={() => send(choice)}>
            {choiceName(choice, trans)}
          </Button>
        ))
      ) : (
        <>
          <input
            className="shoulders-Input shoulders-StdinCard-field"
            type={input.password ? 'password' : 'text'}
            autoComplete="off"
            spellCheck={false}
            value={text}
            aria-label={label === '' ? unnamed : label}
            onChange={event => setText(event.target.value)}
          />
          <button
            type="submit"
            className="shoulders-Button shoulders-mod-primary"
          >
            {trans.__('Send')}
          </button>
        </>
      )}
      {isServer && (
        <>
          <Button onClick={() => send(DECLINE)}>{trans.__('Decline')}</Button>
          <Button onClick={() => send(CANCEL)}>{trans.__('Cancel')}</Button>
        </>
      )}
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {isServer
            ? trans.__('This question is no longer open.')
            : trans.__('The cell is no longer waiting for this input.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </form>
  );
}
