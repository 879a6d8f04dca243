/** The hooks every view shares: the page around it, the conversation it is in, and signals as state. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import * as React from 'react';

import { ApiError, infoOf } from '../client/http';
import type { IConversations } from '../model/conversations/interface';
import type { IPendingInput } from '../model/view-models/conversationItems';
import type { ErrorInfo, PendingEdit } from '../wire/generated';
import { focused, focusOn } from './focus';
import type { IChatHost, IEditorContext } from '../host/chatHost';

/** The page around the panel. */
export const HostContext = React.createContext<IChatHost | null>(null);

/** The conversation a view is in. */
export interface ITabContext {
  readonly conversations: IConversations;
  /** Key of its tab. */
  readonly tab: string;
}

export const TabContext = React.createContext<ITabContext | null>(null);

/** What of the conversation waits for the user, and the way to the limits of money. */
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
  return present(React.useContext(HostContext), 'HostContext');
}

/** What the small pieces need of the page, wherever they stand. */
export type IViewHost = Pick<IChatHost, 'Icon' | 'trans'>;

/** The page around views that are not of the panel. */
export const ViewContext = React.createContext<IViewHost | null>(null);

export function useView(): IViewHost {
  const panel = React.useContext(HostContext);
  return present(React.useContext(ViewContext) ?? panel, 'ViewContext');
}

export function useTrans(): TranslationBundle {
  return useView().trans;
}

export function useTabContext(): ITabContext {
  return present(React.useContext(TabContext), 'PlaceContext');
}

/** A value that changes when a signal says so; the value must stay the same object while nothing changed. */
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

/** Render again whenever a signal is emitted, for objects that change in place. */
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
      version.current++; // What was emitted since the render was not heard: render again.
      return () => {
        signal?.disconnect(emitted);
      };
    },
    [signal]
  );
  return React.useSyncExternalStore(subscribe, () => version.current);
}

/** Whether the demo answers in this conversation, because it was chosen or because there is no model. */
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

export function useEditorContext(): IEditorContext {
  const host = useHost();
  return useSignal(host.situationChanged, () => host.situation);
}

const NO_EDITS: readonly PendingEdit[] = [];

/** The agent's changes that await keep or undo. */
export function usePendingEdits(): readonly PendingEdit[] {
  const { review } = useHost();
  return useSignal(review?.changed ?? null, () => review?.edits ?? NO_EDITS);
}

/** An action of the user: whether it is under way, and why it failed the last time. */
export function useAction(): {
  busy: boolean;
  error: ErrorInfo | null;
  run: (act: () => Promise<unknown>) => void;
  /** Does nothing while an action runs. For buttons that keep the focus, which disabling would take away. */
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

/** An answer of the user, which another page may have given before: `late`. */
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
          setLate(true); // Its event tells how.
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

/** When what has the focus goes away, as an answered card does, the focus goes to the input. */
export function useRestoreFocus<T extends HTMLElement>(): React.RefObject<T> {
  const place = React.useRef<T>(null);
  React.useLayoutEffect(() => {
    const { current } = place;
    return () => {
      if (current?.contains(focused()) === true) {
        focusComposer();
      }
    };
  }, []);
  return place;
}

/** The time, again and again while `running`. */
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

/** Put the cursor into the input, once what is being rendered is there. */
export function focusComposer(): void {
  const panel = focused()?.closest('.shoulders-Chat') ?? document; // A page may have several.
  focusOn(() => panel.querySelector('.shoulders-Composer-field'));
}

function present<T>(value: T | null, name: string): T {
  if (value === null) {
    throw new Error(`${name} is missing above this view.`);
  }
  return value;
}
