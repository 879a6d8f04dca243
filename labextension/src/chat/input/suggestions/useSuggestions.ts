/** The list above the input: mentions after `@`, commands after `/`, arguments of commands; its position and keys. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { bestOf, replaceToken, tokenAt, type IToken } from './mentions';
import { findCommands, type ISlashCommand } from './slashCommands';
import { useHost, useTabContext, useTrans } from '../../../ui/hooks';
import { moved, type IListboxOption } from './Listbox';
import { MentionSource, type IMentionOption } from './MentionSource';

/** A choice and its action. */
type Suggestion = IMentionOption | ICommandOption | IArgumentOption;

interface ICommandOption extends IListboxOption {
  readonly command: ISlashCommand;
}

interface IArgumentOption extends IListboxOption {
  readonly command: ISlashCommand;
  readonly value: string;
}

/** The shown list; a choice replaces `token`. */
interface IShownList {
  readonly token: IToken;
  readonly label: string;
  readonly options: readonly Suggestion[];
  readonly active: number;
}

/** What a choice does to the input. */
export interface ISuggestionActions {
  readonly name: (option: IMentionOption, text: string, caret: number) => void;
  /** `rest` is the text without the command. */
  readonly run: (
    command: ISlashCommand,
    argument: string,
    rest: string
  ) => void;
  /** Insert the start of a command, so that its argument follows. */
  readonly startCommand: (text: string) => void;
}

export interface ISuggestions {
  readonly shown: IShownList | null;
  /** Call when the text or the caret changed. */
  readonly update: (text: string, caret: number) => void;
  readonly pick: (text: string, option: Suggestion) => void;
  readonly setActive: (index: number) => void;
  readonly close: () => void;
  /** Returns whether the list handled the key. */
  readonly onKey: (event: React.KeyboardEvent<HTMLTextAreaElement>) => boolean;
}

export function useSuggestions(
  commands: readonly ISlashCommand[],
  picking: ISuggestionActions
): ISuggestions {
  const trans = useTrans();
  const mentions = useMentions();
  const [shown, setShown] = React.useState<IShownList | null>(null);
  const typed = React.useRef<{ text: string; caret: number } | null>(null);
  const close = (): void => {
    mentions.stop();
    setShown(null);
    typed.current = null;
  };
  const show = (
    token: IToken,
    label: string,
    options: readonly Suggestion[]
  ): void =>
    setShown(before =>
      keepSelection({ token, label, options, active: 0 }, before)
    );
  const update = (text: string, caret: number): void => {
    const argument = argumentAt(text, caret, commands);
    const token = argument?.token ?? tokenAt(text, caret);
    typed.current = { text, caret };
    if (token === null) {
      close();
    } else if (argument !== null) {
      show(token, argument.command.title, argumentOptions(argument));
    } else if (token.trigger === '/') {
      const options = commandOptions(token.query, commands, trans);
      show(token, trans.__('Commands'), options);
    } else {
      mentions.search(token, options =>
        show(token, trans.__('What to attach'), options)
      );
    }
  };
  // Skills and prompts of servers arrive after the text was typed or pasted.
  const names = commands.map(({ name }) => name).join(' ');
  const again = React.useRef(update);
  React.useLayoutEffect(() => {
    again.current = update;
  });
  React.useEffect(() => {
    const before = typed.current;
    if (before?.text.startsWith('/') === true) {
      again.current(before.text, before.caret);
    }
  }, [names]);
  const pick = (text: string, option: Suggestion): void => {
    close();
    if ('mention' in option) {
      if (shown !== null) {
        const done = replaceToken(text, shown.token, option.mention.text);
        picking.name(option, done.text, done.caret);
      }
    } else if ('value' in option) {
      picking.run(option.command, option.value, textAfter(text, shown));
    } else if (option.command.choices === undefined) {
      picking.run(option.command, '', textAfter(text, shown));
    } else {
      const begun = `/${option.command.name} `;
      picking.startCommand(begun);
      update(begun, begun.length);
    }
  };
  const onKey = (event: React.KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { key } = event;
    const option = shown?.options[shown.active];
    if (
      shown === null ||
      option === undefined ||
      event.nativeEvent.isComposing
    ) {
      return false;
    }
    const next = moved(key, shown.active, shown.options.length);
    if (next !== null) {
      setShown({ ...shown, active: next });
    } else if (key === 'Escape') {
      close();
    } else if ((key === 'Enter' && !event.shiftKey) || key === 'Tab') {
      pick(event.currentTarget.value, option);
    } else {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    shown: shown !== null && shown.options.length > 0 ? shown : null,
    update,
    pick,
    setActive: active => setShown(now => now && { ...now, active }),
    close,
    onKey
  };
}

function useMentions(): MentionSource {
  const host = useHost();
  const { conversations, tab } = useTabContext();
  const { trans } = host;
  return React.useMemo(
    () => new MentionSource(host, conversations, tab, trans),
    [host, conversations, tab, trans]
  );
}

/** The text after the replaced token. */
function textAfter(text: string, shown: IShownList | null): string {
  return text.slice(shown?.token.to ?? 0).trimStart();
}

/** Keeps the selection when an open list grows. */
function keepSelection(
  next: IShownList,
  before: IShownList | null
): IShownList {
  if (before?.token.query !== next.token.query) {
    return next;
  }
  const chosen = before.options[before.active]?.key;
  const active = next.options.findIndex(({ key }) => key === chosen);
  return before.active === 0 || active < 0 ? next : { ...next, active };
}

function commandOptions(
  query: string,
  commands: readonly ISlashCommand[],
  trans: TranslationBundle
): ICommandOption[] {
  return findCommands(query, commands).map(command => ({
    key: command.name,
    title: `/${command.name}`,
    note: command.title,
    group:
      command.group ?? (command.isSkill === true ? trans.__('Skills') : ''),
    command
  }));
}

interface IArgument {
  readonly command: ISlashCommand;
  readonly token: IToken;
}

/** The argument being typed, for a command with choices. */
function argumentAt(
  text: string,
  caret: number,
  commands: readonly ISlashCommand[]
): IArgument | null {
  const parts = /^\/([a-z-]+) ([^\n]*)$/i.exec(text.slice(0, caret));
  const name = parts?.[1]?.toLowerCase();
  const command = commands.find(
    known => known.name === name && known.choices !== undefined
  );
  const query = parts?.[2];
  return command === undefined || query === undefined
    ? null
    : {
        command,
        token: { trigger: '/', from: caret - query.length, to: caret, query }
      };
}

function argumentOptions({ command, token }: IArgument): IArgumentOption[] {
  const choices = command.choices?.() ?? [];
  const found = bestOf(token.query, choices, ({ title, note }) => [
    title,
    note
  ]);
  return found.map(({ value, title, note }) => ({
    key: value,
    title,
    note,
    group: '',
    command,
    value
  }));
}
