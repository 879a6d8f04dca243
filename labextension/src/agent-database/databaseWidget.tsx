/** The agent's database as a tab of the main area. Loaded by the plugin when it is opened. */

import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { IHttpClient } from '../client/http';
import { sparkIcon } from '../lab/customIcons';
import { Icon } from '../lab/icons';
import { download } from '../ui/download';
import { databaseApi, type IDatabaseApi } from './api';
import type { IDatabaseHost } from './databaseHost';
import { DatabaseView } from './DatabaseView';

export const WIDGET_ID = 'jupyter-ai-shoulders-agent-database';

/** Return a new tab. */
export function makeDatabaseWidget(
  http: IHttpClient,
  trans: TranslationBundle
): MainAreaWidget {
  const host = { trans, Icon, save: download };
  const content = new DatabaseWidget(databaseApi(http), host);
  const frame = new MainAreaWidget({ content });
  frame.toolbar.hide();
  frame.id = WIDGET_ID;
  frame.title.label = trans.__('Agent’s Database');
  frame.title.caption = frame.title.label;
  frame.title.icon = sparkIcon;
  frame.title.closable = true;
  return frame;
}

/** Reads the tables again when it is shown. */
class DatabaseWidget extends ReactWidget {
  constructor(
    private readonly api: IDatabaseApi,
    private readonly host: IDatabaseHost
  ) {
    super();
    this.addClass('shoulders-SettingsWidget');
  }

  protected override render(): React.JSX.Element {
    return <DatabaseView host={this.host} api={this.api} shown={this.times} />;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    // JupyterLab's frame sets another name.
    this.node.setAttribute('role', 'region');
    this.node.setAttribute(
      'aria-label',
      this.host.trans.__('The agent’s database')
    );
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.times++;
    this.update();
  }

  protected override onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      this.node.querySelector<HTMLElement>('button')?.focus();
    }
  }

  private times = 0;
}
