/** Search results as attachments of a message. */

import type { Attachment, SearchMatch } from '../wire/generated';

/** Attachments of one message; the server refuses more. */
export const MOST_ATTACHMENTS = 100;

/** Characters of context sent on either side of the found lines. */
const AROUND = 200;

/** Attach places; `readText` reads a file as text and rejects when it cannot. */
export async function attachmentsOf(
  matches: readonly SearchMatch[],
  readText: (path: string) => Promise<string>
): Promise<readonly Attachment[]> {
  const texts = new Map<string, Promise<string | null>>();
  const textOf = (path: string): Promise<string | null> => {
    const text = texts.get(path) ?? readText(path).catch(() => null);
    texts.set(path, text);
    return text;
  };
  return Promise.all(
    matches.map(async match =>
      hasLines(match)
        ? selectionOf(match, await textOf(match.path))
        : whole(match)
    )
  );
}

/** Whether the lines of a match are those of a text file. */
function hasLines({ kind }: SearchMatch): boolean {
  return kind === 'code' || kind === 'text' || kind === 'reference';
}

function whole({ path, cell_id, conversation }: SearchMatch): Attachment {
  if (conversation !== null) {
    return { kind: 'thread', session_id: conversation.session_id };
  }
  return cell_id === null
    ? { kind: 'file', path }
    : { kind: 'cell', path, cell_id };
}

/** The lines of the snippet as a selection; the file when they are not there. */
function selectionOf(match: SearchMatch, text: string | null): Attachment {
  const lines = text?.split('\n') ?? [];
  const first = match.line - 1;
  const count = match.snippet.split('\n').length;
  const selected = lines.slice(first, first + count).join('\n');
  if (text === null || selected.trim() === '') {
    return whole(match);
  }
  const from = lines
    .slice(0, first)
    .reduce((length, line) => length + line.length + 1, 0);
  const to = from + selected.length;
  return {
    kind: 'selection',
    path: match.path,
    cell_id: null,
    range: { from, to },
    text: selected,
    before: text.slice(Math.max(0, from - AROUND), from),
    after: text.slice(to, to + AROUND)
  };
}
