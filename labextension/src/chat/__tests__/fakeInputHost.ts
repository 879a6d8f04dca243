/** Fake of the host's input part; tests set what it finds. */

import type {
  AddedReference,
  AgentList,
  Attachment,
  FileMatches,
  McpPromptList,
  McpResourceMatches,
  PreviewMessage,
  RequestView,
  SkillSummaries,
  ToolList,
  VariableList
} from '../../wire/generated';
import type {
  ICellInfo,
  IInputHost,
  IServerLookups
} from '../../host/inputHost';

export const request: RequestView = {
  session_id: 's1',
  turn_id: null,
  step: 1,
  model: 'demo/demo',
  provider: 'demo',
  system: 'You are an agent.',
  messages: [
    {
      role: 'user',
      parts: [{ type: 'text', text: 'Plot it.', state: null }]
    }
  ],
  tools: [{ name: 'read_file', description: 'Reads.', parameters: {} }],
  tokens: 1234,
  window: 200_000,
  max_output: 4000,
  replaces: null,
  memory: []
};

export class FakeInputHost implements IInputHost {
  readonly asked: unknown[][] = [];
  files: FileMatches = { matches: [], complete: true };
  agents: AgentList = { agents: [], problem: null };
  variables: VariableList = { variables: [], reason: null };
  skills: SkillSummaries = { skills: [] };
  tools: ToolList = {
    tools: [],
    disabled: [],
    disable_external: false,
    rules: [],
    problems: [],
    revision: ''
  };
  cells: readonly ICellInfo[] = [];
  taken: Attachment[] = [];
  added: AddedReference = {
    status: 'not_added',
    reason: 'No register knows this DOI.',
    reference: null,
    source: ''
  };
  copied: Attachment[] = [];

  resources: McpResourceMatches = {
    resources: [],
    complete: true,
    problems: []
  };
  prompts: McpPromptList = { prompts: [], problems: [] };

  readonly lookups: IServerLookups = {
    mcpResources: async () => this.resources,
    mcpPrompts: async () => this.prompts,
    mcpPrompt: async (server, name, values) =>
      this.answer(['mcpPrompt', server, name, values], {
        server,
        name,
        text: `Text of ${name}.`,
        notes: []
      }),
    files: async query => this.answer(['files', query], this.files),
    variables: async path => this.answer(['variables', path], this.variables),
    agents: async () => this.agents,
    skills: async () => this.answer(['skills'], this.skills),
    tools: async () => this.answer(['tools'], this.tools),
    undoOperation: async id =>
      this.answer(['undoOperation', id], { undone: [id], kept: [] }),
    addReference: async doi => this.answer(['addReference', doi], this.added),
    preview: async (id: string, message: PreviewMessage) =>
      this.answer(['preview', id, message], request),
    sent: async (id, turn, step) =>
      this.answer(['sent', id, turn, step], request)
  };
  readonly cellsOf = (): readonly ICellInfo[] => this.cells;
  readonly attachmentsOfDrag = async (): Promise<Attachment[]> => this.taken;
  readonly copiedCells = (): Attachment[] => this.copied;
  /** Uploads wait for this promise. */
  uploading: Promise<void> = Promise.resolve();
  readonly upload = async (file: File): Promise<string> => {
    await this.uploading;
    return this.answer(['upload', file.name], file.name);
  };
  readonly openInstructions = async (): Promise<void> => {
    this.answer(['instructions'], null);
  };
  readonly openDatabase = (): void => {
    this.answer(['database'], undefined);
  };
  readonly schedule = null;
  readonly openSettings = (): boolean => this.answer(['settings'], true);

  private answer<T>(asked: unknown[], value: T): T {
    this.asked.push(asked);
    return value;
  }
}
