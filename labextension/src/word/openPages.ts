/** The factory of Word pages and the list of the open ones. Made by the word plugin. */

import type { JupyterFrontEnd, ILabShell } from '@jupyterlab/application';
import {
  ABCWidgetFactory,
  DocumentWidget,
  type DocumentRegistry
} from '@jupyterlab/docregistry';
import { Signal } from '@lumino/signaling';

import type { IWordPages } from '../live-documents/wordPages';
import type { IWordServices } from './services';
import { WordDocument } from './wordDocument';
import type { WordModel } from './wordModel';

type WordWidget = DocumentWidget<WordDocument, WordModel>;

/** Makes the widgets of Word documents. */
export class WordPageFactory extends ABCWidgetFactory<WordWidget, WordModel> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<WordWidget>,
    private readonly words: IWordServices
  ) {
    super(options);
  }

  protected createNewWidget(
    context: DocumentRegistry.IContext<WordModel>
  ): WordWidget {
    const content = new WordDocument(context, this.words);
    const widget = new DocumentWidget({ content, context });
    content.widget = widget;
    widget.toolbar.hide(); // It would be an empty line.

    return widget;
  }
}

/** The open Word pages; lives as long as the browser page. */
export class OpenWordPages implements IWordPages {
  constructor(
    private readonly shell: JupyterFrontEnd.IShell,
    labShell: ILabShell | null
  ) {
    labShell?.currentChanged.connect(() => this.changed.emit());
  }

  readonly changed = new Signal<this, void>(this);
  readonly selectionChanged = new Signal<this, void>(this);

  get all(): readonly WordDocument[] {
    return this.pages;
  }

  get current(): WordDocument | null {
    const { currentWidget } = this.shell;
    return this.pages.find(({ widget }) => widget === currentWidget) ?? null;
  }

  at(path: string): WordDocument | null {
    const { current } = this;
    return current?.path === path
      ? current
      : (this.pages.find(page => page.path === path) ?? null);
  }

  /** Follow a new widget until it is closed. */
  add({ content }: WordWidget): void {
    this.pages = [...this.pages, content];
    content.changed.connect(() => this.changed.emit());
    content.selectionChanged.connect(() => this.selectionChanged.emit());
    content.disposed.connect(() => {
      this.pages = this.pages.filter(page => page !== content);
      this.changed.emit();
    });
    this.changed.emit();
  }

  private pages: readonly WordDocument[] = [];
}
