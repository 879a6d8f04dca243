/**
 * The threads plugin: conversations anchored in documents. Tracking and marks are loaded with the first notebook or
 * file.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { CommandToolbarButton } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';

import type {
  IThreadLocation,
  IThreadLocations
} from '../host/threadLocations';
import type { ThreadsController } from '../threads/controller';
import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  IThreads,
  IWordPages,
  TRANSLATION_DOMAIN
} from '../tokens';
import type { Session } from '../wire/generated';
import { threadIcon } from '../lab/customIcons';
import { THREAD_COMMANDS, THREADS_ITEM } from '../threads/commandIds';

/** Marks the threads of open documents and starts new ones. */
export const threads: JupyterFrontEndPlugin<IThreads> = {
  id: `${EXTENSION_ID}:threads`,
  description: 'Conversations pinned to selected text, cells and outputs.',
  autoStart: true,
  provides: IThreads,
  requires: [
    IShouldersClient,
    IConversations,
    INotebookTracker,
    IDocumentManager
  ],
  optional: [
    IEditorTracker,
    ICommandPalette,
    ITranslator,
    IToolbarWidgetRegistry,
    IWordPages
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    notebooks: INotebookTracker,
    documents: IDocumentManager,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    toolbars: IToolbarWidgetRegistry | null,
    words: IWordPages | null
  ): IThreads => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const load = async (): Promise<ILoaded> => {
      const [{ ThreadLocations }, { ThreadsController }] = await Promise.all([
        import('../threads/locations'),
        import('../threads/controller')
      ]);
      const locations = new ThreadLocations({
        ...{ notebooks, files, words, documents, conversations },
        http: client.http,
        socket: client.socket
      });
      const parts = {
        ...{ app, conversations, notebooks, files, words },
        ...{ trans, locations }
      };
      return { locations, page: new ThreadsController(parts) };
    };
    const loading = new LazyThreads(load);
    const begin = (): void => {
      loading.get().catch((error: unknown) => {
        console.error('The task threads could not be loaded:', error);
      });
    };
    notebooks.widgetAdded.connect(begin);
    files?.widgetAdded.connect(begin);
    words?.changed.connect(() => {
      if (words.all.length > 0) {
        begin();
      }
    });
    const isOpen = (): boolean =>
      Boolean(
        notebooks.currentWidget ?? files?.currentWidget ?? words?.current
      );
    const commands = threadCommands(loading, isOpen, trans);
    for (const [command, options] of Object.entries(commands)) {
      app.commands.addCommand(command, options);
      palette?.addItem({ command, category: trans.__('AI') });
    }
    toolbars?.addFactory<Cell>('Cell', THREADS_ITEM, cell => {
      const button = new CommandToolbarButton({
        commands: app.commands,
        id: THREAD_COMMANDS.cell,
        label: () => loading.page?.countOf(cell) ?? ''
      });
      button.addClass('shoulders-CellThreads');
      return button;
    });
    return loading;
  }
};

interface ILoaded {
  readonly locations: IThreadLocations;
  readonly page: ThreadsController;
}

/** The locations of all threads; none before the first document is open. */
class LazyThreads implements IThreads {
  constructor(private readonly load: () => Promise<ILoaded>) {}

  readonly changed = new Signal<this, void>(this);

  get currentDocument(): string | null {
    return this.locations?.currentDocument ?? null;
  }

  of(sessionId: string): IThreadLocation | null {
    return this.locations?.of(sessionId) ?? null;
  }

  in(document: string): readonly IThreadLocation[] {
    return this.locations?.in(document) ?? [];
  }

  async reveal(session: Session): Promise<boolean> {
    return (await this.get()).locations.reveal(session);
  }

  /** The loaded threads code; loads it if needed. */
  async get(): Promise<ILoaded> {
    this.loaded ??= this.load();
    try {
      const loaded = await this.loaded;
      this.adopt(loaded);
      return loaded;
    } catch (error) {
      this.loaded = null; // Tried again with the next document or command.
      throw error;
    }
  }

  /** The controller, once loaded. */
  page: ThreadsController | null = null;

  private adopt({ locations, page }: ILoaded): void {
    if (this.locations === null) {
      this.locations = locations;
      this.page = page;
      locations.changed.connect(() => this.changed.emit());
      this.changed.emit();
    }
  }

  private locations: IThreadLocations | null = null;
  private loaded: Promise<ILoaded> | null = null;
}

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;
const OPEN_ARGUMENTS = {
  args: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The thread; else that at the cursor' }
    }
  }
} as const;

function threadCommands(
  loading: LazyThreads,
  isEnabled: () => boolean,
  trans: TranslationBundle
): Record<string, CommandRegistry.ICommandOptions> {
  const command = (
    label: string,
    act: (page: ThreadsController) => unknown
  ): CommandRegistry.ICommandOptions => ({
    label,
    isEnabled,
    describedBy: NO_ARGUMENTS,
    execute: async () => act((await loading.get()).page)
  });
  return {
    [THREAD_COMMANDS.start]: command(
      trans.__('Start an AI Thread Here'),
      page => page.start()
    ),
    [THREAD_COMMANDS.startOutput]: command(
      trans.__('Start an AI Thread About This Output'),
      page => page.startOutput()
    ),
    [THREAD_COMMANDS.next]: command(trans.__('Next AI Thread'), page =>
      page.step(1)
    ),
    [THREAD_COMMANDS.previous]: command(trans.__('Previous AI Thread'), page =>
      page.step(-1)
    ),
    [THREAD_COMMANDS.open]: {
      label: ({ id }) =>
        typeof id === 'string'
          ? (loading.page?.descriptionOf(id).label ?? id)
          : trans.__('Open the AI Thread Here'),
      iconClass: ({ id }) =>
        typeof id === 'string'
          ? `shoulders-ThreadMenu-icon ${loading.page?.descriptionOf(id).classes ?? ''}`
          : '',
      isEnabled: ({ id }) => typeof id === 'string' || isEnabled(),
      describedBy: OPEN_ARGUMENTS,
      execute: async ({ id }) =>
        (await loading.get()).page.open(typeof id === 'string' ? id : null)
    },
    [THREAD_COMMANDS.cell]: {
      ...command(trans.__('AI Threads of the Cell'), page => page.openCell()),
      icon: threadIcon
    }
  };
}
