/** Data requested when a view is shown, or the error. */

import * as React from 'react';

import { infoOf } from '../client/http';
import type { ErrorInfo } from '../wire/generated';

export interface IServerAnswer<T> {
  readonly answer: T | null;
  readonly error: ErrorInfo | null;
}

const PENDING = { answer: null, error: null };

/** Requests when the view is shown, and when `key` changes. */
export function useServerAnswer<T>(
  key: string,
  ask: () => Promise<T>
): IServerAnswer<T> {
  const [state, setState] = React.useState<
    (IServerAnswer<T> & { key: string }) | null
  >(null);
  const latest = React.useRef(ask);
  React.useLayoutEffect(() => {
    latest.current = ask;
  });
  React.useEffect(() => {
    let gone = false;
    const settle = (next: IServerAnswer<T>): void => {
      if (!gone) {
        setState({ ...next, key });
      }
    };
    latest.current().then(
      answer => settle({ answer, error: null }),
      (error: unknown) => settle({ answer: null, error: infoOf(error) })
    );
    return () => {
      gone = true;
    };
  }, [key]);
  return state?.key === key ? state : PENDING;
}
