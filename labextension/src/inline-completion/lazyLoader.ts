/**
 * Loads the inline completion on demand: with the first document or request. Loaded at start-up; used by the inline
 * completion plugin.
 */

import type { InlineCompletionController } from './controller';
import type { LabCompletionProvider } from './labProvider';

/** JupyterLab's settings of the inline completion provider. */
type Settings = Parameters<LabCompletionProvider['configure']>[0];

/** The members of the loaded code in use. */
export interface ILoaded {
  readonly controller: Pick<InlineCompletionController, 'settingsLoaded'>;
  readonly inline: Pick<LabCompletionProvider, 'configure'>;
}

/** Loads the inline completion once. */
export class LazyLoader<T extends ILoaded> {
  constructor(private readonly load: () => Promise<T>) {}

  /** Null until loaded. */
  loaded: T | null = null;

  /** Start loading; errors are logged. */
  startLoading(): void {
    this.get().catch((error: unknown) => {
      console.error('Suggestions could not be loaded:', error);
    });
  }

  /** Settled when the settings are known, or the code cannot be loaded. */
  async settingsLoaded(): Promise<void> {
    try {
      await (await this.get()).controller.settingsLoaded();
    } catch (error) {
      console.error('Suggestions could not be loaded:', error);
    }
  }

  /** Store JupyterLab's settings until the code is loaded: they arrive at start-up and do not cause loading. */
  configure(settings: Settings): void {
    this.settings = settings;
    this.loaded?.inline.configure(settings);
  }

  /** Rejects when loading fails; the next document or command tries again. */
  async get(): Promise<T> {
    this.loading ??= this.loadOnce();
    try {
      return await this.loading;
    } catch (error) {
      this.loading = null;
      throw error;
    }
  }

  private async loadOnce(): Promise<T> {
    const loaded = await this.load();
    if (this.settings !== null) {
      loaded.inline.configure(this.settings);
    }
    this.loaded = loaded;
    return loaded;
  }

  private loading: Promise<T> | null = null;
  private settings: Settings | null = null;
}
