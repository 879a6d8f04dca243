/** The forms that add MCP servers, from a pasted text, and change one. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { InvalidNote, Row, Switch } from '../components/fields';
import { Line, TextLine } from '../components/FormLine';
import { useStore } from '../components/hooks';
import type { McpServerView } from '../../wire/generated';
import { entriesIn, type INamedEntry } from './serverEntry';
import {
  bodyOf,
  changeOf,
  entryOf,
  formOf,
  formOfServer,
  NO_SERVER,
  problemOf,
  type IServerForm
} from './serverRequest';

/** What people type, in no language. */
const EXAMPLES = {
  command: 'npx -y @modelcontextprotocol/server-everything',
  header: 'Authorization: Bearer ${TOKEN}',
  variable: 'TOKEN=${TOKEN}'
};

export function AddServer(props: {
  /** Names in use. */
  taken: readonly string[];
}): React.JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    requestAnimationFrame(() =>
      place.current?.querySelector('button')?.focus()
    );
  };
  return (
    <div ref={place} className="shoulders-AddProvider">
      {open ? (
        <Adding taken={props.taken} onDone={close} />
      ) : (
        <Button kind="primary" onClick={() => setOpen(true)}>
          {trans.__('Add server…')}
        </Button>
      )}
    </div>
  );
}

/** The servers that a text describes, and the fields of the only one. */
function useNewServers(taken: readonly string[]): {
  text: string;
  type: (typed: string) => void;
  form: IServerForm;
  change: (part: Partial<IServerForm>) => void;
  /** What the text describes. */
  found: readonly INamedEntry[];
  /** What will be added. */
  given: readonly INamedEntry[];
  problem: string;
} {
  const trans = useTrans();
  const [text, setText] = React.useState('');
  const [form, setForm] = React.useState<IServerForm>(NO_SERVER);
  const found = entriesIn(text);
  const [first] = found;
  const isOne = found.length === 1 && first !== undefined;
  const given = isOne
    ? [{ name: form.name.trim(), entry: entryOf(form, first.entry) }]
    : found;
  const isUnread = text.trim() !== '' && found.length === 0;
  return {
    text,
    type: typed => {
      const [next] = entriesIn(typed);
      setText(typed);
      setForm(next === undefined ? NO_SERVER : formOf(next));
    },
    form,
    change: part => setForm({ ...form, ...part }),
    found,
    given,
    problem: isUnread
      ? trans.__(
          'Enter a command, an address that starts with http, or the JSON entry of a client.'
        )
      : problemOf(given, isOne ? form : null, taken, trans)
  };
}

function Adding(props: {
  taken: readonly string[];
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const title = React.useId();
  const { busy, error, run } = useAction();
  const servers = useNewServers(props.taken);
  const { given, problem } = servers;
  const add = async (): Promise<void> => {
    for (const { name, entry } of given) {
      await mcp.change(mcp.api.put(name, bodyOf(entry)));
    }
    props.onDone();
  };
  return (
    <section
      className="shoulders-Provider"
      aria-labelledby={title}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          props.onDone();
        }
      }}
    >
      <h3 id={title}>{trans.__('Add server')}</h3>
      <form
        className="shoulders-ProviderForm"
        onSubmit={event => {
          event.preventDefault();
          run(add);
        }}
      >
        <Pasted text={servers.text} onText={servers.type} />
        <Found {...servers} />
        {problem !== '' && <InvalidNote>{problem}</InvalidNote>}
        {error !== null && <ErrorNote error={error} />}
        <FormButtons
          label={busy ? trans.__('Adding…') : trans.__('Add')}
          disabled={busy || given.length === 0 || problem !== ''}
          onCancel={props.onDone}
        />
      </form>
    </section>
  );
}

