/** The References panel as a JupyterLab widget; its content is loaded when it is first shown. Made by the plugin. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import * as React from 'react';

import { EXTENSION_ID } from '../tokens';
import { referencesIcon } from '../lab/customIcons';

const CONTENTS_MIME = 'application/x-jupyter-icontents';

/** What the plugin loads for the panel. */
export interface IPanelContent {
  readonly view: () => React.JSX.Element;
  /** Files of the workspace were dropped. */
  readonly dropFiles: (paths: readonly string[]) => void;
  /** Files from outside of the lab were dropped. */
  readonly dropForeign: () => void;
}

/** A Lumino drag with data; the type of `@lumino/dragdrop`, which is no dependency. */
interface ILuminoDrag extends Event {
  readonly mimeData: {
    hasData(type: string): boolean;
    getData(type: string): unknown;
  };
  dropAction: string;
}

export class ReferencesWidget extends ReactWidget {
  constructor(
    trans: TranslationBundle,
    private readonly load: () => Promise<IPanelContent>
  ) {
    super();
    this.id = `${EXTENSION_ID}-references`;
    this.title.caption = trans.__('References');
    this.title.icon = referencesIcon.bindprops({ stylesheet: 'sideBar' });
    this.addClass('shoulders-Chat');
    this.addClass('shoulders-ReferencesWidget');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.caption);
  }

  /** Put the focus into the search field. */
  focusField(): void {
    void this.ready().then(async () => {
      await this.renderPromise;
      this.node
        .querySelector<HTMLInputElement>('.shoulders-References-search')
        ?.focus();
    });
  }

  /** Add the works of files of the workspace. */
  addFiles(paths: readonly string[]): void {
    void this.ready().then(() => this.content?.dropFiles(paths));
  }

  protected override render(): React.JSX.Element | null {
    const View = this.content?.view;
    return View === undefined ? null : <View />;
  }

  /** The panel is shown again. */
  readonly shown = new Signal<this, void>(this);

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.ready();
    this.shown.emit();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    EVENTS.forEach(type => this.node.addEventListener(type, this));
    if (this.isVisible) {
      void this.ready();
    }
  }

  protected override onBeforeDetach(message: Message): void {
    EVENTS.forEach(type => this.node.removeEventListener(type, this));
    super.onBeforeDetach(message);
  }

  handleEvent(event: Event): void {
    switch (event.type) {
      case 'dragover':
        event.preventDefault();
        break;
      case 'drop':
        this.onForeignDrop(event as DragEvent); // by its type
        break;
      default:
        this.onDrag(event as ILuminoDrag); // by its type
    }
  }

  private onForeignDrop(event: DragEvent): void {
    if (event.dataTransfer?.types.includes('Files') === true) {
      event.preventDefault();
      this.content?.dropForeign();
    }
  }

  private onDrag(event: ILuminoDrag): void {
    if (!event.mimeData.hasData(CONTENTS_MIME)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    event.dropAction = 'copy';
    const paths = event.mimeData.getData(CONTENTS_MIME);
    if (event.type === 'lm-drop' && Array.isArray(paths)) {
      this.content?.dropFiles(paths.map(String));
    }
  }

  private async ready(): Promise<void> {
    this.loading ??= this.load();
    this.content = await this.loading;
    this.update();
  }

  private content: IPanelContent | null = null;
  private loading: Promise<IPanelContent> | null = null;
}

const EVENTS = [
  'lm-dragenter',
  'lm-dragover',
  'lm-drop',
  'dragover',
  'drop'
] as const;
