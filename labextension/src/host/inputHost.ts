/** The input's part of `IChatHost`. */

import type {
  AddedReference,
  AgentList,
  Attachment,
  FileMatches,
  McpPromptList,
  McpPromptText,
  McpResourceMatches,
  OperationUndone,
  PreviewMessage,
  RequestView,
  SkillSummaries,
  ToolList,
  VariableList
} from '../wire/generated';

/** A cell in the list of suggestions. */
export interface ICellInfo {
  readonly id: string;
  /** From 1. */
  readonly number: number;
  readonly type: string;
  /** Its first line with content. */
  readonly line: string;
  readonly hasError: boolean;
}

/** Data of a drag or the clipboard; Lumino's `MimeData` fits. */
export interface IDraggedContent {
  hasData(type: string): boolean;
  getData(type: string): unknown;
}

/** Requests of the panel to the server; each rejects with an `ApiError`. */
export interface IServerLookups {
  /** The files with the best matching paths. */
  files(query: string): Promise<FileMatches>;
  /** The variables of a notebook's kernel. */
  variables(path: string): Promise<VariableList>;
  skills(): Promise<SkillSummaries>;
  /** Resources of running MCP servers with the best matching names. */
  mcpResources(query: string): Promise<McpResourceMatches>;
  /** Prompts of running MCP servers. */
  mcpPrompts(): Promise<McpPromptList>;
  /** The text of a prompt. */
  mcpPrompt(
    server: string,
    name: string,
    values: Record<string, string>
  ): Promise<McpPromptText>;
  tools(): Promise<ToolList>;
  /** The agents of others that this computer has or could have. */
  agents(): Promise<AgentList>;
  /** Take back a change of the operation log. */
  undoOperation(id: string): Promise<OperationUndone>;
  /** Add a work to the bibliography by its DOI. */
  addReference(doi: string): Promise<AddedReference>;
  /** The request that sending a message would make. */
  preview(sessionId: string, message: PreviewMessage): Promise<RequestView>;
  /** The request that was sent for a step of a turn. */
  sent(sessionId: string, turnId: string, step: number): Promise<RequestView>;
}

/** What a new schedule begins with. */
export interface IScheduleDraft {
  readonly prompt?: string;
  /** A conversation that each run continues. */
  readonly session?: string;
  readonly title?: string;
}

/** The page around the input. */
export interface IInputHost {
  readonly lookups: IServerLookups;
  /** The cells of an open notebook; none of a closed one. */
  readonly cellsOf: (path: string) => readonly ICellInfo[];
  /** The content of a JupyterLab drag: files of the file browser, cells of a notebook. */
  readonly attachmentsOfDrag: (data: IDraggedContent) => Promise<Attachment[]>;
  /** The copied cells, if nothing else was copied since; `text` is the clipboard's. */
  readonly copiedCells: (text: string) => Attachment[];
  /**
   * Upload a file into the workspace; resolves to its path. An aborted upload leaves nothing. Null in a page that
   * cannot: it attaches only images.
   */
  readonly upload:
    ((file: File, signal: AbortSignal) => Promise<string>) | null;
  /** Open the user's instructions, created from a template if there are none. Null in a page that opens nothing. */
  readonly openInstructions: (() => Promise<void>) | null;
  /**
   * Open the AI settings at a section; `add` opens the form for a new provider. Returns false if there are none. Null
   * in a page that opens nothing.
   */
  readonly openSettings: ((section?: string, add?: boolean) => boolean) | null;
  /** Open the agent's database; null in a page that opens nothing. */
  readonly openDatabase: (() => void) | null;
  /** Show the form for a new schedule, or without a start the page of schedules; null in a page without it. */
  readonly schedule: ((start: IScheduleDraft | null) => void) | null;
}
