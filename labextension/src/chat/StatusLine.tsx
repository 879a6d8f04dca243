/** Activity, progress and stop button of a running turn. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatElapsed } from '../text/numberFormat';
import {
  activityOf,
  targetOf,
  type Activity
} from '../model/view-models/conversationItems';
import { callTitle } from '../model/view-models/toolOwners';
import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import type { Conversation } from '../wire/generated';
import { IconButton } from '../ui/primitives';
import { useLeadingClient, useNow, useTrans } from '../ui/hooks';

/** Activities that wait for the user. */
const WAITS = new Set<Activity['kind']>([
  'approval',
  'question',
  'pause',
  'results'
]);

/** From this limit on, a turn has none: another program leads it. */
const UNLIMITED = 1_000_000;

export function StatusLine(props: {
  view: Conversation;
  onStop: () => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { turn } = props.view;
  const client = useLeadingClient();
  const now = useNow(true);
  if (turn === null) {
    return null;
  }
  const activity = activityOf(props.view);
  const text =
    client && activity.kind === 'asking'
      ? trans.__('Waiting for %1…', visible(client))
      : describe(activity, trans);
  const elapsed = formatElapsed(now - Date.parse(turn.started_at));
  return (
    <div className={`shoulders-Status shoulders-mod-${activity.kind}`}>
      {!WAITS.has(activity.kind) && <span className="shoulders-Pulse" />}
      <span className="shoulders-Status-text" title={text}>
        {text}
      </span>
      <span className="shoulders-Status-facts">
        {turn.step > 0 && turn.step_limit < UNLIMITED && (
          <span className="shoulders-Status-step">
            {trans.__('Step %1/%2', turn.step, turn.step_limit)} ·{' '}
          </span>
        )}
        {elapsed}
      </span>
      <IconButton
        icon="stop"
        label={trans.__('Stop (Esc)')}
        onClick={props.onStop}
      />
    </div>
  );
}

function describe(activity: Activity, trans: TranslationBundle): string {
  switch (activity.kind) {
    case 'approval':
      return trans.__('Waiting for your approval');
    case 'question':
      return trans.__('Waiting for your answer');
    case 'pause':
      return trans.__('Paused at a limit');
    case 'results':
      return trans.__('Waiting for results from you');
    case 'thinking':
      return trans.__('Thinking…');
    case 'writing':
      return trans.__('Writing…');
    case 'asking':
      return trans.__('Waiting for the model…');
    case 'tool': {
      const title = callTitle(activity.call);
      const shown = serverText(trans, title);
      const target = targetOf(activity.call);
      return target === '' || title.includes(target)
        ? visible(shown)
        : visible(`${shown} · ${target}`);
    }
    case 'retry': // The conversation shows the reason and the countdown.
      return trans.__('Waiting to try again…');
  }
}
