/**
 * Messages between a panel in a notebook's output and its kernel, sent as custom widget messages. The kernel's side is
 * `kernel/panel/protocol.py`. Each message names its `view`, since a widget may be shown several times.
 */

/** The parts of anywidget's model used here. */
export interface IModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  /** Send changed values to the kernel. */
  save_changes(): void;
  send(content: object): void;
  /** The page's manager; what it has besides widgets differs. */
  readonly widget_manager?: unknown;
  on(event: string, callback: ModelCallback): void;
  off(event: string, callback: ModelCallback): void;
}

/** Receives a message with its buffers, or a change. */
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
  /** Whether the kernel reaches the Jupyter server; `gone` says why not. */
  server: boolean;
  /** Path of the kernel's notebook in the workspace. */
  notebook: string | null;
  /** Whether messages of the page wait while a cell runs. */
  waits: boolean;
}

/** Answers `http`; a binary body is in the message's only buffer. */
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
