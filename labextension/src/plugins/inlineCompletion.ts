/**
 * The inline completion plugin: suggestions at the caret. At start-up only the `++` trigger is loaded; the rest comes
 * with a document.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import {
  ICompletionProviderManager,
  InlineCompletionTriggerKind,
  type IInlineCompletionProvider
} from '@jupyterlab/completer';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import type { IInlineCompletion } from '../inline-completion/factory';
import { LazyLoader } from '../inline-completion/lazyLoader';
import type { InlineCompletionController } from '../inline-completion/controller';
import { doublePlusTrigger } from '../inline-completion/doublePlusTrigger';
import { EXTENSION_ID, IShouldersClient, TRANSLATION_DOMAIN } from '../tokens';
import { INLINE_COMPLETION_COMMANDS } from '../inline-completion/commandIds';
import { sparkIcon } from '../lab/customIcons';

const ID = `${EXTENSION_ID}:ghost`;
/** JupyterLab's timeout for suggestions, and its delay after the last key, in ms; users can change both. */
const TIMEOUT_MS = 15_000;
const DEBOUNCE_MS = 350;

/** Suggests text at the caret. */
export const inlineCompletion: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Suggestions at the caret of cells and files.',
  autoStart: true,
  requires: [IShouldersClient, IEditorExtensionRegistry, INotebookTracker],
  optional: [
    IEditorTracker,
    IEditorLanguageRegistry,
    ICompletionProviderManager,
    IStatusBar,
    ICommandPalette,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    extensions: IEditorExtensionRegistry,
    notebooks: INotebookTracker,
    files: IEditorTracker | null,
    languages: IEditorLanguageRegistry | null,
    completers: ICompletionProviderManager | null,
    bar: IStatusBar | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const page = new LazyLoader(async () => {
      const { createInlineCompletion } =
        await import('../inline-completion/factory');
      const documents = { notebooks, files, languages };
      return createInlineCompletion({
        ...{ app, client, completers, bar, trans },
        ...documents
      });
    });
    const port = {
      canRequest: (
        ...at: Parameters<InlineCompletionController['canRequest']>
      ) =>
        page.loaded === null ? null : page.loaded.controller.canRequest(...at),
      settingsLoaded: () => page.settingsLoaded(),
      request: (...at: Parameters<InlineCompletionController['request']>) =>
        page.loaded?.controller.request(...at),
      moved: (...at: [Parameters<InlineCompletionController['request']>[0]]) =>
        page.loaded?.inline.moved(...at)
    };
    extensions.addExtension({
      name: ID,
      factory: () =>
        EditorExtensionRegistry.createImmutableExtension(
          doublePlusTrigger(port)
        )
    });
    completers?.registerInlineProvider(provider(page, trans));
    notebooks.widgetAdded.connect(() => page.startLoading());
    files?.widgetAdded.connect(() => page.startLoading());
    addCommands(app, page, trans);
    palette?.addItem({
      command: INLINE_COMPLETION_COMMANDS.ask,
      category: trans.__('AI')
    });
  }
};

function provider(
  page: LazyLoader<IInlineCompletion>,
  trans: TranslationBundle
): IInlineCompletionProvider {
  return {
    identifier: ID,
    name: trans.__('AI suggestions'),
    icon: sparkIcon,
    schema: {
      default: { timeout: TIMEOUT_MS, debouncerDelay: DEBOUNCE_MS }
    },
    // Called at start-up and whenever the user changes the settings.
    configure: settings => page.configure(settings),
    fetch: async (request, { widget, triggerKind }) => {
      const isAutomatic = triggerKind === InlineCompletionTriggerKind.Automatic;
      return (await page.get()).inline.fetch(request, widget, isAutomatic);
    },
    async *stream(token) {
      yield* (await page.get()).inline.stream(token);
    }
  };
}

function addCommands(
  app: JupyterFrontEnd,
  page: LazyLoader<IInlineCompletion>,
  trans: TranslationBundle
): void {
  const { commands, shell } = app;
  const describedBy = { args: { type: 'object', properties: {} } } as const;
  const acts: Record<
    Exclude<keyof typeof INLINE_COMPLETION_COMMANDS, 'ask'>,
    [string, (ghosts: InlineCompletionController) => void]
  > = {
    accept: [trans.__('Accept the AI Suggestion'), each => each.accept()],
    acceptWord: [
      trans.__('Accept a Word of the AI Suggestion'),
      each => each.acceptWord()
    ],
    next: [trans.__('Next AI Suggestion'), each => each.cycle(1)],
    previous: [trans.__('Previous AI Suggestion'), each => each.cycle(-1)],
    dismiss: [trans.__('Dismiss the AI Suggestion'), each => each.dismiss()]
  };
  for (const name of Object.keys(acts) as (keyof typeof acts)[]) {
    const [label, act] = acts[name];
    commands.addCommand(INLINE_COMPLETION_COMMANDS[name], {
      label,
      describedBy,
      execute: () => {
        if (page.loaded !== null) {
          act(page.loaded.controller);
        }
      }
    });
  }
  commands.addCommand(INLINE_COMPLETION_COMMANDS.ask, {
    label: trans.__('Suggest What Comes Next with AI'),
    describedBy,
    execute: async () =>
      (await page.get()).controller.requestIn(shell.currentWidget)
  });
}
