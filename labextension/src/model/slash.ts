/** The commands a message can be instead of words for the agent, as `/model fast`: pure rules. Used by the input. */

import { bestOf } from './mentions';

/** A command as it was written. */
export interface ICommandLine {
  readonly name: string;
  readonly argument: string;
}

/** What one can do; `argument` says what may stand behind the name. */
export interface ISlashCommand {
  readonly name: string;
  readonly title: string;
  readonly argument?: string;
  readonly run: (argument: string) => void | Promise<void>;
}

/** The command a message is; null when it is words. */
export function parseCommand(text: string): ICommandLine | null {
  const parts = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/i.exec(text.trim());
  return parts === null
    ? null
    : {
        name: (parts[1] ?? '').toLowerCase(),
        argument: (parts[2] ?? '').trim()
      };
}

/** The commands whose names match, the best first. */
export function findCommands(
  query: string,
  commands: readonly ISlashCommand[]
): ISlashCommand[] {
  return bestOf(query, commands, ({ name }) => [name, '']);
}
