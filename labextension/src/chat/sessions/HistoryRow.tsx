/** One conversation in the history. */

import * as React from 'react';

import { formatMoment } from '../../text/numberFormat';
import type { Session } from '../../wire/generated';
import { titleOf } from './panelActions';
import { nameOfKind } from './itemLabels';
import { sessionItems } from './menuItems';
import { SessionRow } from './SessionRow';
import { StatusDot } from './StatusDot';
import { useTabContext, useTrans } from '../../ui/hooks';
import { useActions } from './usePanelActions';

export function HistoryRow({
  session
}: {
  session: Session;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  return (
    <SessionRow
      session={session}
      items={rename => sessionItems(session, actions, trans, rename)}
    >
      <StatusDot status={session.status} />
      <span className="shoulders-History-title">{titleOf(session, trans)}</span>
      {conversations.hasUnsent(session.id) && (
        <span className="shoulders-History-kind">{trans.__('Draft')}</span>
      )}
      {session.kind !== 'chat' && (
        <span className="shoulders-History-kind">
          {nameOfKind(session.kind, trans)}
        </span>
      )}
      <span className="shoulders-History-moment">
        {formatMoment(session.updated_at)}
      </span>
    </SessionRow>
  );
}
