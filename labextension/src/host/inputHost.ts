/** What the input needs of the page around it: part of `IChatHost`. */

import type {
  Attachment,
  FileMatches,
  PreviewMessage,
  RequestView,
  SkillSummaries,
  ToolList,
  VariableList
} from '../wire/generated';

/** A cell as it is offered. */
export interface ICellInfo {
  readonly id: string;
  /** From 1, as people count. */
  readonly number: number;
  readonly type: string;
  /** Its first line that says something. */
  readonly line: string;
  readonly hasError: boolean;
}

/** What something carried or copied holds; Lumino's `MimeData` fits. */
export interface IDraggedContent {
  hasData(type: string): boolean;
  getData(type: string): unknown;
}

/** What can be asked of the server for the input; each rejects with an `ApiError`. */
export interface IServerLookups {
  /** The files whose paths match best. */
  files(query: string): Promise<FileMatches>;
  /** The variables of a notebook's kernel. */
  variables(path: string): Promise<VariableList>;
  skills(): Promise<SkillSummaries>;
  tools(): Promise<ToolList>;
  /** What sending a message would send. */
  preview(sessionId: string, message: PreviewMessage): Promise<RequestView>;
  /** What was sent for a step of a turn. */
  sent(sessionId: string, turnId: string, step: number): Promise<RequestView>;
}

/** The page around the input. */
export interface IInputHost {
  readonly lookups: IServerLookups;
  /** The cells of a notebook that is open here; none of another. */
  readonly cellsOf: (path: string) => readonly ICellInfo[];
  /** What a drag of the lab carries: files of its browser, cells of a notebook. */
  readonly carried: (data: IDraggedContent) => Promise<Attachment[]>;
  /** The cells copied last, when nothing else was copied since; `text` is what the clipboard has. */
  readonly copiedCells: (text: string) => Attachment[];
  /**
   * Put a file from outside into the workspace; resolves to its path. Nothing is left of one that is aborted. Null in a
   * page that cannot: only pictures are attached there.
   */
  readonly upload:
    ((file: File, signal: AbortSignal) => Promise<string>) | null;
  /** Open the user's instructions; made from a template where there are none. Null in a page that opens nothing. */
  readonly openInstructions: (() => Promise<void>) | null;
  /**
   * Open the lab's AI settings, at a section, `add`: with the form for a new provider; false where there are none. Null in
   * a page that opens nothing.
   */
  readonly openSettings: ((section?: string, add?: boolean) => boolean) | null;
}
