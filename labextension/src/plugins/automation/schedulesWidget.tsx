/** The page of schedules as a JupyterLab widget. Loaded by the schedules plugin when the page is opened. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  Dialog,
  MainAreaWidget,
  showDialog,
  type WidgetTracker
} from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import { sparkIcon } from '../../lab/customIcons';
import { Icon } from '../../lab/icons';
import {
  schedulesApi,
  SchedulesStore,
  type IScheduleStart
} from '../../schedules/api';
import type { ISchedulesHost } from '../../schedules/host';
import { SchedulesPage } from '../../schedules/SchedulesPage';
import {
  EXTENSION_ID,
  type IConversations,
  type IShouldersClient
} from '../../tokens';

/** Services the page needs. */
export interface ISchedulesParts {
  readonly app: JupyterFrontEnd;
  readonly client: IShouldersClient;
  readonly conversations: IConversations;
  readonly documents: IDocumentManager;
  readonly tracker: WidgetTracker;
  readonly trans: TranslationBundle;
  readonly area: 'main' | 'left';
}

/** The page, created again after it was closed. */
export class SchedulesPageOpener {
  constructor(private readonly parts: ISchedulesParts) {
    const { client } = parts;
    this.host = makeHost(
      parts,
      new SchedulesStore(schedulesApi(client.http), client.socket)
    );
  }

  /** Show the page; with a start, its form for a new schedule. */
  show(start: IScheduleStart | null): void {
    const { app, area, tracker, trans } = this.parts;
    if (start !== null) {
      this.host.store.start(start);
    }
    if (this.frame === null || this.frame.isDisposed) {
      this.page = new SchedulesWidget(this.host);
      const frame = area === 'main' ? framed(this.page) : this.page;
      frame.id = `${EXTENSION_ID}-schedules`;
      frame.title.label = trans.__('Schedules and Watchers');
      frame.title.caption = trans.__('Schedules and Watchers');
      frame.title.icon = sparkIcon;
      frame.title.closable = true;
      app.shell.add(frame, area, { type: 'AI schedules' });
      void tracker.add(frame);
      this.frame = frame;
    }
    app.shell.activateById(this.frame.id);
  }

  private readonly host: ISchedulesHost;
  private page: SchedulesWidget | null = null;
  private frame: Widget | null = null;
}

/** The page in the main area, without a toolbar. */
function framed(content: Widget): Widget {
  const frame = new MainAreaWidget({ content });
  frame.toolbar.hide();
  return frame;
}

class SchedulesWidget extends ReactWidget {
  constructor(private readonly host: ISchedulesHost) {
    super();
    this.addClass('shoulders-SchedulesWidget');
  }

  protected override render(): React.JSX.Element {
    return <SchedulesPage host={this.host} />;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    // JupyterLab's frame sets another name.
    this.node.setAttribute('role', 'region');
    this.node.setAttribute(
      'aria-label',
      this.host.trans.__('Schedules and watchers')
    );
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.host.store.refresh();
  }

  protected override onActivateRequest(): void {
    // Once the page is rendered, and unless its form took the focus.
    void this.renderPromise?.then(() => {
      const { node } = this;
      const { activeElement } = document;
      if (activeElement === node || !node.contains(activeElement)) {
        node.querySelector<HTMLElement>('h2')?.focus();
      }
    });
  }
}

function makeHost(
  parts: ISchedulesParts,
  store: SchedulesStore
): ISchedulesHost {
  const { app, conversations, documents, trans } = parts;
  const { commands } = app;
  return {
    trans,
    Icon,
    store,
    confirm: async (title, body, accept) => {
      const { button } = await showDialog({
        title,
        body,
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.warnButton({ label: accept })
        ]
      });
      return button.accept;
    },
    openConversation: sessionId => {
      conversations.open(sessionId);
      void commands.execute(`${EXTENSION_ID}:focus-chat`);
    },
    openDocument: path => {
      documents.openOrReveal(path);
    },
    openSettings: () => {
      void commands.execute(`${EXTENSION_ID}:open-settings`, {
        section: 'schedules'
      });
    }
  };
}
