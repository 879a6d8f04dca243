/** The result of a test call. Used beside keys and providers. */

import * as React from 'react';

import { Badge, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { formatDuration } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import type { ProviderTest } from '../../wire/generated';

/** The result, announced by screen readers. */
export function TestResult(props: {
  /** Of the provider. */
  name: string;
  result: ProviderTest | null;
  children?: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <div role="status" aria-label={trans.__('Test of %1', props.name)}>
      {props.result !== null && <Result result={props.result} />}
      {props.children}
    </div>
  );
}

function Result({ result }: { result: ProviderTest }): React.JSX.Element {
  const trans = useTrans();
  const mark = (ok: boolean): string =>
    ok ? trans.__('works') : trans.__('broken');
  const facts = [
    visible(result.model ?? ''),
    trans.__('streaming: %1', mark(result.stream_ok)),
    trans.__('tool calls: %1', mark(result.tool_call_ok)),
    result.first_delta_ms === null
      ? ''
      : trans.__('first words after %1', formatDuration(result.first_delta_ms)),
    trans.__('%1 in total', formatDuration(result.duration_ms))
  ].filter(fact => fact !== '');
  return (
    <>
      {result.error !== null && <ErrorNote error={result.error} />}
      {result.model !== null && (
        <p className="shoulders-Provider-result">
          {result.ok && <Badge kind="good">{trans.__('passed')}</Badge>}
          <span>{facts.join(' · ')}</span>
        </p>
      )}
    </>
  );
}
