/** Data of the server that is requested again: the last answer stays until there is a newer one. */

import * as React from 'react';

import { infoOf } from '../client/http';
import type { IServerAnswer } from '../ui/useServerAnswer';

/** Requests when the view is shown, and when `key` changes. */
export function useRenewedAnswer<T>(
  key: string,
  ask: () => Promise<T>
): IServerAnswer<T> {
  const [state, setState] = React.useState<IServerAnswer<T>>({
    answer: null,
    error: null
  });
  const latest = React.useRef(ask);
  React.useLayoutEffect(() => {
    latest.current = ask;
  });
  React.useEffect(() => {
    let gone = false;
    const settle = (
      next: (last: IServerAnswer<T>) => IServerAnswer<T>
    ): void => {
      if (!gone) {
        setState(next);
      }
    };
    latest.current().then(
      answer => settle(() => ({ answer, error: null })),
      (error: unknown) =>
        settle(({ answer }) => ({ answer, error: infoOf(error) }))
    );
    return () => {
      gone = true;
    };
  }, [key]);
  return state;
}
