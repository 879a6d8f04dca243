/** The way to the list of threads, with how many the document in front has. */

import * as React from 'react';

import { IconButton } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { useActions, usePanelState } from '../sessions/usePanelActions';
import { useThreadCount } from './useThreads';

/** More are told of as this many and more. */
const MOST = 99;

export function ThreadsButton(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { list } = usePanelState();
  const count = useThreadCount();
  return (
    <span className="shoulders-ThreadsButton">
      <IconButton
        icon="thread"
        label={
          count === 0
            ? trans.__('Threads')
            : trans._n(
                'Threads (%1 in this document)',
                'Threads (%1 in this document)',
                count
              )
        }
        pressed={list === 'threads'}
        onClick={() => actions.toggleList('threads')}
      />
      {count > 0 && (
        <span className="shoulders-ThreadsButton-count" aria-hidden="true">
          {count > MOST ? `${MOST}+` : count}
        </span>
      )}
    </span>
  );
}
