/** The form for the arguments of an MCP server's prompt. */

import * as React from 'react';

import { visible } from '../../../text/hiddenCharacters';
import type { McpPromptView } from '../../../wire/generated';
import { ErrorNote } from '../../../ui/primitives';
import { focusComposer, useAction, useTrans } from '../../../ui/hooks';
import { Sheet } from './Sheet';

type Argument = McpPromptView['arguments'][number];

export function PromptSheet(props: {
  prompt: McpPromptView;
  /** Put the prompt into the message. */
  insert: (values: Record<string, string>) => Promise<void>;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { prompt, insert, onClose } = props;
  const { busy, error, run } = useAction();
  const [values, setValues] = React.useState<Record<string, string>>({});
  const isComplete = prompt.arguments.every(
    ({ name, required }) => !required || (values[name] ?? '').trim() !== ''
  );
  const given = Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== '')
  );
  return (
    <Sheet
      icon="book"
      title={visible(`${prompt.server} · ${prompt.title ?? prompt.name}`)}
      onClose={onClose}
    >
      {prompt.description !== null && (
        <p className="shoulders-Card-remark">{visible(prompt.description)}</p>
      )}
      <form
        className="shoulders-PromptSheet"
        onSubmit={event => {
          event.preventDefault();
          run(async () => {
            await insert(given);
            onClose();
            focusComposer();
          });
        }}
      >
        {prompt.arguments.map(argument => (
          <Field
            key={argument.name}
            argument={argument}
            value={values[argument.name] ?? ''}
            onChange={value => setValues({ ...values, [argument.name]: value })}
          />
        ))}
        {error !== null && <ErrorNote error={error} />}
        <div className="shoulders-Actions">
          <button
            type="submit"
            className="shoulders-Button shoulders-mod-primary"
            disabled={busy || !isComplete}
          >
            {trans.__('Insert')}
          </button>
        </div>
      </form>
    </Sheet>
  );
}

function Field(props: {
  argument: Argument;
  value: string;
  onChange: (value: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const id = React.useId();
  const { argument, value, onChange } = props;
  const name = visible(argument.name);
  return (
    <div className="shoulders-PromptSheet-field">
      <label htmlFor={id}>
        {argument.required ? name : trans.__('%1 (optional)', name)}
      </label>
      <input
        id={id}
        className="shoulders-Input"
        autoComplete="off"
        aria-required={argument.required}
        placeholder={visible(argument.description ?? '')}
        value={value}
        onChange={event => onChange(event.target.value)}
      />
    </div>
  );
}
