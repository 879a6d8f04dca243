/** What a call of `remember` or `forget` changed in the memory, for its line. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { CallView, Json } from '../../wire/generated';

/** A change that a line shows and undoes. */
export interface IMemoryLine {
  readonly kind: string;
  readonly text: string;
  /** The text it replaced. */
  readonly previous: string | null;
  readonly operation: string;
}

/** The change of a call; null for other calls. */
export function memoryChangeOf({
  result
}: Pick<CallView, 'result'>): IMemoryLine | null {
  const data = result?.kind === 'memory' ? result.data : null;
  return isObject(data) && isObject(data.statement)
    ? lineOf(data, data.statement)
    : null;
}

function lineOf(
  { kind, previous, operation_id }: Record<string, Json>,
  { text }: Record<string, Json>
): IMemoryLine | null {
  return typeof kind === 'string' &&
    typeof text === 'string' &&
    typeof operation_id === 'string'
    ? {
        kind,
        text,
        previous: typeof previous === 'string' ? previous : null,
        operation: operation_id
      }
    : null;
}

/** The title of the line. */
export function memoryTitle(
  { kind, text, previous }: IMemoryLine,
  trans: TranslationBundle
): string {
  if (kind === 'forgot') {
    return trans.__('Forgot: %1', text);
  }
  return previous === null
    ? trans.__('Remembered: %1', text)
    : trans.__('Replaced: %1 → %2', previous, text);
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
