/**
 * The references plugin: the References panel, citations in notebooks, completion of keys, the bibliography cell. At
 * start-up only what notices the first citation is loaded.
 */

import { Prec } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry
} from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';

import { referencesIcon } from '../lab/customIcons';
import { CITATION_MIME, REFERENCE_COMMANDS } from '../references/commandIds';
import type { ReferenceController } from '../references/controller';
import { ReferencesWidget } from '../references/panelWidget';
import { EXTENSION_ID, IShouldersClient, TRANSLATION_DOMAIN } from '../tokens';

const ID = `${EXTENSION_ID}:references`;
const RANK = 450;
const PAUSE_MS = 1_000;
/** What a citation begins with; a cell with it makes the rest load. */
const CITATION = /(?:^|[\s[(;])-?@\w|\{cite|\\[A-Za-z]*[cC]ite/;
/** Editors that citations are written in. */
const PROSE = /gfm|markdown|latex|stex|quarto/;

type Load = () => Promise<ReferenceController>;

/** Adds references. */
export const references: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Bibliographies, citations and their completion.',
  autoStart: true,
  requires: [IShouldersClient, IDocumentManager],
  optional: [
    INotebookTracker,
    IEditorTracker,
    IEditorExtensionRegistry,
    ICommandPalette,
    ILayoutRestorer,
    ITranslator,
    IFileBrowserFactory
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    documents: IDocumentManager,
    notebooks: INotebookTracker | null,
    editors: IEditorTracker | null,
    extensions: IEditorExtensionRegistry | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    const { http, socket } = client;
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    let controller: ReferenceController | null = null;
    const load: Load = async () => {
      const { ReferenceController } = await import('../references/controller');
      controller ??= new ReferenceController({
        ...{ app, http, documents, notebooks, editors, trans }
      });
      return controller;
    };
    const panel = new ReferencesWidget(trans, async () =>
      (await load()).panel()
    );
    app.shell.add(panel, 'left', { rank: RANK });
    restorer?.add(panel, panel.id);
    addCommands(app, { load, panel, palette, trans });
    if (browsers !== null) {
      addFileCommand(app, panel, browsers, trans);
    }
    extensions?.addExtension({
      name: ID,
      factory: ({ model }) =>
        EditorExtensionRegistry.createImmutableExtension([
          keyListener(() => PROSE.test(model.mimeType), load),
          DROPPED_CITATIONS
        ])
    });
    notebooks?.widgetAdded.connect((_, added) => followNotebook(added, load));
    notebooks?.forEach(open => followNotebook(open, load));
    followChanges(app, socket, panel, () => controller);
  }
};

/** Notice bibliographies that change in this page, by the agent and by other programs, and the settings of citations. */
function followChanges(
  app: JupyterFrontEnd,
  socket: IShouldersClient['socket'],
  panel: ReferencesWidget,
  controller: () => ReferenceController | null
): void {
  app.serviceManager.contents.fileChanged.connect(
    (_, { newValue, oldValue }) => {
      if (/\.bib$/i.test(newValue?.path ?? oldValue?.path ?? '')) {
        controller()?.refresh();
      }
    }
  );
  socket.frameReceived.connect((_, frame) => {
    if (
      frame.type === 'edits-update' ||
      (frame.type === 'settings-update' && frame.part === 'settings')
    ) {
      controller()?.refresh();
    }
  });
  // Another program writes while the window has no focus, or while the panel is hidden.
  window.addEventListener('focus', () => controller()?.refresh());
  panel.shown.connect(() => controller()?.refresh());
}

function addCommands(
  app: JupyterFrontEnd,
  parts: {
    load: Load;
    panel: ReferencesWidget;
    palette: ICommandPalette | null;
    trans: TranslationBundle;
  }
): void {
  const { load, panel, palette, trans } = parts;
  app.commands.addCommand(REFERENCE_COMMANDS.open, {
    label: trans.__('References'),
    caption: trans.__('Show the references of the workspace'),
    icon: referencesIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => {
      app.shell.activateById(panel.id);
      panel.focusField();
    }
  });
  app.commands.addCommand(REFERENCE_COMMANDS.insertBibliography, {
    label: trans.__('Insert Bibliography'),
    caption: trans.__(
      'Insert the bibliography of this notebook, or change its style'
    ),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          style: {
            type: 'string',
            description: 'Name of a style, or the path of a .csl file'
          }
        }
      }
    },
    execute: async ({ style }) =>
      (await load()).insertBibliography(
        typeof style === 'string' ? style : null
      )
  });
  for (const command of [
    REFERENCE_COMMANDS.open,
    REFERENCE_COMMANDS.insertBibliography
  ]) {
    palette?.addItem({ command, category: trans.__('AI') });
  }
}

