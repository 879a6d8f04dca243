/** The known threads with their current anchors. */

import * as React from 'react';

import type { IThreadListItem } from '../../model/view-models/threadList';
import type { IThreadLocation } from '../../host/threadLocations';
import type { Anchor, Session } from '../../wire/generated';
import {
  useHost,
  useTabContext,
  useSignalVersion,
  useEditorContext
} from '../../ui/hooks';

/** The document whose threads come first. */
export function useActiveDocument(): string | null {
  const { threads } = useHost();
  const { document } = useEditorContext();
  useSignalVersion(threads?.changed ?? null);
  return threads?.currentDocument ?? document;
}

/** The number of unresolved threads of the active document, which this reads. */
export function useThreadCount(): number {
  const { conversations } = useTabContext();
  const { threads } = conversations;
  const here = useActiveDocument();
  React.useEffect(() => {
    if (here !== null) {
      void threads.load(here);
    }
  }, [threads, here]);
  return here === null ? 0 : threads.count(here);
}

/** All threads, the latest first. */
export function useThreads(): readonly IThreadListItem[] {
  const { threads } = useTabContext().conversations;
  const { threads: places } = useHost();
  useSignalVersion(places?.changed ?? null);
  const orders = new Map<string, number>();
  const orderOf = (session: Session, anchor: Anchor): number | null => {
    if (places !== null && !orders.has(session.id)) {
      places
        .in(anchor.document)
        .forEach(({ sessionId }, index) => orders.set(sessionId, index));
    }
    return orders.get(session.id) ?? null;
  };
  return threads.all.flatMap(session => {
    const anchor = places?.of(session.id)?.anchor ?? session.anchor;
    return anchor === null
      ? []
      : [{ session, anchor, order: orderOf(session, anchor) }];
  });
}

/** The current location of a thread. */
export type ICurrentLocation = Omit<IThreadLocation, 'sessionId'>;

/** The location of a thread as this page knows it, else as logged last. */
export function useThreadLocation(
  sessionId: string | null,
  logged: Anchor
): ICurrentLocation {
  const { threads, cellsOf } = useHost();
  useSignalVersion(threads?.changed ?? null);
  const live = sessionId === null ? null : (threads?.of(sessionId) ?? null);
  if (live !== null) {
    return live;
  }
  const cell = cellsOf(logged.document).find(({ id }) => id === logged.cell_id);
  return { anchor: logged, number: cell?.number ?? null, line: null };
}
