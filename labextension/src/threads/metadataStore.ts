/**
 * Stores the list of a notebook's threads in its metadata, so that they travel with the file: anchors and quotes, no
 * messages. Written only if the user enabled it. Used by `ThreadLocations`. See docs/design/task-threads.md.
 */

import type { YNotebook } from '@jupyter/ydoc';
import type { PartialJSONObject } from '@lumino/coreutils';

import type { IHttpClient } from '../client/http';
import type {
  AdoptThreads,
  AdoptedThreads,
  Anchor,
  ListedThread,
  Settings
} from '../wire/generated';
import type { ThreadDocument } from './threadDocument';

/** Key in the notebook's metadata. */
const KEY = 'jupyter_ai_shoulders';
/** Limit of entries that are read. */
const MAX_ENTRIES = 1_000;

/** An entry of the list. */
interface Entry {
  id: string;
  cell_id: string | null;
  target: Anchor['target'];
  range: { from: number; to: number } | null;
  quote: string;
  prefix: string;
  suffix: string;
  /** For an output; earlier versions did not write it. */
  output?: { index: number; nth: number; alike: number };
}

/** The thread list of one notebook. */
export class ThreadMetadataStore {
  constructor(
    private readonly http: Pick<IHttpClient, 'call'>,
    private readonly document: Pick<
      ThreadDocument,
      'context' | 'path' | 'tracker' | 'isDisposed'
    >
  ) {
    // The document is a notebook.
    this.shared = document.context.model.sharedModel as unknown as YNotebook;
  }

  /** Send the list found in the notebook to the server; returns whether there are entries. */
  async adopt(): Promise<boolean> {
    const { path } = this.document;
    const entries = this.raw().filter(isEntry).slice(0, MAX_ENTRIES);
    const threads = entries.map(entry => outputEntryOf(entry, path));
    if (threads.length === 0) {
      return false;
    }
    const body: AdoptThreads = { document: path, threads };
    const { unknown, refused } = await this.http.call<AdoptedThreads>(
      'POST',
      'anchors/adopt',
      body
    );
    const left = new Set([
      ...unknown,
      ...refused.map(({ session_id }) => session_id)
    ]);
    entries
      .filter(({ id }) => !left.has(id))
      .forEach(({ id }) => this.ours.add(id));
    refused.forEach(({ session_id, error }) =>
      console.warn(`${session_id} does not come along:`, error.message)
    );
    return true;
  }

  /**
   * Update the list: with this page's threads if the user enabled it, else without them. Entries of others stay.
   * Rejects with an `ApiError`.
   */
  async write(): Promise<void> {
    const { values } = await this.http.call<Settings>('GET', 'settings');
    this.isEnabled = values.threads.keep_in_notebook;
    this.writeNow();
  }

  /** Update the list with the last known setting, just before a save. */
  writeNow(): void {
    const { document, isEnabled } = this;
    if (isEnabled !== null && !document.isDisposed) {
      document.tracker.ids.forEach(id => this.ours.add(id));
      const others = this.raw().filter(item => !this.isOurs(item));
      this.put([...(isEnabled ? this.entries() : []), ...others]);
    }
  }

  private put(threads: readonly unknown[]): void {
    const { shared } = this;
    if (JSON.stringify(threads) === JSON.stringify(this.raw())) {
      return;
    }
    const { threads: _, ...rest } = this.own();
    if (threads.length > 0) {
      // Unknown entries were read as JSON too.
      const list = threads as PartialJSONObject[];
      shared.setMetadata(KEY, { ...rest, threads: list });
    } else if (Object.keys(rest).length > 0) {
      shared.setMetadata(KEY, rest);
    } else {
      shared.deleteMetadata(KEY);
    }
  }

  /** The entries of the threads tracked here. */
  private entries(): Entry[] {
    const { tracker, path } = this.document;
    return tracker.ids.flatMap(id => {
      const anchor = tracker.anchor(id, path, false);
      return anchor === null ? [] : [entryOf(id, anchor)];
    });
  }

  private isOurs(item: unknown): boolean {
    return isEntry(item) && this.ours.has(item.id);
  }

  private raw(): readonly unknown[] {
    const { threads } = this.own();
    return Array.isArray(threads) ? threads : [];
  }

  private own(): Record<string, never> & { threads?: unknown } {
    const own: unknown = this.shared.getMetadata(KEY);
    return typeof own === 'object' && own !== null
      ? (own as Record<string, never>)
      : {};
  }

  /** Null until the settings are known. */
  private isEnabled: boolean | null = null;
  /** Threads that are or were tracked here, or came with the file; all others belong to other users of the file. */
  private readonly ours = new Set<string>();
  private readonly shared: YNotebook;
}

function entryOf(id: string, anchor: Anchor): Entry {
  const { cell_id, target, range, quote, prefix, suffix, output } = anchor;
  return {
    ...{ id, cell_id, target, quote, prefix, suffix },
    range: range && { from: range.from, to: range.to },
    ...(output === null ? {} : { output: { ...output } })
  };
}

function outputEntryOf(
  { id, ...place }: Entry,
  document: string
): ListedThread {
  const { cell_id, target, range, quote, prefix, suffix } = place;
  return {
    id,
    anchor: {
      ...{ document, cell_id, target, range, quote, prefix, suffix },
      ...{ version: null, certainty: 'exact', output: place.output ?? null }
    }
  };
}

/** Whether an entry has this page's format; files are untrusted. */
function isEntry(item: unknown): item is Entry {
  if (typeof item !== 'object' || item === null) {
    return false;
  }
  const entry = item as Record<keyof Entry, unknown>;
  const texts = [entry.id, entry.quote, entry.prefix, entry.suffix];
  return (
    texts.every(text => typeof text === 'string') &&
    typeof entry.cell_id === 'string' &&
    ['source', 'output', 'cell'].includes(String(entry.target)) &&
    (entry.range === null || isRange(entry.range)) &&
    (entry.output === undefined || isOutput(entry.output))
  );
}

function isRange(range: unknown): boolean {
  const counts = countsIn(range, ['from', 'to']);
  return counts.length === 2;
}

function isOutput(output: unknown): boolean {
  const counts = countsIn(output, ['index', 'nth', 'alike']);
  return counts.length === 3 && (counts[2] ?? 0) > 0;
}

/** The members that are counts. */
function countsIn(given: unknown, names: readonly string[]): number[] {
  if (typeof given !== 'object' || given === null) {
    return [];
  }
  const members = given as Record<string, unknown>;
  return names
    .map(name => members[name])
    .filter(
      (count): count is number => Number.isInteger(count) && Number(count) >= 0
    );
}