/** Add the work of a PDF from the file browser's menu: both panels are in one side bar, so a drag is not always possible. */
function addFileCommand(
  app: JupyterFrontEnd,
  panel: ReferencesWidget,
  browsers: IFileBrowserFactory,
  trans: TranslationBundle
): void {
  const command = REFERENCE_COMMANDS.addFile;
  app.commands.addCommand(command, {
    label: trans.__('Add to References'),
    caption: trans.__('Add the work of this PDF to the references'),
    icon: referencesIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => {
      const browser = browsers.tracker.currentWidget;
      const paths = [...(browser?.selectedItems() ?? [])].map(
        ({ path }) => path
      );
      app.shell.activateById(panel.id);
      panel.addFiles(paths);
    }
  });
  app.contextMenu.addItem({
    command,
    selector: '.jp-DirListing-item[data-file-type="pdf" i]',
    rank: 5
  });
}

/** Notices that a key is typed; the list is loaded then. */
function keyListener(isProse: () => boolean, load: Load) {
  let loaded: ReferenceController | null = null;
  const complete = async (view: EditorView): Promise<void> => {
    loaded ??= await load();
    loaded.complete(view);
  };
  return EditorView.updateListener.of(update => {
    const { head } = update.state.selection.main;
    const before = update.state.doc.sliceString(Math.max(0, head - 200), head);
    const isTyped = update.transactions.some(
      transaction =>
        transaction.isUserEvent('input.type') ||
        transaction.isUserEvent('delete')
    );
    if (isTyped && isProse() && CITATION_TYPED.test(before)) {
      void complete(update.view);
    } else if (update.docChanged || update.selectionSet) {
      loaded?.closeCompletion();
    }
  });
}

/** Takes citations dragged from the panel; JupyterLab's own handler of Markdown cells drops all but files. */
const DROPPED_CITATIONS = Prec.highest(
  EditorView.domEventHandlers({
    drop: (event, view) => {
      const insert = event.dataTransfer?.getData(CITATION_MIME) ?? '';
      if (insert === '' || view.state.readOnly) {
        return false;
      }
      const from = view.posAtCoords(
        { x: event.clientX, y: event.clientY },
        false
      );
      view.dispatch({
        changes: { from, insert },
        selection: { anchor: from + insert.length },
        userEvent: 'input.drop'
      });
      view.focus();
      return true;
    }
  })
);

const CITATION_TYPED =
  /(?:@[^\s@]*|\{cite[a-z:]*\}`[^`\n]*|\\[A-Za-z]*[cC]ite[a-zA-Z]*\*?(?:\[[^\]\n]*\])*\{[^}\n]*)$/;

/** Show a notebook's citations once it has some. */
function followNotebook(panel: NotebookPanel, load: Load): void {
  let timer = 0;
  const look = (): void => {
    const { model } = panel.content;
    const cites = panel.content.widgets.some(
      cell =>
        cell.model.type === 'markdown' &&
        CITATION.test(cell.model.sharedModel.getSource())
    );
    if (cites && !panel.isDisposed) {
      model?.contentChanged.disconnect(soon);
      void load().then(controller => controller.follow(panel));
    }
  };
  const soon = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(look, PAUSE_MS);
  };
  void panel.context.ready.then(() => {
    panel.content.model?.contentChanged.connect(soon);
    look();
  });
  panel.disposed.connect(() => window.clearTimeout(timer));
}
