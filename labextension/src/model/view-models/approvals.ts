/**
 * What an approval asks, the reach of its answers, and the language of its code. Pure; used by the card and by call
 * details.
 */

import type {
  AnswerApproval,
  ApprovalView,
  CommandReach,
  Json
} from '../../wire/generated';

/** An effect found by code analysis. */
export type Effect = NonNullable<ApprovalView['effects']>[number];

/** Whether an effect is hard to undo or unknown. */
export function isSevere(effect: Effect): boolean {
  return (
    effect === 'deletes_files' ||
    effect === 'dynamic_code' ||
    effect === 'unknown'
  );
}

/** Label of the button that lets a call run. */
export type Verb = (typeof VERBS)[number] | 'allow' | 'commit' | 'run';

const VERBS = [
  'add',
  'clear',
  'create',
  'delete',
  'duplicate',
  'edit',
  'interrupt',
  'move',
  'read',
  'rename',
  'restart',
  'run',
  'undo',
  'write'
] as const;

/** The verb of a tool: the first word of its name, when it describes the action. */
export function verbOf(tool: string): Verb {
  if (tool === 'git_commit') {
    return 'commit';
  }
  if (tool === 'verify_notebook') {
    return 'run';
  }
  // Requests of agents of others have the names of our tools; giving a permission does nothing itself.
  const name = tool.replace(/^agent_/, '');
  return VERBS.find(verb => name.startsWith(`${verb}_`)) ?? 'allow';
}

export type ApprovalScope = NonNullable<AnswerApproval['scope']>;
type Arguments = Record<string, Json>;

/** What is allowed from now on; `tool` allows any arguments. */
export type Reach =
  | { readonly kind: 'once' | 'tool' }
  | { readonly kind: 'path' | 'domain'; readonly of: string }
  | {
      readonly kind: 'command';
      readonly of: string;
      /** Only this line; otherwise every read-only line with this beginning. */
      readonly exact: boolean;
    };

/**
 * What an answer with this scope allows. The server has the same rules in `tools/permissions/grants.py` and reports the
 * result for commands.
 */
export function reachOf(
  scope: ApprovalScope,
  given: Arguments,
  commands: CommandReach | null
): Reach {
  const { path, command, url } = given;
  if (scope === 'once') {
    return { kind: 'once' };
  }
  if (scope !== 'session' && typeof path === 'string') {
    return { kind: 'path', of: path };
  }
  if (typeof command === 'string') {
    // Logs of an earlier version have none.
    const { command: of, exact } = commands ?? { command, exact: true };
    return { kind: 'command', of, exact };
  }
  return typeof url === 'string' && URL.canParse(url)
    ? { kind: 'domain', of: new URL(url).hostname }
    : { kind: 'tool' };
}

/** The scope shown as a button: the longest. */
export function directScope(
  scopes: readonly ApprovalScope[]
): ApprovalScope | null {
  const order: readonly ApprovalScope[] = ['always', 'session', 'document'];
  return order.find(scope => scopes.includes(scope)) ?? null;
}

/** Whether a path is a notebook's. */
export function isNotebook(path: Json | undefined): boolean {
  return typeof path === 'string' && path.endsWith('.ipynb');
}

/** Arguments whose text is code. */
const CODE = new Set(['source', 'code', 'content', 'old_string', 'new_string']);

/** Language of an argument's text, for highlighting; null when it is not code. */
export function languageOf(name: string, given: Arguments): string | null {
  if (name === 'command') {
    return 'shell';
  }
  if (name === 'sql') {
    return 'sql';
  }
  if (!CODE.has(name)) {
    return null;
  }
  const { path, filename, cell_type } = given;
  if (cell_type === 'markdown' || cell_type === 'raw') {
    return cell_type === 'markdown' ? 'markdown' : '';
  }
  return languageOfFile(path ?? filename);
}

/** Language by file extension; Python for cells, as in JupyterLab. */
function languageOfFile(name: Json | undefined): string {
  if (typeof name !== 'string' || isNotebook(name)) {
    return 'python';
  }
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES[ending] ?? ending;
}

/** Languages whose name differs from the file extension. */
const LANGUAGES: Record<string, string | undefined> = {
  jl: 'julia',
  js: 'javascript',
  jsx: 'jsx',
  md: 'markdown',
  py: 'python',
  rs: 'rust',
  sh: 'shell',
  ts: 'typescript',
  yml: 'yaml'
};
