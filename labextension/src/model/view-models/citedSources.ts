/** Numbers the places that an answer cites and finds the passages that a search returned for them. Pure. */

import { markerOf, type ICitation } from '../../text/citations';
import type { Json, MessageView, SearchMatch } from '../../wire/generated';

/** The part of a search result that a citation shows. */
export type CitedPassage = Pick<
  SearchMatch,
  'path' | 'cell_id' | 'line' | 'heading' | 'snippet'
>;

/** A cited place with its number in the message. */
export interface ICitedSource {
  /** From 1, in order of first use. */
  readonly number: number;
  readonly citation: ICitation;
  /** Null if no search of the conversation returned the place. */
  readonly passage: CitedPassage | null;
}

/** Each place once, in order of first use. */
export function distinctCitations(
  citations: readonly ICitation[]
): readonly ICitation[] {
  const known = new Map<string, ICitation>();
  for (const citation of citations) {
    const key = markerOf(citation);
    known.set(key, known.get(key) ?? citation);
  }
  return [...known.values()];
}

/** The sources by their markers, in order. */
export function citedSources(
  citations: readonly ICitation[],
  messages: readonly MessageView[]
): ReadonlyMap<string, ICitedSource> {
  const passages = citations.length === 0 ? null : passagesIn(messages);
  return new Map(
    citations.map((citation, index) => {
      const key = markerOf(citation);
      const passage = passages?.get(key) ?? null;
      return [key, { number: index + 1, citation, passage }];
    })
  );
}

/** What searches returned, by marker; a later search replaces an earlier one. */
function passagesIn(
  messages: readonly MessageView[]
): ReadonlyMap<string, CitedPassage> {
  const passages = messages.flatMap(message =>
    message.role === 'agent'
      ? message.parts.flatMap(part =>
          part.type === 'call' && part.result?.kind === 'matches'
            ? matchesIn(part.result.data)
            : []
        )
      : []
  );
  return new Map(passages.map(passage => [keyOf(passage), passage]));
}

function keyOf({ path, cell_id: cellId, line }: CitedPassage): string {
  return markerOf({ path, cellId, line: cellId === null ? line : null });
}

function matchesIn(data: Json): CitedPassage[] {
  const matches = isObject(data) ? data.matches : null;
  return Array.isArray(matches) ? matches.flatMap(passageOf) : [];
}

/** A match of `semantic_search`; other searches have other fields. */
function passageOf(match: Json): CitedPassage[] {
  if (!isObject(match)) {
    return [];
  }
  const { path, cell_id, line, heading, snippet } = match;
  return typeof path === 'string' &&
    (cell_id === null || typeof cell_id === 'string') &&
    typeof line === 'number' &&
    typeof heading === 'string' &&
    typeof snippet === 'string'
    ? [{ path, cell_id, line, heading, snippet }]
    : [];
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
