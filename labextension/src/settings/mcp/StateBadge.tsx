/** The state of an MCP server in a word, and where its entry is written. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import type { McpServerView } from '../../wire/generated';
import type { ServerState } from './serverState';

export function StateBadge(props: { state: ServerState }): React.JSX.Element {
  const trans = useTrans();
  switch (props.state) {
    case 'running':
      return <Badge kind="good">{trans.__('running')}</Badge>;
    case 'starting':
      return <Badge>{trans.__('starting…')}</Badge>;
    case 'idle':
      return (
        <Badge title={trans.__('Starts when the agent first needs it.')}>
          {trans.__('not started')}
        </Badge>
      );
    case 'failed':
      return <Badge kind="bad">{trans.__('failed')}</Badge>;
    case 'review':
      return <Badge kind="warning">{trans.__('waiting for you')}</Badge>;
    case 'restarting':
      return (
        <Badge
          kind="warning"
          title={trans.__('It ended by itself and starts again soon.')}
        >
          {trans.__('restarting…')}
        </Badge>
      );
    case 'forbidden':
      return (
        <Badge
          title={trans.__(
            'Your administrator does not allow servers that come with a folder.'
          )}
        >
          {trans.__('forbidden')}
        </Badge>
      );
    case 'declined':
      return <Badge>{trans.__('not allowed')}</Badge>;
    case 'missing_value':
      return <Badge kind="warning">{trans.__('needs a value')}</Badge>;
    case 'sign_in':
      return <Badge kind="warning">{trans.__('needs sign-in')}</Badge>;
    case 'disabled':
      return <Badge>{trans.__('disabled')}</Badge>;
  }
}

export function sourceName(
  source: McpServerView['source'],
  trans: TranslationBundle
): string {
  switch (source) {
    case 'workspace':
      return trans.__('this folder');
    case 'user':
      return trans.__('yours');
    case 'administrator':
      return trans.__('administrator');
  }
}
