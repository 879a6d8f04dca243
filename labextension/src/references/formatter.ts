/** Asks the server to format the citations of a document, and keeps the last answer. */

import type { IHttpClient } from '../client/http';
import type { FormattedCitations, PostFormat } from '../wire/generated';

export type Cluster = readonly string[];

/** Formats one document; one request is in flight at a time. */
export class CitationFormatter {
  constructor(private readonly http: Pick<IHttpClient, 'call'>) {}

  /** The formatted citations of a document. `version` changes when a bibliography did. */
  async format(
    clusters: readonly Cluster[],
    style: string,
    version: number
  ): Promise<FormattedCitations> {
    const body: PostFormat = {
      clusters: clusters.map(cluster => [...cluster]),
      style,
      locale: document.documentElement.lang || 'en-US'
    };
    const asked = JSON.stringify([body, version]);
    if (this.asked !== asked || this.answer === null) {
      this.asked = asked;
      this.answer = this.http.call<FormattedCitations>(
        'POST',
        'references/format',
        body
      );
    }
    const { answer } = this;
    try {
      return await answer;
    } catch (error) {
      if (this.answer === answer) {
        this.answer = null;
      }
      throw error;
    }
  }

  private asked = '';
  private answer: Promise<FormattedCitations> | null = null;
}

/** A cluster as one string, to find its text. */
export const clusterId = (keys: Cluster): string => keys.join('\u0000');
