/** The places of threads as they were logged last; stands in for the places that follow the text. */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { IConversations } from '../model/interface';
import type { Session } from '../wire/generated';
import type { IThreadPlace, IThreadPlaces } from './interface';

interface ILoggedPlacesOptions {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly documents: IDocumentManager;
  readonly conversations: IConversations;
  readonly http: unknown;
}

export class ThreadPlaces implements IThreadPlaces {
  constructor(private readonly options: ILoggedPlacesOptions) {
    const { conversations, notebooks, files } = options;
    conversations.history.changed.connect(() => this.changed.emit());
    for (const tracker of [notebooks, files]) {
      tracker?.widgetAdded.connect((_, { context }) =>
        this.look(context.localPath)
      );
      tracker?.forEach(({ context }) => this.look(context.localPath));
      tracker?.currentChanged.connect(() => this.changed.emit());
    }
  }

  readonly changed = new Signal<this, void>(this);

  get here(): string | null {
    const { notebooks, files } = this.options;
    return (
      notebooks.currentWidget?.context.localPath ??
      files?.currentWidget?.context.localPath ??
      null
    );
  }

  of(sessionId: string): IThreadPlace | null {
    const session = this.options.conversations.history.get(sessionId);
    return session === undefined ? null : this.placeOf(session);
  }

  in(document: string): readonly IThreadPlace[] {
    return this.options.conversations.history.all
      .filter(
        ({ kind, anchor }) => kind === 'task' && anchor?.document === document
      )
      .flatMap(session => this.placeOf(session) ?? [])
      .sort(
        (a, b) =>
          (a.number ?? 0) - (b.number ?? 0) ||
          (a.anchor.range?.from ?? 0) - (b.anchor.range?.from ?? 0)
      );
  }

  async reveal({ anchor }: Session): Promise<boolean> {
    const widget = this.options.documents.openOrReveal(anchor?.document ?? '');
    await widget?.context.ready;
    return widget !== undefined;
  }

  private placeOf({ id, anchor }: Session): IThreadPlace | null {
    if (anchor === null) {
      return null;
    }
    const panel = this.options.notebooks.find(
      ({ context }) => context.localPath === anchor.document
    );
    const index =
      panel?.content.widgets.findIndex(
        ({ model }) => model.id === anchor.cell_id
      ) ?? -1;
    return {
      sessionId: id,
      anchor,
      number: index < 0 ? null : index + 1,
      line: null
    };
  }

  private look(document: string): void {
    void this.options.conversations.threads.look(document);
  }
}
