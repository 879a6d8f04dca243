/** The bar above a thread: back to the list, anchor and quote, actions. */

import * as React from 'react';

import type { Anchor, Session } from '../../wire/generated';
import { targetOf } from '../sessions/panelActions';
import { IconButton } from '../../ui/primitives';
import { useHost, useTabContext, useTrans } from '../../ui/hooks';
import { useActions } from '../sessions/usePanelActions';
import { DocumentName, Quote } from './components';
import { CertaintyTag, ResolvedTag } from './statusTags';
import { useThreadLocation } from './useThreads';
import { locationIcon, locationName } from './labels';

export function ThreadBar(): React.JSX.Element | null {
  const trans = useTrans();
  const actions = useActions();
  const { conversations, tab } = useTabContext();
  const session = conversations.session(tab);
  const anchor = conversations.anchor(tab);
  if (anchor === null) {
    return null;
  }
  return (
    <div
      className="shoulders-ThreadBar"
      role="group"
      aria-label={trans.__('Thread')}
    >
      <IconButton
        icon="caret-left"
        label={trans.__('All threads')}
        onClick={() => actions.showList('threads')}
      />
      <AnchorLink session={session} logged={anchor} />
      {session !== null && !conversations.isDeleted(tab) && (
        <Acts session={session} />
      )}
    </div>
  );
}

/** The anchor as a link, and the quote. */
function AnchorLink(props: {
  session: Session | null;
  logged: Anchor;
}): React.JSX.Element {
  const { Icon, openTarget } = useHost();
  const trans = useTrans();
  const actions = useActions();
  const { session, logged } = props;
  const place = useThreadLocation(session?.id ?? null, logged);
  const { anchor } = place;
  const where = locationName(place, trans);
  return (
    <button
      type="button"
      className="shoulders-ThreadBar-place"
      {...(openTarget === null
        ? { disabled: true }
        : { title: trans.__('Show in document') })}
      onClick={() => {
        if (session === null) {
          openTarget?.(targetOf(anchor));
        } else {
          void actions.reveal(session);
        }
      }}
    >
      <span className="shoulders-ThreadRow-line">
        <Icon name={locationIcon(anchor)} />
        {where !== null && (
          <span className="shoulders-ThreadRow-where">{where}</span>
        )}
        <DocumentName path={anchor.document} />
        <CertaintyTag certainty={anchor.certainty} />
      </span>
      <Quote anchor={anchor} />
    </button>
  );
}

function Acts({ session }: { session: Session }): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const isResolved = session.status === 'resolved';
  return (
    <>
      {isResolved && <ResolvedTag />}
      <IconButton
        icon={isResolved ? 'retry' : 'check'}
        label={isResolved ? trans.__('Reopen') : trans.__('Resolve')}
        onClick={() => void actions.resolve(session, !isResolved)}
      />
      <IconButton
        icon="delete"
        label={trans.__('Delete thread')}
        onClick={() => void actions.remove(session)}
      />
    </>
  );
}
