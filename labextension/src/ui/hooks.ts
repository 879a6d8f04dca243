/** Hooks shared by all views: the host, the conversation, signals as state, and actions. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import * as React from 'react';

import { ApiError, infoOf } from '../client/http';
import type { IConversations } from '../model/conversations/interface';
import type { IPendingInput } from '../model/view-models/conversationItems';
import type { ErrorInfo, PendingEdit } from '../wire/generated';
import { clientOf } from '../model/view-models/toolOwners';
import { focused, focusOn } from './focus';
import type { IChatHost, IEditorContext } from '../host/chatHost';

/** The page around the panel. */
export const HostContext = React.createContext<IChatHost | null>(null);

/** The conversation of a view. */
export interface ITabContext {
  readonly conversations: IConversations;
  /** Key of its tab. */
  readonly tab: string;
}

export const TabContext = React.createContext<ITabContext | null>(null);

/** What waits for the user in the conversation, and access to the budget form. */
export interface IConversationState extends IPendingInput {
  readonly editBudget: () => void;
}

export const PendingInputContext = React.createContext<IConversationState>({
  call: null,
  pause: null,
  results: false,
  editBudget: () => undefined
});

export function usePendingInput(): IConversationState {
  return React.useContext(PendingInputContext);
}

export function useHost(): IChatHost {
  return required(React.useContext(HostContext), 'HostContext');
}

/** The part of the host that small components need. */
export type IViewHost = Pick<IChatHost, 'Icon' | 'trans'>;

/** The host of views outside the panel. */
export const ViewContext = React.createContext<IViewHost | null>(null);

export function useView(): IViewHost {
  const panel = React.useContext(HostContext);
  return required(React.useContext(ViewContext) ?? panel, 'ViewContext');
}

export function useTrans(): TranslationBundle {
  return useView().trans;
}

export function useTabContext(): ITabContext {
  return required(React.useContext(TabContext), 'PlaceContext');
}

/** A value that is read again when a signal is emitted; `read` must return the same object while nothing changed. */
export function useSignal<T>(
  signal: ISignal<unknown, unknown> | null,
  read: () => T
): T {
  const subscribe = React.useCallback(
    (notify: () => void) => {
      signal?.connect(notify);
      return () => {
        signal?.disconnect(notify);
      };
    },
    [signal]
  );
  return React.useSyncExternalStore(subscribe, read);
}

/** Renders again whenever a signal is emitted, for objects that change in place. */
export function useSignalVersion(
  signal: ISignal<unknown, unknown> | null
): number {
  const version = React.useRef(0);
  const subscribe = React.useCallback(
    (notify: () => void) => {
      const emitted = (): void => {
        version.current++;
        notify();
      };
      signal?.connect(emitted);
      version.current++; // Signals between render and subscription were missed: render again.
      return () => {
        signal?.disconnect(emitted);
      };
    },
    [signal]
  );
  return React.useSyncExternalStore(subscribe, () => version.current);
}

/** Whether the demo answers in this conversation, by choice or because there is no model. */
export function useIsDemo(): boolean {
  const { conversations, tab } = useTabContext();
  return useSignal(conversations.changed, () => {
    const { models = [] } = conversations.models ?? {};
    const chosen = conversations.model(tab);
    return models.some(
      ({ id, provider }) => id === chosen && provider === 'demo'
    );
  });
}

/** The program that leads this conversation through our tools; null for an ordinary conversation. */
export function useLeadingClient(): string | null {
  const { conversations, tab } = useTabContext();
  return useSignal(conversations.changed, () =>
    clientOf(conversations.session(tab))
  );
}

export function useEditorContext(): IEditorContext {
  const host = useHost();
  return useSignal(host.situationChanged, () => host.situation);
}

const NO_EDITS: readonly PendingEdit[] = [];

/** The agent's changes that wait for review. */
export function usePendingEdits(): readonly PendingEdit[] {
  const { review } = useHost();
  return useSignal(review?.changed ?? null, () => review?.edits ?? NO_EDITS);
}

/** A user action: whether it is running, and why it last failed. */
export function useAction(): {
  busy: boolean;
  error: ErrorInfo | null;
  run: (act: () => Promise<unknown>) => void;
  /** Does nothing while an action runs. For buttons that keep the focus, which disabling them would lose. */
  runOnce: (act: () => Promise<unknown>) => void;
} {
  const [busy, setBusy] = React.useState(false);
  const [error, setError] = React.useState<ErrorInfo | null>(null);
  const run = React.useCallback((act: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    act()
      .catch((reason: unknown) => setError(infoOf(reason)))
      .finally(() => setBusy(false));
  }, []);
  const runOnce = (act: () => Promise<unknown>): void => {
    if (!busy) {
      run(act);
    }
  };
  return { busy, error, run, runOnce };
}

/** An answer of the user; `late` when another page answered first. */
export function useAnswer(): ReturnType<typeof useAction> & { late: boolean } {
  const action = useAction();
  const [late, setLate] = React.useState(false);
  const { run: act } = action;
  const run = React.useCallback(
    (answer: () => Promise<unknown>) =>
      act(() =>
        answer().catch((error: unknown) => {
          if (!isAnswered(error)) {
            throw error;
          }
          setLate(true); // Its event shows the answer.
        })
      ),
    [act]
  );
  const runOnce = (answer: () => Promise<unknown>): void => {
    if (!action.busy && !late) {
      run(answer);
    }
  };
  return { ...action, run, runOnce, late };
}

function isAnswered(error: unknown): boolean {
  return error instanceof ApiError && error.info.code === 'already_answered';
}

/** When a focused element is removed, such as an answered card, focuses the input. */
export function useRestoreFocus<T extends HTMLElement>(): React.RefObject<T> {
  const ref = React.useRef<T>(null);
  React.useLayoutEffect(() => {
    const { current } = ref;
    return () => {
      if (current?.contains(focused()) === true) {
        focusComposer();
      }
    };
  }, []);
  return ref;
}

/** The time, updated while `running`. */
export function useNow(running: boolean, every = 1000): number {
  const [now, setNow] = React.useState(() => Date.now());
  React.useEffect(() => {
    if (!running) {
      return;
    }
    const tick = (): void => setNow(Date.now());
    const timer = setInterval(tick, every);
    return () => clearInterval(timer);
  }, [running, every]);
  return now;
}

/** Focus the input once it is rendered. */
export function focusComposer(): void {
  const panel = focused()?.closest('.shoulders-Chat') ?? document; // A page may have several panels.
  focusOn(() => panel.querySelector('.shoulders-Composer-field'));
}

function required<T>(value: T | null, name: string): T {
  if (value === null) {
    throw new Error(`${name} is missing above this view.`);
  }
  return value;
}
