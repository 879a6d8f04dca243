/** Builds the inline completion of this page. Loaded by its plugin with the first notebook or file. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { ICompletionProviderManager } from '@jupyterlab/completer';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import { INLINE_COMPLETION_COMMANDS } from './commandIds';
import { Announcer } from '../review/commands';
import { EXTENSION_ID, type IShouldersClient } from '../tokens';
import { SuggestionRequests } from './suggestionRequests';
import { OpenEditors } from './openEditors';
import { UnavailableHint } from './unavailableHint';
import { LabCompletionProvider } from './labProvider';
import { InlineCompletionController } from './controller';
import { CompletionPreferences } from './preferences';

/** Services of the application in use. */
export interface IInlineCompletionLab {
  readonly app: JupyterFrontEnd;
  readonly client: IShouldersClient;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly languages: IEditorLanguageRegistry | null;
  readonly completers: ICompletionProviderManager | null;
  readonly bar: IStatusBar | null;
  readonly trans: TranslationBundle;
}

/** The `++` suggestions of a page, and those in JupyterLab's own completer. */
export interface IInlineCompletion {
  readonly controller: InlineCompletionController;
  readonly inline: LabCompletionProvider;
}

/** Make the inline completion; it lives as long as the page. */
export function createInlineCompletion(
  lab: IInlineCompletionLab
): IInlineCompletion {
  const { app, client, notebooks, files, languages, completers, bar, trans } =
    lab;
  const announcer = new Announcer();
  const announce = (text: string): void => announcer.announce(text);
  const documents = new OpenEditors(notebooks, files, languages);
  const completions = new SuggestionRequests(
    client.http,
    client.socket.clientId,
    () => UUID.uuid4()
  );
  const preferences = new CompletionPreferences(client.http, client.socket);
  const open = (section: string): void =>
    void app.commands.execute(`${EXTENSION_ID}:open-settings`, { section });
  const hint = new UnavailableHint({ bar, trans, open, announce });
  const shared = { documents, completions, preferences, hint };
  const ownCommands = new Set<string>(
    Object.values(INLINE_COMPLETION_COMMANDS)
  );
  ownCommands.delete(INLINE_COMPLETION_COMMANDS.ask);
  const controller = new InlineCompletionController({
    ...shared,
    ...{ commands: app.commands, ownCommands, trans, announce }
  });
  const inline = new LabCompletionProvider({
    ...shared,
    hasSuggestions: view => controller.has(view),
    isShown: id => completers?.inline?.isActive(id) ?? false,
    refetch: id => completers?.inline?.invoke(id)
  });
  return { controller, inline };
}