/** The fields of one server, or the names of several. */
function Found(props: {
  found: readonly INamedEntry[];
  form: IServerForm;
  change: (part: Partial<IServerForm>) => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { found, form, change } = props;
  if (found.length === 1) {
    return <ServerFields form={form} known={null} onChange={change} />;
  }
  return found.length === 0 ? null : (
    <p role="status">
      {trans.__('Adds: %1', found.map(({ name }) => visible(name)).join(', '))}
    </p>
  );
}

function Pasted(props: {
  text: string;
  onText: (text: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <Line label={trans.__('Command, address, or JSON entry')}>
      {id => (
        <textarea
          id={id}
          className="shoulders-Input shoulders-McpServer-text"
          rows={Math.min(Math.max(props.text.split('\n').length, 2), 8)}
          // The user opened the form to fill it in.
          autoFocus
          spellCheck={false}
          autoComplete="off"
          placeholder={EXAMPLES.command}
          value={props.text}
          onChange={event => props.onText(event.target.value)}
        />
      )}
    </Line>
  );
}

/** Fields of one server; values in `${…}` are asked for and kept like keys. */
function ServerFields(props: {
  form: IServerForm;
  /** Names of the variables or headers it has; null for a new server. */
  known: readonly string[] | null;
  onChange: (part: Partial<IServerForm>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { form, known, onChange } = props;
  const { isRemote, pairs } = form;
  return (
    <>
      {known === null && (
        <TextLine
          label={trans.__('Name')}
          value={form.name}
          onChange={name => onChange({ name })}
        />
      )}
      <Disclosure
        className="shoulders-ProviderForm-more"
        summary={
          isRemote ? trans.__('Headers') : trans.__('Environment and folder')
        }
        startsOpen={pairs !== ''}
      >
        {() => (
          <>
            <Pairs form={form} known={known ?? []} onChange={onChange} />
            {!isRemote && (
              <TextLine
                label={trans.__('Working folder')}
                placeholder={trans.__('The workspace')}
                value={form.cwd}
                onChange={cwd => onChange({ cwd })}
              />
            )}
          </>
        )}
      </Disclosure>
      <Row
        label={trans.__('May ask for your model')}
        note={trans.__(
          'You see and allow each text first; it costs like your own use.'
        )}
        control={(id, describedBy) => (
          <Switch
            id={id}
            describedBy={describedBy}
            on={form.sampling}
            onChange={sampling => onChange({ sampling })}
          />
        )}
      />
    </>
  );
}

/** Environment variables or headers, one on each line. */
function Pairs(props: {
  form: IServerForm;
  known: readonly string[];
  onChange: (part: Partial<IServerForm>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { form, known, onChange } = props;
  const { isRemote, pairs } = form;
  return (
    <>
      <Line
        label={
          isRemote ? trans.__('Headers') : trans.__('Environment variables')
        }
      >
        {id => (
          <textarea
            id={id}
            className="shoulders-Input shoulders-McpServer-text"
            rows={2}
            spellCheck={false}
            placeholder={isRemote ? EXAMPLES.header : EXAMPLES.variable}
            value={pairs}
            onChange={event => onChange({ pairs: event.target.value })}
          />
        )}
      </Line>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Write secrets as ${NAME}: you are asked for the value, and it is kept like a key.'
        )}{' '}
        {known.length > 0 &&
          trans.__(
            'Leave it empty to keep %1; lines written here replace them.',
            visible(known.join(', '))
          )}
      </p>
    </>
  );
}

function FormButtons(props: {
  label: string;
  disabled: boolean;
  onCancel: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="shoulders-Actions">
      <button
        type="submit"
        className="shoulders-Button shoulders-mod-primary"
        disabled={props.disabled}
      >
        {props.label}
      </button>
      <Button onClick={props.onCancel}>{trans.__('Cancel')}</Button>
    </div>
  );
}

/** Changes an entry of the user's file. */
export function EditServer(props: {
  server: McpServerView;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { server, onDone } = props;
  const { environment_names, header_names } = server;
  const { busy, error, run } = useAction();
  const [form, setForm] = React.useState(() => formOfServer(server));
  const [found] = entriesIn(form.target);
  const problem = problemOf([], form, [], trans);
  const save = async (): Promise<void> => {
    if (found !== undefined) {
      await mcp.change(mcp.api.put(server.name, changeOf(form, found.entry)));
    }
    onDone();
  };
  return (
    <form
      className="shoulders-ProviderForm"
      onSubmit={event => {
        event.preventDefault();
        run(save);
      }}
    >
      <TextLine
        label={form.isRemote ? trans.__('Address') : trans.__('Command')}
        value={form.target}
        onChange={target => setForm({ ...form, target })}
      />
      <ServerFields
        form={form}
        known={form.isRemote ? header_names : environment_names}
        onChange={part => setForm({ ...form, ...part })}
      />
      {problem !== '' && <InvalidNote>{problem}</InvalidNote>}
      {error !== null && <ErrorNote error={error} />}
      <FormButtons
        label={busy ? trans.__('Saving…') : trans.__('Save')}
        disabled={busy || found === undefined || problem !== ''}
        onCancel={onDone}
      />
    </form>
  );
}
