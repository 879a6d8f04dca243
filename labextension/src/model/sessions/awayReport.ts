/**
 * What the agent did while the user had no page connected. Requested after each hello until it is dismissed. Owned by
 * `Conversations`.
 */

import { Signal, type ISignal } from '@lumino/signaling';

import type { IHttpClient } from '../../client/http';
import type { AwayAnswer, AwayReport } from '../../wire/generated';

/** The report, as views see it. */
export interface IAwayReportState {
  /** Null when there is nothing to report. */
  readonly report: AwayReport | null;
  /** Emitted with a report that is new to this page. */
  readonly returned: ISignal<IAwayReportState, AwayReport>;
  /** Mark the report as read. */
  dismiss(): void;
}

/** The report of this page. */
export class AwayReportStore implements IAwayReportState {
  constructor(
    private readonly http: Pick<IHttpClient, 'call'>,
    opened: ISignal<unknown, void>
  ) {
    opened.connect(() => void this.load(), this);
  }

  /** Emitted when the report changes. */
  readonly changed = new Signal<this, void>(this);
  readonly returned = new Signal<this, AwayReport>(this);

  get report(): AwayReport | null {
    return this.current;
  }

  dismiss(): void {
    if (this.current !== null) {
      this.set(null);
      this.http.call('DELETE', 'away').catch((error: unknown) => {
        console.warn('The report of an absence is shown once more:', error);
      });
    }
  }

  private async load(): Promise<void> {
    let report: AwayReport | null;
    try {
      const answer = await this.http.call<Partial<AwayAnswer>>('GET', 'away');
      report = answer.report ?? null;
    } catch (error) {
      console.warn('The report of the absence could not be loaded:', error);
      return;
    }
    const isNew =
      report !== null &&
      JSON.stringify(report) !== JSON.stringify(this.current);
    this.set(report);
    if (report !== null && isNew) {
      this.returned.emit(report);
    }
  }

  private set(report: AwayReport | null): void {
    this.current = report;
    this.changed.emit();
  }

  private current: AwayReport | null = null;
}
