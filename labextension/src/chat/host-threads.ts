/** The places of task threads, as the views see them; a part of `IChatHost`. */

import type { IThreadPlaces } from '../threads/interface';

/** What the lab's page knows of threads. */
export interface IThreadsHost {
  /** Where the threads of open documents are; null in a page that marks none. */
  readonly threads: IThreadPlaces | null;
}
