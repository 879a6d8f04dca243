/**
 * The status bar item about the index: shown while it is built, and when that failed. Uses no view library. Loaded by
 * the search plugin when the server reports the first change of the index.
 */

import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import '../../style/lab/status-bar.css';

import type { IHttpClient } from '../client/http';
import { visible } from '../text/hiddenCharacters';
import { groupCounts, groupDigits } from '../text/numberFormat';
import { serverText } from '../text/serverMessages';
import { EXTENSION_ID } from '../tokens';
import type { SearchIndexStatus } from '../wire/generated';
import { LatestRequest } from './latestRequest';

const RANK = 6;

/** Services the item needs. */
export interface IIndexStatusParts {
  readonly bar: IStatusBar;
  readonly http: Pick<IHttpClient, 'call'>;
  readonly trans: TranslationBundle;
  /** Show the search settings. */
  readonly open: () => void;
}

/** Add the item; it lives as long as the page. Returns a function that requests the state of the index. */
export function addIndexStatusItem(parts: IIndexStatusParts): () => void {
  const { bar, http, trans, open } = parts;
  const item = new IndexStatusItem(trans, open);
  const activeStateChanged = new Signal<Widget, void>(item);
  bar.registerStatusItem(`${EXTENSION_ID}:search-index`, {
    item,
    align: 'right',
    rank: RANK,
    isActive: () => item.isWanted,
    activeStateChanged
  });
  const requests = new LatestRequest<void>(async () => {
    item.showStatus(await statusOf(http));
    activeStateChanged.emit();
  });
  return () => requests.ask();
}

/** The state of the index; null when search is off or the server does not answer. */
async function statusOf(
  http: IIndexStatusParts['http']
): Promise<SearchIndexStatus | null> {
  try {
    return await http.call<SearchIndexStatus>('GET', 'search/index');
  } catch {
    return null; // The settings show the error.
  }
}

class IndexStatusItem extends Widget {
  constructor(
    private readonly trans: TranslationBundle,
    open: () => void
  ) {
    super();
    this.addClass('shoulders-IndexStatus');
    this.button.type = 'button';
    this.button.addEventListener('click', open);
    this.button.append(this.text);
    this.node.append(this.button);
  }

  /** Whether there is something to show. */
  get isWanted(): boolean {
    return this.text.textContent !== '';
  }

  showStatus(status: SearchIndexStatus | null): void {
    const { trans } = this;
    this.text.textContent = statusText(status, trans);
    const problem = status?.problems.find(({ path }) => path === null);
    this.button.title = [
      status?.state === 'failed' && problem !== undefined
        ? visible(groupCounts(serverText(trans, problem.message)))
        : '',
      trans.__('Click for the search settings.')
    ]
      .filter(part => part !== '')
      .join(' ');
  }

  private readonly button = document.createElement('button');
  private readonly text = document.createElement('span');
}

/** The text of the item; empty for a state that needs none. */
export function statusText(
  status: SearchIndexStatus | null,
  trans: TranslationBundle
): string {
  if (status?.state === 'building') {
    const { behind } = status;
    return groupDigits(
      trans._n('Indexing: %1 file left', 'Indexing: %1 files left', behind),
      behind
    );
  }
  return status?.state === 'failed' ? trans.__('Search index failed') : '';
}
