/**
 * The status bar item. Uses no view library, because it is loaded with every JupyterLab. Used by the status plugin.
 */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import '../../style/lab/status-bar.css';

import {
  StatusBarState,
  type IStatusBarState
} from '../model/conversations/statusBarState';
import { formatMoney } from '../text/numberFormat';
import { visible } from '../text/hiddenCharacters';
import {
  EXTENSION_ID,
  type IConversations,
  type IShouldersClient
} from '../tokens';
import { sparkIcon } from '../lab/customIcons';

const RANK = 5;

const NOTHING: IStatusBarState = {
  model: null,
  running: 0,
  waiting: 0,
  cost: null,
  unknown: 0,
  limit: null
};

/** Services the item needs. */
export interface IStatusParts {
  readonly bar: IStatusBar;
  readonly client: IShouldersClient;
  readonly conversations: IConversations;
  readonly trans: TranslationBundle;
  /** Show the usage page. */
  readonly open: () => void;
}

/** Add the item; it lives as long as the page and is hidden if the preferences say so. */
export function addStatusItem(
  parts: IStatusParts,
  settings: ISettingRegistry.ISettings | undefined
): void {
  const { bar, client, conversations, trans, open } = parts;
  const facts = new StatusBarState(client.http, client.socket, conversations);
  const item = new StatusItem(trans, open);
  const activeStateChanged = new Signal<Widget, void>(item);
  facts.changed.connect(() => item.showState(facts.current));
  settings?.changed.connect(() => activeStateChanged.emit());
  bar.registerStatusItem(`${EXTENSION_ID}:status`, {
    item,
    align: 'right',
    rank: RANK,
    isActive: () => settings?.composite.showItem !== false,
    activeStateChanged
  });
  facts.read();
}

/** A button with the status text. */
class StatusItem extends Widget {
  constructor(
    private readonly trans: TranslationBundle,
    open: () => void
  ) {
    super();
    this.addClass('shoulders-StatusItem');
    this.button.type = 'button';
    this.button.addEventListener('click', open);
    sparkIcon.element({ container: this.icon, height: '14px', width: '14px' });
    this.button.append(this.icon, this.text);
    this.node.append(this.button);
    this.showState(NOTHING);
  }

  showState(facts: IStatusBarState): void {
    const { trans, button } = this;
    this.text.textContent = statusText(facts, trans);
    button.title = statusTitle(facts, trans);
    button.classList.toggle('shoulders-mod-high', isHigh(facts));
  }

  private readonly button = document.createElement('button');
  private readonly icon = document.createElement('span');
  private readonly text = document.createElement('span');
}

/** Model, running turns and the month's cost; unknown values are left out. */
function statusText(facts: IStatusBarState, trans: TranslationBundle): string {
  const { model, running, waiting } = facts;
  const parts = [
    model === null ? trans.__('no AI model') : visible(model),
    running === 0 ? '' : trans._n('%1 running', '%1 running', running),
    waiting === 0
      ? ''
      : trans._n('%1 waiting for you', '%1 waiting for you', waiting),
    costText(facts, trans)
  ];
  return parts.filter(part => part !== '').join(' · ');
}

/** The month's cost; an unknown cost is never shown as 0. */
function costText(
  { cost, unknown }: IStatusBarState,
  trans: TranslationBundle
): string {
  if (cost === null) {
    return '';
  }
  if (unknown === 0) {
    return formatMoney(cost);
  }
  return cost === 0
    ? trans.__('cost unknown')
    : trans.__('over %1', formatMoney(cost));
}

function statusTitle(facts: IStatusBarState, trans: TranslationBundle): string {
  const { limit } = facts;
  const cost = costText(facts, trans);
  const spent =
    cost === ''
      ? ''
      : limit === null
        ? trans.__('AI this month: %1.', cost)
        : trans.__('AI this month: %1 of %2.', cost, formatMoney(limit));
  return [spent, trans.__('Click for usage.')]
    .filter(part => part !== '')
    .join(' ');
}

function isHigh({ cost, limit }: IStatusBarState): boolean {
  return cost !== null && limit !== null && cost >= limit * 0.8;
}
