/** What the quick-pick says beside its results: a hint, a warning, or why there are none. */

import * as React from 'react';

import { groupCounts } from '../text/numberFormat';
import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import { useTrans, useView } from '../ui/hooks';
import { Button, ErrorNote } from '../ui/primitives';
import { isBlank, type ISearchState } from './searchState';

export function SearchMessage(props: {
  state: ISearchState;
  openSettings: () => void;
  retry: () => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { answer, failure, matches, query } = props.state;
  if (failure?.code === 'disabled') {
    return (
      <Note>
        {trans.__('Search in the workspace is switched off.')}{' '}
        <button
          type="button"
          className="shoulders-Link"
          onClick={props.openSettings}
        >
          {trans.__('Open the search settings')}
        </button>
      </Note>
    );
  }
  if (failure !== null) {
    return (
      <div className="shoulders-Search-failure">
        <ErrorNote error={failure}>
          <Button onClick={props.retry}>{trans.__('Try again')}</Button>
        </ErrorNote>
      </div>
    );
  }
  if (isBlank(query)) {
    return (
      <Note>
        {trans.__(
          'Type words from a cell, its output, a file or a document. The beginning of the last word is enough.'
        )}
      </Note>
    );
  }
  const warning = answer?.results.warning ?? null;
  return (
    <>
      {warning !== null && <Warning text={warning} />}
      {answer !== null && matches.length === 0 && (
        <Note>
          {trans.__('Nothing found. Try fewer or other words.')}{' '}
          <button
            type="button"
            className="shoulders-Link"
            onClick={props.openSettings}
          >
            {trans.__('What is searched')}
          </button>
        </Note>
      )}
    </>
  );
}

function Note(props: { children: React.ReactNode }): React.JSX.Element {
  return <div className="shoulders-Search-note">{props.children}</div>;
}

/** What the answer lacks. */
function Warning({ text }: { text: string }): React.JSX.Element {
  const trans = useTrans();
  const { Icon } = useView();
  return (
    <div className="shoulders-Search-note shoulders-mod-warning">
      <Icon name="error" />
      <span>{visible(groupCounts(serverText(trans, text)))}</span>
    </div>
  );
}
