/**
 * The citations of one notebook: shown as text in its rendered cells, and its bibliography cell kept up to date. Lives
 * as long as the notebook's panel. Made by the controller.
 */

import { MarkdownCell, type Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { findCitations } from '../text/citationSyntax';
import {
  BIBLIOGRAPHY_KEY,
  markOf,
  readMark,
  updateOf,
  type IBibliographyMark
} from './bibliographyCell';
import type { CitationCard } from './citationCard';
import {
  markCitations,
  paintCitations,
  type ICitationSpan
} from './citationMarks';
import { CitationFormatter, clusterId, type Cluster } from './formatter';
import type { ReferenceLibrary } from './library';
import type { IHttpClient } from '../client/http';

const PAUSE_MS = 300;

/** What the citations of a notebook need. */
export interface INotebookCitationParts {
  readonly http: IHttpClient;
  readonly library: ReferenceLibrary;
  readonly card: CitationCard;
  readonly trans: TranslationBundle;
  /** Ask whether a bibliography that the user has edited is replaced. */
  readonly confirmReplace: (panel: NotebookPanel) => Promise<boolean>;
  readonly fail: (error: unknown) => void;
}

export class NotebookCitations {
  constructor(
    private readonly panel: NotebookPanel,
    private readonly parts: INotebookCitationParts
  ) {
    this.formatter = new CitationFormatter(parts.http);
    this.observer = new MutationObserver(records => {
      if (records.some(({ target }) => isRendered(target))) {
        this.drawSoon();
      }
    });
    this.observer.observe(panel.content.node, {
      childList: true,
      subtree: true
    });
    panel.content.model?.contentChanged.connect(this.onContent);
    parts.library.changed.connect(this.onLibrary);
    panel.disposed.connect(() => this.dispose());
    this.updateSoon(0);
  }

  dispose(): void {
    this.observer.disconnect();
    window.clearTimeout(this.timer);
    this.panel.content.model?.contentChanged.disconnect(this.onContent);
    this.parts.library.changed.disconnect(this.onLibrary);
    this.parts.card.hide();
  }

  /** The bibliography cell and its mark; null without one. */
  bibliography(): { cell: Cell; mark: IBibliographyMark } | null {
    for (const cell of this.panel.content.widgets) {
      const mark = readMark(cell.model.getMetadata(BIBLIOGRAPHY_KEY));
      if (mark !== null && cell instanceof MarkdownCell) {
        return { cell, mark };
      }
    }
    return null;
  }

  /** The clusters of the notebook in order, those of the bibliography left out; bare keys only if they are known. */
  clusters(): readonly Cluster[] {
    const { content } = this.panel;
    const own = this.bibliography()?.cell;
    return content.widgets
      .filter(cell => cell.model.type === 'markdown' && cell !== own)
      .flatMap(({ model }) => findCitations(model.sharedModel.getSource()))
      .filter(({ isBare, keys }) => !isBare || keys.every(this.isKnown))
      .map(({ keys }) => keys);
  }

  /** The bibliography's text in a style. */
  async bibliographyText(style: string): Promise<string> {
    const { markdown } = await this.formatter.format(
      this.clusters(),
      style,
      this.version
    );
    return markdown || `*${this.parts.trans.__('No works are cited yet.')}*`;
  }

  /** Format the citations again, and show them. */
  async update(): Promise<void> {
    const clusters = this.clusters();
    const own = this.bibliography();
    if (clusters.length === 0 && own === null) {
      return;
    }
    await this.parts.library.load();
    const style = own?.mark.style ?? '';
    const known = this.clusters();
    const run = ++this.runs;
    try {
      const { citations } = await this.formatter.format(
        known,
        style,
        this.version
      );
      if (run < this.shown) {
        return; // a later answer came first
      }
      this.shown = run;
      this.texts = new Map(
        known.map((keys, at) => [clusterId(keys), citations[at] ?? ''])
      );
      this.draw();
      if (own !== null) {
        await this.updateBibliography(style);
      }
    } catch (error) {
      this.draw();
      this.parts.fail(error);
    }
  }

  private async updateBibliography(style: string): Promise<void> {
    const wanted = await this.bibliographyText(style);
    const found = this.bibliography();
    if (found === null || this.panel.isDisposed) {
      return;
    }
    const { cell, mark } = found;
    const { activeCell, mode } = this.panel.content;
    const isTyping = activeCell === cell && mode === 'edit';
    const source = cell.model.sharedModel.getSource();
    const what = updateOf(source, mark, wanted);
    if (what === 'none') {
      this.last = this.last?.text === source ? this.last : null;
    } else if (!isTyping && (await this.mayReplace(what, source, wanted))) {
      this.write(cell, mark.style, wanted);
    }
  }

  /** Whether the bibliography may be written; asks once about one that the user has edited. */
  private async mayReplace(
    what: 'write' | 'edited',
    source: string,
    wanted: string
  ): Promise<boolean> {
    if (what === 'write') {
      return !this.isUndone(source, wanted);
    }
    if (this.refused === source) {
      return false;
    }
    this.refused = source;
    return this.parts.confirmReplace(this.panel);
  }

  /** Write a bibliography as one step of the cell's undo, which has the notebook's steps only in some settings. */
  write(cell: Cell, style: string, text: string): void {
    const { sharedModel } = cell.model;
    this.last = { before: sharedModel.getSource(), text };
    sharedModel.transact(() => {
      sharedModel.setSource(text);
      sharedModel.setMetadata(BIBLIOGRAPHY_KEY, { ...markOf(style, text) });
    });
  }

  /** Whether the user has undone this very update; it is not repeated until another one is due. */
  private isUndone(source: string, wanted: string): boolean {
    return this.last?.before === source && this.last.text === wanted;
  }

  private drawSoon(): void {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.draw();
      });
    }
  }

  private draw(): void {
    const { content } = this.panel;
    if (this.panel.isDisposed || this.parts.library.list === null) {
      return;
    }
    const own = this.bibliography()?.cell;
    for (const cell of content.widgets) {
      if (cell instanceof MarkdownCell && cell.rendered && cell !== own) {
        this.drawCell(cell);
      }
    }
    this.spans = this.spans.filter(({ node }) => node.isConnected);
    const { trans } = this.parts;
    paintCitations(this.spans, this.texts, this.isKnown, keys =>
      trans.__('No bibliography has %1', keys.join(', '))
    );
  }

  private drawCell(cell: MarkdownCell): void {
    const rendered =
      cell.node.querySelectorAll<HTMLElement>('.jp-MarkdownOutput');
    for (const root of rendered) {
      const spans = markCitations(root, this.isKnown);
      spans.forEach(span => this.parts.card.attach(span));
      this.spans.push(...spans);
    }
  }

  private updateSoon(delay = PAUSE_MS): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.update(), delay);
  }

  private readonly isKnown = (key: string): boolean =>
    this.parts.library.get(key) !== undefined;

  private readonly onContent = (): void => this.updateSoon();

  private readonly onLibrary = (): void => {
    this.version += 1;
    this.updateSoon();
  };

  private readonly formatter: CitationFormatter;
  private readonly observer: MutationObserver;
  private spans: ICitationSpan[] = [];
  private texts: ReadonlyMap<string, string> = new Map();
  /** Counts the changes of bibliographies. */
  private version = 0;
  /** An edited bibliography that the user keeps. */
  private refused: string | null = null;
  /** The last update of the bibliography. */
  private last: { readonly before: string; readonly text: string } | null =
    null;
  /** Counts requests; the latest one whose answer is shown. */
  private runs = 0;
  private shown = 0;
  private isWaiting = false;
  private timer = 0;
}

function isRendered(node: Node): boolean {
  return node instanceof Element && node.closest('.jp-MarkdownOutput') !== null;
}
