/**
 * Reads a stream of server-sent events whose data is JSON with a `type` (chapter 02). Used by `suggestionRequests.ts`;
 * the format is that of the HTML standard, of which the server uses `event`, `data` and comments.
 */

/** Collects pieces of a stream, gives the data of each event that is whole. */
export class EventStream {
  /** The data of the events that a piece completes, in order. */
  push(piece: string): string[] {
    this.rest += piece;
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap(dataOf);
  }

  private rest = '';
}

function dataOf(block: string): string[] {
  const lines = block
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice('data:'.length).replace(/^ /, ''));
  return lines.length === 0 ? [] : [lines.join('\n')];
}
