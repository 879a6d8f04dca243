/** Keeps the rows of the history where they are while the user is in one of them. */

import * as React from 'react';

import type { Session } from '../../wire/generated';
import { focused } from '../../ui/focus';

/** When conversations were changed, as it was when the user came: their places. */
export type Moments = ReadonlyMap<string, string>;

/** What goes on elsewhere moves no row from under the focus, its open menu or a title being written. */
export function useStableOrder(sessions: readonly Session[]): {
  /** Null while the order may change. */
  moments: Moments | null;
  onFocus: () => void;
  onBlur: (event: React.FocusEvent) => void;
} {
  const [moments, setMoments] = React.useState<Moments | null>(null);
  return {
    moments,
    onFocus: () =>
      setMoments(
        held =>
          held ??
          new Map(sessions.map(({ id, updated_at }) => [id, updated_at]))
      ),
    onBlur: ({ currentTarget, relatedTarget }) => {
      if (
        !currentTarget.contains(relatedTarget) &&
        !currentTarget.contains(focused()) // Stays when the whole window loses the focus.
      ) {
        setMoments(null);
      }
    }
  };
}
