/**
 * Loads the inline completion on demand: with the first document or request.
 * Loaded at start-up; used by the inline completion plugin.
 */

import type { InlineCompletionController } from './controller';
import type { LabCompletionProvider } from './labProvider';

/** JupyterLab's settings of the inline completion provider. */
type Settings = Parameters<LabCompletionProvider['configure']>[0];

/** The members of the loaded code in use. */
export interface ILoaded {
  readonly ghosts: Pick<InlineCompletionController, 'known'>;
  readonly inline: Pick<LabCompletionProvider, 'configure'>;
}

/** Loads the inline completion once. */
export class LazyLoader<T extends ILoaded> {
  constructor(private readonly load: () => Promise<T>) {}

  /** Null until loaded. */
  now: T | null = null;

  /** Start loading; errors are logged. */
  begin(): void {
    this.get().catch((error: unknown) => {
      console.error('Suggestions could not be loaded:', error);
    });
  }

  /** Settled when the settings are known, or the code cannot be loaded. */
  async known(): Promise<void> {
    try {
      await (await this.get()).ghosts.known();
    } catch (error) {
      console.error('Suggestions could not be loaded:', error);
    }
  }

  /**
   * Store JupyterLab's settings until the code is loaded: they arrive at
   * start-up and do not cause loading.
   */
  configure(settings: Settings): void {
    this.settings = settings;
    this.now?.inline.configure(settings);
  }

  /** Rejects when loading fails; the next document or command tries again. */
  async get(): Promise<T> {
    this.loading ??= this.made();
    try {
      return await this.loading;
    } catch (error) {
      this.loading = null;
      throw error;
    }
  }

  private async made(): Promise<T> {
    const made = await this.load();
    if (this.settings !== null) {
      made.inline.configure(this.settings);
    }
    this.now = made;
    return made;
  }

  private loading: Promise<T> | null = null;
  private settings: Settings | null = null;
}
