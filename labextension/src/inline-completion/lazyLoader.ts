/**
 * Loads the suggestions of the page when somebody needs them: with the first document, or the first time that something
 * asks. It loads with the lab itself; used by the inline completion plugin.
 */

import type { InlineCompletionController } from './controller';
import type { LabCompletionProvider } from './labProvider';

/** The settings that the lab has of the provider of inline completions. */
type Settings = Parameters<LabCompletionProvider['configure']>[0];

/** The suggestions of a page, as far as they are spoken to here. */
export interface ILoaded {
  readonly ghosts: Pick<InlineCompletionController, 'known'>;
  readonly inline: Pick<LabCompletionProvider, 'configure'>;
}

/** Loads the suggestions of the page once. */
export class LazyLoader<T extends ILoaded> {
  constructor(private readonly load: () => Promise<T>) {}

  /** Null until they are loaded. */
  now: T | null = null;

  /** Load them; what goes wrong is logged. */
  begin(): void {
    this.get().catch((error: unknown) => {
      console.error('Suggestions could not be loaded:', error);
    });
  }

  /** Settled when the settings are known, or what reads them cannot be loaded. */
  async known(): Promise<void> {
    try {
      await (await this.get()).ghosts.known();
    } catch (error) {
      console.error('Suggestions could not be loaded:', error);
    }
  }

  /** Keep the lab's settings for when they are loaded: they come with the start of the lab, and are nothing to load for. */
  configure(settings: Settings): void {
    this.settings = settings;
    this.now?.inline.configure(settings);
  }

  /** Rejects when they cannot be loaded; the next document or command tries again. */
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
