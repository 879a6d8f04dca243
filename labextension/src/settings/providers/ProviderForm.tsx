/** Fields of a provider: name, address, API, models, and request options. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Disclosure } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { Line, TextLine } from '../components/FormLine';
import { ModelChecklist } from './ModelChecklist';
import type { ApiKind, IProviderForm } from './providerRequest';

/** The APIs to choose from, with their names. */
export function kindsOf(
  trans: TranslationBundle
): readonly [ApiKind, string][] {
  return [
    ['openai_chat', trans.__('OpenAI-compatible (Chat Completions)')],
    ['openai_responses', trans.__('OpenAI Responses')],
    ['anthropic', trans.__('Anthropic Messages')],
    ['google', trans.__('Google Gemini')],
    ['ollama', trans.__('Ollama')]
  ];
}

export function ProviderFields(props: {
  form: IProviderForm;
  /** Models that can be ticked. */
  offered: readonly string[];
  /** Placeholder of the key field; null when the key is known. */
  keyNote: string | null;
  onChange: (change: Partial<IProviderForm>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { form, offered, keyNote, onChange } = props;
  return (
    <>
      <TextLine
        label={trans.__('Name')}
        value={form.name}
        onChange={name => onChange({ name })}
      />
      <TextLine
        label={trans.__('Address')}
        value={form.url}
        onChange={url => onChange({ url })}
      />
      {keyNote !== null && (
        <TextLine
          label={trans.__('Key')}
          secret={true}
          placeholder={keyNote}
          value={form.key}
          onChange={key => onChange({ key })}
        />
      )}
      <ModelChecklist
        offered={[...new Set([...offered, ...form.models])]}
        form={form}
        onChange={onChange}
      />
      <Disclosure
        className="shoulders-ProviderForm-more"
        summary={trans.__('More options')}
      >
        {() => <RequestFields form={form} onChange={onChange} />}
      </Disclosure>
    </>
  );
}

/** How the service is called. */
export function RequestFields(props: {
  form: Pick<IProviderForm, 'auth' | 'headers'> & { kind: ApiKind | '' };
  onChange: (change: Partial<IProviderForm>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { form, onChange } = props;
  return (
    <>
      <Line label={trans.__('API')}>
        {id => (
          <select
            id={id}
            className="shoulders-Input"
            value={form.kind}
            onChange={
              event => onChange({ kind: event.target.value as ApiKind }) // Its options are these.
            }
          >
            {form.kind === '' && <option value="">{trans.__('Detect')}</option>}
            {kindsOf(trans).map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Line>
      <TextLine
        label={trans.__('Key header')}
        placeholder={trans.__('The default of the API')}
        value={form.auth}
        onChange={auth => onChange({ auth })}
      />
      <Line label={trans.__('Headers')}>
        {id => (
          <textarea
            id={id}
            className="shoulders-Input"
            rows={2}
            spellCheck={false}
            placeholder={trans.__('Name: value')}
            value={form.headers}
            onChange={event => onChange({ headers: event.target.value })}
          />
        )}
      </Line>
    </>
  );
}
