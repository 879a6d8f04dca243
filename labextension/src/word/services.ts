/** What Word pages need of the page around them; provided by the word plugin. */

import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';

import type { IHttpClient } from '../client/http';
import type { ServerFrame } from '../wire/generated';

/** What a Word page needs of the page around it. */
export interface IWordServices {
  readonly http: Pick<IHttpClient, 'call'>;
  readonly files: Pick<Contents.IManager, 'get' | 'getDownloadUrl'>;
  readonly frames: ISignal<unknown, ServerFrame>;
  readonly trans: TranslationBundle;
  /** Show the review of the agent's changes. */
  readonly openReview: () => void;
}
