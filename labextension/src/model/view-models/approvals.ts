/** What an approval asks, how far its answers reach, and in what language its code is. Pure; used by the card and by details of calls. */

import type {
  AnswerApproval,
  ApprovalView,
  CommandReach,
  Json
} from '../../wire/generated';

/** What a look at code shows that it does. */
export type Effect = NonNullable<ApprovalView['effects']>[number];

/** Whether an effect is hard to undo, or cannot be seen. */
export function isGrave(effect: Effect): boolean {
  return (
    effect === 'deletes_files' ||
    effect === 'dynamic_code' ||
    effect === 'unknown'
  );
}

/** What the button that lets a call run says. */
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

/** The verb of a tool: what its name begins with, where that says what it does. */
export function verbOf(tool: string): Verb {
  if (tool === 'git_commit') {
    return 'commit';
  }
  if (tool === 'verify_notebook') {
    return 'run';
  }
  return VERBS.find(verb => tool.startsWith(`${verb}_`)) ?? 'allow';
}

export type ApprovalScope = NonNullable<AnswerApproval['scope']>;
type Arguments = Record<string, Json>;

/** What is allowed from now on; `tool` whatever it is given. */
export type Reach =
  | { readonly kind: 'once' | 'tool' }
  | { readonly kind: 'path' | 'domain'; readonly of: string }
  | {
      readonly kind: 'command';
      readonly of: string;
      /** This line only; else every line that begins so and only reads. */
      readonly exact: boolean;
    };

/** What an answer of this scope allows; the server has the same rules in `tools/permissions/grants.py` and says what they make of a command. */
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
    // A log of an earlier version does not say.
    const { command: of, exact } = commands ?? { command, exact: true };
    return { kind: 'command', of, exact };
  }
  return typeof url === 'string' && URL.canParse(url)
    ? { kind: 'domain', of: new URL(url).hostname }
    : { kind: 'tool' };
}

/** The scope shown as a button: the longest one. */
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

/** Argument names whose text is code. */
const CODE = new Set(['source', 'code', 'content', 'old_string', 'new_string']);

/** The language of an argument's text, by which the lab finds how to highlight it; null where it is no code. */
export function languageOf(name: string, given: Arguments): string | null {
  if (name === 'command') {
    return 'shell';
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

/** By the ending of a file's name; cells are taken for Python, as the lab does. */
function languageOfFile(name: Json | undefined): string {
  if (typeof name !== 'string' || isNotebook(name)) {
    return 'python';
  }
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES[ending] ?? ending;
}

/** Names of languages that are not their files' ending. */
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
