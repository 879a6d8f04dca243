/** A form for the result of a call that the user supplies, because the conversation's tools do not run. */

import * as React from 'react';

import { callTitle } from '../../model/view-models/toolOwners';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { CallView } from '../../wire/generated';
import { Arguments } from './CallDetail';
import { CallHead } from './CallRow';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAnswer,
  useRestoreFocus,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function ToolResultForm({
  call
}: {
  call: CallView;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, late, runOnce } = useAnswer();
  const [content, setContent] = React.useState('');
  const title = React.useId();
  const supply = (ok: boolean): void => {
    const body = { content, ok };
    runOnce(() => conversations.commands.supplyResult(tab, call.call_id, body));
  };
  return (
    <section
      className="shoulders-Card shoulders-ToolResultForm"
      aria-labelledby={title}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <CallHead call={call} id={title} />
      <Arguments values={call.arguments ?? {}} />
      <p className="shoulders-Card-remark">
        {trans.__('Tools do not run in this conversation. Enter the result.')}
      </p>
      <textarea
        className="shoulders-Input shoulders-ToolResultForm-field"
        rows={3}
        value={content}
        placeholder={trans.__('Result')}
        aria-label={trans.__(
          'Result of %1',
          visible(serverText(trans, callTitle(call)))
        )}
        onChange={event => setContent(event.target.value)}
      />
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => supply(true)}>
          {trans.__('Send result')}
        </Button>
        <Button onClick={() => supply(false)}>
          {trans.__('Send as error')}
        </Button>
      </div>
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {trans.__('This call already has a result.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}
