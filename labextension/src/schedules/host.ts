/** What the page of schedules needs from its surroundings. Implemented by the schedules plugin, faked in tests. */

import * as React from 'react';

import type { IViewHost } from '../ui/hooks';
import type { SchedulesStore } from './api';

export interface ISchedulesHost extends IViewHost {
  readonly store: SchedulesStore;
  readonly confirm: (
    title: string,
    body: string,
    accept: string
  ) => Promise<boolean>;
  /** Show a conversation in the chat panel. */
  readonly openConversation: (sessionId: string) => void;
  readonly openDocument: (path: string) => void;
  /** Show the limits in the settings. */
  readonly openSettings: () => void;
}

export const SchedulesContext = React.createContext<ISchedulesHost | null>(
  null
);

export function useSchedules(): ISchedulesHost {
  const host = React.useContext(SchedulesContext);
  if (host === null) {
    throw new Error('SchedulesContext is missing above this view.');
  }
  return host;
}
