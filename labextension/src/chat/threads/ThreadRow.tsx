/** One thread in the list. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatMoment } from '../../text/numberFormat';
import type { Anchor, Session } from '../../wire/generated';
import { titleOf, type PanelActions } from '../sessions/panelActions';
import type { IMenuItem } from '../../ui/Menu';
import { SessionRow } from '../sessions/SessionRow';
import { useHost, useTrans } from '../../ui/hooks';
import { useActions } from '../sessions/usePanelActions';
import { DocumentName, Quote } from './components';
import { CertaintyTag, ResolvedTag } from './statusTags';
import { useThreadLocation } from './useThreads';
import { locationIcon, locationName } from './labels';
import { nameOfStatus } from '../sessions/itemLabels';

interface IThreadRow {
  readonly session: Session;
  readonly anchor: Anchor;
  /** Whether the heading names its document. */
  readonly isInActiveDocument: boolean;
}

export function ThreadRow(props: IThreadRow): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { session } = props;
  const isResolved = session.status === 'resolved';
  return (
    <SessionRow
      session={session}
      className={`shoulders-ThreadRow ${isResolved ? 'shoulders-mod-resolved' : ''}`}
      items={rename => itemsOf(session, actions, trans, rename)}
    >
      <span className="shoulders-ThreadRow-line">
        <ThreadStatusDot status={session.status} />
        <span className="shoulders-ThreadRow-title">
          {titleOf(session, trans)}
        </span>
        <span className="shoulders-ThreadRow-quiet">
          {formatMoment(session.updated_at)}
        </span>
      </span>
      <ThreadLocation {...props} />
    </SessionRow>
  );
}

/** Document, cell and quote. */
function ThreadLocation({
  session,
  anchor: logged,
  isInActiveDocument
}: IThreadRow) {
  const { Icon } = useHost();
  const trans = useTrans();
  const place = useThreadLocation(session.id, logged);
  const { anchor } = place;
  const where = locationName(place, trans);
  return (
    <span className="shoulders-ThreadRow-line shoulders-ThreadRow-quiet">
      <Icon name={locationIcon(anchor)} />
      {(!isInActiveDocument || where === null) && (
        <DocumentName path={anchor.document} />
      )}
      {where !== null && (
        <span className="shoulders-ThreadRow-where">{where}</span>
      )}
      <Quote anchor={anchor} />
      {session.status === 'resolved' ? (
        <ResolvedTag />
      ) : (
        <CertaintyTag certainty={anchor.certainty} />
      )}
    </span>
  );
}

/** Menu items of a thread. */
function itemsOf(
  session: Session,
  actions: PanelActions,
  trans: TranslationBundle,
  rename: () => void
): readonly IMenuItem[] {
  const isResolved = session.status === 'resolved';
  return [
    {
      key: 'reveal',
      title: trans.__('Show in document'),
      act: () => void actions.reveal(session)
    },
    {
      key: 'resolve',
      title: isResolved ? trans.__('Reopen') : trans.__('Resolve'),
      act: () => void actions.resolve(session, !isResolved)
    },
    { key: 'rename', title: trans.__('Rename'), act: rename },
    {
      key: 'delete',
      title: trans.__('Delete'),
      danger: true,
      act: () => void actions.remove(session)
    }
  ];
}

function ThreadStatusDot(props: {
  status: Session['status'];
}): React.JSX.Element {
  const trans = useTrans();
  const name = nameOfStatus(props.status, trans);
  return (
    <span
      className={`shoulders-ThreadStatusDot shoulders-mod-${props.status}`}
      role="img"
      aria-label={name}
      title={name}
    />
  );
}
