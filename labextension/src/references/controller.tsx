/**
 * References of this page: the panel's content, citations in notebooks, completion of keys, the bibliography cell.
 * Loaded by the plugin on first use.
 */

import '../../style/references/citations.css';

import type { EditorView } from '@codemirror/view';
import {
  Clipboard,
  Dialog,
  InputDialog,
  Notification,
  showDialog
} from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { infoOf, type IHttpClient } from '../client/http';
import { Icon } from '../lab/icons';
import { openTarget, type IDocumentParts } from '../lab/documentTarget';
import { visible } from '../text/hiddenCharacters';
import { citationText } from '../text/citationSyntax';
import { serverText } from '../text/serverMessages';
import type {
  AddedReference,
  CitationStyleList,
  Reference,
  ReferenceCheck,
  ReferenceFinding
} from '../wire/generated';
import { BIBLIOGRAPHY_KEY, BIBLIOGRAPHY_TAG, markOf } from './bibliographyCell';
import { CitationCard } from './citationCard';
import { cite, syntaxInFront } from './insertCitation';
import { KeyCompletion } from './keyCompletion';
import { ReferenceLibrary } from './library';
import { NotebookCitations } from './notebookCitations';
import { PanelStore } from './panelStore';
import type { IPanelContent } from './panelWidget';
import type { IPanelHost } from './panelHost';
import { ReferencesPanel } from './ReferencesPanel';

/** Services that references need. */
export interface IReferenceParts extends IDocumentParts {
  readonly http: IHttpClient;
  readonly trans: TranslationBundle;
}

/** Controls references; lives as long as the page. */
export class ReferenceController {
  constructor(private readonly parts: IReferenceParts) {
    const { http, trans } = parts;
    this.library = new ReferenceLibrary(http);
    this.completion = new KeyCompletion(this.library, trans);
    this.card = new CitationCard(trans, key => this.library.get(key));
  }

  /** The panel's content. */
  panel(): IPanelContent {
    const { trans } = this.parts;
    const store = new PanelStore(this.library, this.api());
    const host = this.panelHost(store);
    return {
      view: () => <ReferencesPanel store={store} host={host} />,
      dropFiles: paths => {
        const pdf = paths.find(path => /\.pdf$/i.test(path));
        if (pdf === undefined) {
          Notification.warning(trans.__('Drop a PDF to add the work it is.'));
        } else {
          void store.add(pdf, true);
        }
      },
      dropForeign: () =>
        void Notification.warning(
          trans.__(
            'Drop the file into the file browser first, then drag it from there.'
          )
        )
    };
  }

  /** Complete the key at the caret of an editor. */
  complete(view: EditorView): void {
    void this.completion.update(view);
  }

  /** The text changed so that no key is typed. */
  closeCompletion(): void {
    this.completion.close();
  }

  /** Show the citations of a notebook as text. */
  follow(panel: NotebookPanel): NotebookCitations {
    const known = this.notebooks.get(panel);
    if (known !== undefined) {
      return known;
    }
    const { http, trans } = this.parts;
    const citations = new NotebookCitations(panel, {
      ...{ http, trans, library: this.library, card: this.card },
      confirmReplace: () => this.confirmReplace(),
      fail: error => this.report(error)
    });
    this.notebooks.set(panel, citations);
    panel.disposed.connect(() => this.notebooks.delete(panel));
    return citations;
  }

  /** A bibliography may have changed. */
  refresh(): void {
    if (this.library.list !== null || this.library.error !== null) {
      void this.library.refresh();
    }
  }

  /** Insert the bibliography of the notebook in front, or change its style; asks for the style if none is given. */
  async insertBibliography(wanted: string | null): Promise<void> {
    const panel = this.parts.notebooks?.currentWidget ?? null;
    const { trans } = this.parts;
    if (panel === null) {
      Notification.warning(
        trans.__('Open a notebook to insert a bibliography.')
      );
      return;
    }
    try {
      const present = this.follow(panel).bibliography();
      const style = wanted ?? (await this.askStyle(present?.mark.style ?? ''));
      if (style !== null) {
        await this.writeBibliography(panel, style);
      }
    } catch (error) {
      this.report(error);
    }
  }

  private async writeBibliography(
    panel: NotebookPanel,
    style: string
  ): Promise<void> {
    const citations = this.follow(panel);
    await this.library.load();
    const text = await citations.bibliographyText(style);
    const present = citations.bibliography();
    if (present === null) {
      insertCell(panel, style, text);
    } else {
      citations.write(present.cell, style, text);
    }
    await citations.update();
  }

