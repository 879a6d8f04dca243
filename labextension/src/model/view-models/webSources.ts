/** What the web tools of a conversation returned: papers, and pages with their titles. Pure. */

import type { CallView, Json, MessageView, Paper } from '../../wire/generated';

/** The works of a `search_papers` call; null for other calls. */
export function papersOf({ tool, result }: CallView): readonly Paper[] | null {
  if (tool !== 'search_papers' || result?.kind !== 'papers') {
    return null;
  }
  const works = isObject(result.data) ? result.data.works : null;
  return Array.isArray(works) ? works.flatMap(paperOf) : null;
}

/** The pages that searches and fetches of a conversation returned: address and title. */
export function pagesOf(
  messages: readonly MessageView[]
): readonly { readonly url: string; readonly title: string }[] {
  return messages.flatMap(message =>
    message.role === 'agent'
      ? message.parts.flatMap(part =>
          part.type === 'call' ? pagesOfCall(part) : []
        )
      : []
  );
}

function pagesOfCall({
  result
}: CallView): { readonly url: string; readonly title: string }[] {
  const data = result === null ? null : result.data;
  if (!isObject(data)) {
    return [];
  }
  const kind = result?.kind;
  if (kind === 'page') {
    return [data.url, data.final_url].flatMap(url => pageOf(url, data.title));
  }
  if (kind === 'search_results') {
    return listOf(data.results).flatMap(({ url, title }) => pageOf(url, title));
  }
  return kind === 'papers'
    ? listOf(data.works).flatMap(({ url, open_access_url, title }) =>
        [url, open_access_url].flatMap(each => pageOf(each, title))
      )
    : [];
}

function pageOf(
  url: Json | undefined,
  title: Json | undefined
): { readonly url: string; readonly title: string }[] {
  return typeof url === 'string'
    ? [{ url, title: typeof title === 'string' ? title : '' }]
    : [];
}

function paperOf(value: Json): Paper[] {
  return isObject(value) &&
    typeof value.title === 'string' &&
    Array.isArray(value.authors)
    ? [value as unknown as Paper] // The server's own model.
    : [];
}

function listOf(value: Json | undefined): Record<string, Json>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
