/** Pure rules for commands in the input, such as `/model fast`. Used by the input. */

import { bestOf } from './mentions';

/** A command as written. */
export interface ICommandLine {
  readonly name: string;
  readonly argument: string;
}

/** A value a command accepts. */
export interface IChoice {
  readonly value: string;
  readonly title: string;
  readonly note: string;
}

/** A command and its action. */
export interface ISlashCommand {
  readonly name: string;
  readonly title: string;
  /** The accepted values; without them the command takes no argument. */
  readonly choices?: () => readonly IChoice[];
  /** Whether it stays in the message, because it names instructions for the agent. */
  readonly isSkill?: boolean;
  /** Heading of its group; skills have their own. */
  readonly group?: string;
  /** Whether the text after its name is sent as a message. */
  readonly isSent?: boolean;
  readonly run: (argument: string) => void | Promise<void>;
}

/** Parse a command; null for ordinary text. */
export function parseCommand(text: string): ICommandLine | null {
  const parts = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/i.exec(text.trim());
  return parts === null
    ? null
    : {
        name: (parts[1] ?? '').toLowerCase(),
        argument: (parts[2] ?? '').trim()
      };
}

/** The matching commands, best first, then skills, then prompts. */
export function findCommands(
  query: string,
  commands: readonly ISlashCommand[]
): ISlashCommand[] {
  const best = bestOf(query, commands, ({ name }) => [name, '']);
  const rank = ({ isSkill, group }: ISlashCommand): number =>
    isSkill === true ? 1 : group === undefined ? 0 : 2;
  return [...best].sort((a, b) => rank(a) - rank(b));
}

/** The choice that the text names. */
export function chosenBy(
  argument: string,
  choices: readonly IChoice[]
): IChoice | undefined {
  const exact = choices.find(({ value }) => value === argument);
  return exact ?? bestOf(argument, choices, c => [c.title, c.value])[0];
}
