/** Keeps one request in flight; of those wanted during it only the latest is sent. Used by search and its status. */

/** Sends requests one after another; `send` handles its errors. */
export class LatestRequest<T> {
  constructor(private readonly send: (request: T) => Promise<void>) {}

  /** Send a request, or after the current one unless a later one replaces it. */
  ask(request: T): void {
    this.wanted = { request };
    if (!this.isBusy) {
      this.running = this.run();
    }
  }

  /** Drop the request that is not sent yet. */
  drop(): void {
    this.wanted = null;
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    while (this.isBusy) {
      await this.running;
    }
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.wanted !== null) {
      const { request } = this.wanted;
      this.wanted = null;
      await this.send(request);
    }
    this.isBusy = false;
  }

  private wanted: { readonly request: T } | null = null;
  private running: Promise<void> = Promise.resolve();
  private isBusy = false;
}
