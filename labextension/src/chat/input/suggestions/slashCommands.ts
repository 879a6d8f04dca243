/** The commands a message can be instead of words for the agent, as `/model fast`: pure rules. Used by the input. */

import { bestOf } from './mentions';

/** A command as it was written. */
export interface ICommandLine {
  readonly name: string;
  readonly argument: string;
}

/** What may stand behind the name of a command. */
export interface IChoice {
  readonly value: string;
  readonly title: string;
  readonly note: string;
}

/** What one can do. */
export interface ISlashCommand {
  readonly name: string;
  readonly title: string;
  /** What it can be told; without any it is told nothing. */
  readonly choices?: () => readonly IChoice[];
  /** Stays in the message: it names a text the agent is to follow. */
  readonly isSkill?: boolean;
  /** What stands behind its name is a message, sent after it. */
  readonly isSent?: boolean;
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

/** The commands whose names match, the best first, skills behind the others. */
export function findCommands(
  query: string,
  commands: readonly ISlashCommand[]
): ISlashCommand[] {
  const best = bestOf(query, commands, ({ name }) => [name, '']);
  return [
    ...best.filter(({ isSkill }) => isSkill !== true),
    ...best.filter(({ isSkill }) => isSkill === true)
  ];
}

/** The choice that was meant by what was written. */
export function chosenBy(
  argument: string,
  choices: readonly IChoice[]
): IChoice | undefined {
  const exact = choices.find(({ value }) => value === argument);
  return exact ?? bestOf(argument, choices, c => [c.title, c.value])[0];
}
