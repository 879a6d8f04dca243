/** The line that reports a restore, and what the kernel still holds. */

import * as React from 'react';

import {
  documentLines,
  driftLine,
  hasKernelState,
  restoreTitle
} from '../../model/view-models/restoreSummary';
import { visible } from '../../text/hiddenCharacters';
import type { RestoreView } from '../../wire/generated';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import { useAction, useHost, useTabContext, useTrans } from '../../ui/hooks';

export const RestoreLine = React.memo(function RestoreLine(props: {
  restore: RestoreView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { restore } = props;
  return (
    <div className="shoulders-Restore">
      <Disclosure
        className="shoulders-Call"
        summary={
          <>
            <Icon name="history" />
            <span className="shoulders-Call-title">
              {restoreTitle(restore, trans)}
            </span>
          </>
        }
      >
        {() => <Details restore={restore} />}
      </Disclosure>
      {restore.drift.map(drift => {
        const text = driftLine(drift, trans);
        return text === '' ? null : (
          <div
            className="shoulders-Remark shoulders-mod-info"
            key={drift.document}
          >
            <Icon name="info" />
            <span>{text}</span>
            {hasKernelState(drift) && <RestartKernel path={drift.document} />}
          </div>
        );
      })}
    </div>
  );
});

function Details(props: { restore: RestoreView }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const { documents, seq } = props.restore;
  const takeBack = async (): Promise<void> =>
    conversations.commands.restore(tab, {
      seq,
      what: ['notebook', 'files'],
      id: null
    });
  return (
    <div className="shoulders-Restore-details">
      {documents.map(document => (
        <React.Fragment key={document.document}>
          <div className="shoulders-Restore-document">
            {visible(document.document)}
          </div>
          <ul>
            {documentLines(document, trans).map(line => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </React.Fragment>
      ))}
      {error !== null && <ErrorNote error={error} />}
      {documents.length > 0 && (
        <Button disabled={busy} onClick={() => run(takeBack)}>
          {trans.__('Undo this restore')}
        </Button>
      )}
    </div>
  );
}

/** Nothing restarts by itself; JupyterLab asks again. */
function RestartKernel({ path }: { path: string }): React.JSX.Element | null {
  const { restartKernel } = useHost();
  const trans = useTrans();
  return restartKernel === null ? null : (
    <Button onClick={() => restartKernel(path)}>
      {trans.__('Restart kernel…')}
    </Button>
  );
}
