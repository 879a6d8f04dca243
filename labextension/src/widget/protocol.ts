/**
 * What a panel in a notebook's output and its kernel say to each other, as custom messages of the widget; the kernel's
 * side is `kernel/panel/protocol.py`. Each message names the `view` it is of: a widget may be shown in several places.
 */

/** What anywidget hands to a view of the widget, as far as it is used here. */
export interface IModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  /** Send what was set to the kernel. */
  save_changes(): void;
  send(content: object): void;
  /** Of the page; what it has besides widgets differs. */
  readonly widget_manager?: unknown;
  on(event: string, callback: ModelCallback): void;
  off(event: string, callback: ModelCallback): void;
}

/** Hears a message with its buffers, or of a change. */
export type ModelCallback = (
  content: unknown,
  buffers?: readonly DataView[]
) => void;

/** From the page to the kernel. */
export type PageMessage =
  | { t: 'hello' }
  | {
      t: 'http';
      id: string;
      method: string;
      path: string;
      body: string | null;
    }
  | { t: 'open'; id: string }
  | { t: 'send'; id: string; text: string }
  | { t: 'close'; id: string | null };

/** Answers `hello`. */
export interface IReady {
  t: 'ready';
  /** Whether the Jupyter server answers the kernel; `gone` says why not. */
  server: boolean;
  /** Path of the kernel's notebook in the workspace. */
  notebook: string | null;
  /** Whether the page's messages wait while a cell runs. */
  waits: boolean;
}

/** Answers `http`; what is no text is in the message's one buffer. */
export interface IHttpAnswer {
  t: 'http';
  id: string;
  status: number;
  content_type: string;
  body: string | null;
}

/** From the kernel to the page. */
export type KernelMessage =
  | IReady
  | IHttpAnswer
  | { t: 'opened'; id: string }
  | { t: 'frame'; id: string; text: string }
  | { t: 'closed'; id: string; code: number; reason: string }
  | { t: 'gone'; reason: string };