  private async askStyle(current: string): Promise<string | null> {
    const { http, trans } = this.parts;
    const { default: usual, styles } = await http.call<CitationStyleList>(
      'GET',
      'references/styles'
    );
    const titles = styles.map(({ id, title }) =>
      id.endsWith('.csl') ? `${title} (${id})` : title
    );
    const at = styles.findIndex(({ id }) => id === (current || usual));
    const { button, value } = await InputDialog.getItem({
      title: trans.__('Style of the bibliography'),
      items: titles,
      current: Math.max(at, 0),
      okLabel: trans.__('Insert')
    });
    const chosen = styles[titles.indexOf(value ?? '')];
    return button.accept && chosen !== undefined ? chosen.id : null;
  }

  private confirmReplace(): Promise<boolean> {
    const { trans } = this.parts;
    return new Promise(resolve => {
      Notification.warning(
        trans.__(
          'The bibliography was edited by hand, so it is not updated any more.'
        ),
        {
          autoClose: false,
          actions: [
            {
              label: trans.__('Replace my changes'),
              callback: () => resolve(true)
            },
            { label: trans.__('Keep them'), callback: () => resolve(false) }
          ]
        }
      );
    });
  }

  private api(): ConstructorParameters<typeof PanelStore>[1] {
    const { http } = this.parts;
    return {
      add: (text, isFile) =>
        http.call<AddedReference>(
          'POST',
          'references',
          isFile ? { file: text } : { query: text }
        ),
      check: path =>
        http.call<ReferenceCheck>('POST', 'references/check', { path }),
      remove: async ({ key, file }) => {
        await http.call('POST', 'references/delete', { key, file });
      }
    };
  }

  private panelHost(store: PanelStore): IPanelHost {
    const { app, editors, notebooks, trans } = this.parts;
    const targets = { app, editors, notebooks };
    const syntax = () => this.library.list?.syntax ?? 'myst';
    return {
      trans,
      Icon,
      cite: ({ key }) => {
        void cite(targets, key, syntax()).then(done => {
          if (!done) {
            Notification.warning(
              trans.__('Choose a Markdown cell or a text file to cite in.'),
              { autoClose: 4000 }
            );
          }
        });
      },
      citation: ({ key }) =>
        citationText([key], syntaxInFront(targets, syntax())),
      copy: text => Clipboard.copyToSystem(text),
      openFile: (path, line) =>
        openTarget(this.parts, {
          path,
          ...(line === null ? {} : { lines: { first: line, last: line } })
        }),
      openAddress: address => {
        if (/^https?:\/\//.test(address)) {
          window.open(address, '_blank', 'noopener,noreferrer');
        }
      },
      remove: reference => void this.remove(store, reference),
      goTo: finding => openTarget(this.parts, targetOf(finding)),
      insertBibliography: () => void this.insertBibliography(null),
      currentDocument: () => {
        const front = app.shell.currentWidget;
        return (
          notebooks?.find(panel => panel === front)?.context.localPath ?? null
        );
      }
    };
  }

  private async remove(store: PanelStore, reference: Reference): Promise<void> {
    const { trans } = this.parts;
    const { button } = await showDialog({
      title: trans.__('Delete this reference?'),
      body: trans.__(
        '%1 is removed from %2.',
        visible(reference.key),
        visible(reference.file)
      ),
      buttons: [
        Dialog.cancelButton(),
        Dialog.warnButton({ label: trans.__('Delete') })
      ]
    });
    if (button.accept) {
      await store.remove(reference);
    }
  }

  private report(error: unknown): void {
    const { hint, message } = infoOf(error);
    const { trans } = this.parts;
    const text = [message, hint ?? '']
      .filter(Boolean)
      .map(part => visible(serverText(trans, part)))
      .join(' ');
    if (this.reported !== text) {
      this.reported = text;
      Notification.error(text, { autoClose: 8000 });
    }
  }

  private readonly library: ReferenceLibrary;
  private readonly completion: KeyCompletion;
  private readonly card: CitationCard;
  private readonly notebooks = new Map<NotebookPanel, NotebookCitations>();
  private reported = '';
}

function targetOf(finding: ReferenceFinding): Parameters<typeof openTarget>[1] {
  const { cell_id, line, path } = finding;
  return {
    path,
    cellId: cell_id,
    ...(line === null ? {} : { lines: { first: line, last: line } })
  };
}

/** Insert a rendered Markdown cell with the bibliography at the end of a notebook. */
function insertCell(panel: NotebookPanel, style: string, text: string): void {
  const { content } = panel;
  const model = content.model;
  if (model === null) {
    return;
  }
  const at = model.sharedModel.cells.length;
  model.sharedModel.insertCell(at, {
    cell_type: 'markdown',
    source: text,
    metadata: {
      tags: [BIBLIOGRAPHY_TAG],
      [BIBLIOGRAPHY_KEY]: { ...markOf(style, text) }
    }
  });
  content.activeCellIndex = at;
  const cell: Cell | undefined = content.widgets[at];
  if (cell !== undefined && 'rendered' in cell) {
    cell.rendered = true;
  }
}
