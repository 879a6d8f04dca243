/** The exact input and output of a tool call, shown when its line is expanded. */

import * as React from 'react';

import { languageOf } from '../../model/view-models/approvals';
import { formatDuration } from '../../text/numberFormat';
import { editOf, picturesOf } from '../../model/view-models/conversationItems';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { CallView, Json } from '../../wire/generated';
import { Code } from '../../ui/viewers/CodeBlock';
import { Diff } from '../../ui/viewers/Diff';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import { TerminalText } from '../../ui/viewers/TerminalText';
import { useHost, useTrans } from '../../ui/hooks';
import { outputsOf } from '../../model/view-models/sandboxedHtml';
import { SandboxedPage } from '../../ui/viewers/SandboxedPage';

/** Shorter durations are not shown, in ms. */
const MIN_DURATION = 1000;

/** Arguments that the difference shows already. */
const EDITED = new Set(['source', 'content', 'old_string', 'new_string']);
const NONE = new Set<string>();

export function CallDetail({ call }: { call: CallView }): React.JSX.Element {
  const trans = useTrans();
  const edit = editOf(call);
  return (
    <div className="shoulders-CallDetail">
      <h4>{trans.__('Input')}</h4>
      <Input call={call} shown={edit === null ? NONE : EDITED} />
      {edit !== null && <Diff before={edit.before} after={edit.after} />}
      {call.answer !== null && <Answer answer={call.answer} />}
      <Output call={call} />
    </div>
  );
}

/** The arguments; those in the difference are collapsed. */
function Input(props: {
  call: CallView;
  shown: ReadonlySet<string>;
}): React.JSX.Element {
  const trans = useTrans();
  const { call, shown } = props;
  const values = call.arguments;
  if (values === null) {
    return (
      <>
        <pre className="shoulders-Plain" tabIndex={0}>
          {visible(call.raw ?? '')}
        </pre>
        {call.invalid !== null && (
          <p>{visible(serverText(trans, call.invalid))}</p>
        )}
      </>
    );
  }
  const others = Object.entries(values).filter(([name]) => !shown.has(name));
  return (
    <>
      <Arguments values={Object.fromEntries(others)} all={values} />
      {others.length < Object.keys(values).length && (
        <Disclosure
          className="shoulders-Approval-arguments"
          summary={trans.__('Exact arguments')}
        >
          {() => <Arguments values={values} />}
        </Disclosure>
      )}
    </>
  );
}

type Values = Record<string, Json>;

/** Arguments by name, with highlighted code. */
export function Arguments(props: {
  values: Values;
  /** All arguments of the call, if `values` is a part of them. */
  all?: Values;
}): React.JSX.Element {
  const { values, all = values } = props;
  return (
    <dl className="shoulders-Arguments">
      {Object.entries(values).map(([name, value]) => (
        <React.Fragment key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <Value name={name} value={value} all={all} />
          </dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

function Value(props: {
  name: string;
  value: Json;
  all: Values;
}): React.JSX.Element {
  const { openDocument } = useHost();
  const { name, value, all } = props;
  if (typeof value !== 'string') {
    return (
      <span className="shoulders-Arguments-value">
        {visible(JSON.stringify(value, null, 1))}
      </span>
    );
  }
  const language = languageOf(name, all);
  if (language !== null) {
    return <Code code={visible(value)} language={language} />;
  }
  const cell = all.cell_id;
  return name === 'path' &&
    value.endsWith('.ipynb') &&
    openDocument !== null ? (
    <button
      type="button"
      className="shoulders-Link shoulders-Arguments-value"
      onClick={() =>
        openDocument(value, typeof cell === 'string' ? cell : null)
      }
    >
      {visible(value)}
    </button>
  ) : (
    <span className="shoulders-Arguments-value">{visible(value)}</span>
  );
}

function Answer(props: {
  answer: NonNullable<CallView['answer']>;
}): React.JSX.Element {
  const trans = useTrans();
  const { decision, feedback, by } = props.answer;
  const said =
    decision === 'allow'
      ? by === 'user'
        ? trans.__('You allowed this.')
        : trans.__('A rule allowed this.')
      : by === 'user'
        ? trans.__('You denied this.')
        : trans.__('A rule denied this.');
  return (
    <p className="shoulders-CallDetail-answer">
      {said} {visible(feedback ?? '')}
    </p>
  );
}

function Output({ call }: { call: CallView }): React.JSX.Element | null {
  const trans = useTrans();
  const { result, content, progress } = call;
  if (result === null && progress.length === 0) {
    return null;
  }
  return (
    <>
      <OutputHead ms={call.duration_ms ?? 0} />
      {result === null || call.state === 'running'
        ? progress.map((piece, index) => (
            <TerminalText key={index} text={piece.text} />
          ))
        : content.map((part, index) =>
            part.type === 'text' ? (
              <TerminalText key={index} text={part.text} />
            ) : null
          )}
      {picturesOf(call).map((source, index) => (
        <Picture key={index} source={source} />
      ))}
      <CallOutputs call={call} />
      <DatabaseLink call={call} />
      {result?.error && <ErrorNote error={result.error} />}
      {result?.warning && <p>{visible(serverText(trans, result.warning))}</p>}
    </>
  );
}

/** The way from a call that used the agent's database to its tables. */
function DatabaseLink({ call }: { call: CallView }): React.JSX.Element | null {
  const trans = useTrans();
  const { openDatabase } = useHost();
  if (openDatabase === null || !/^db_(schema|query|execute)$/.test(call.tool)) {
    return null;
  }
  return <Button onClick={openDatabase}>{trans.__('Open as table')}</Button>;
}

function OutputHead({ ms }: { ms: number }): React.JSX.Element {
  const trans = useTrans();
  return (
    <h4>
      {ms < MIN_DURATION
        ? trans.__('Output')
        : trans.__('Output after %1', formatDuration(ms))}
    </h4>
  );
}

function Picture({ source }: { source: string }): React.JSX.Element {
  const trans = useTrans();
  return (
    <img
      className="shoulders-CallDetail-image"
      src={source}
      alt={trans.__('Output of the call')}
    />
  );
}

function CallOutputs(props: { call: CallView }): React.JSX.Element | null {
  const trans = useTrans();
  const outputs = outputsOf(props.call);
  return outputs.length === 0 ? null : (
    <Disclosure
      className="shoulders-Approval-arguments"
      summary={trans.__('As in the notebook')}
    >
      {() =>
        outputs.map((output, index) =>
          output.kind === 'page' ? (
            <SandboxedPage
              key={index}
              html={output.html}
              title={trans.__('Output')}
            />
          ) : (
            <TerminalText key={index} text={output.text} />
          )
        )
      }
    </Disclosure>
  );
}
