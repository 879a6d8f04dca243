/** Facts about single settings of a folder, as the bar of the chat panel and the review show them. */

import { visible } from '../text/hiddenCharacters';
import type { TrustItem } from '../wire/generated';

const ASCII = /^[\x20-\x7e]*$/;

/** Whether an item waits for an answer. Programs take none: they are never started. */
export function isWaiting({ kind, state }: TrustItem): boolean {
  return kind !== 'program' && (state === 'new' || state === 'changed');
}

/** A host with hidden characters made visible; where its letters may only look like others, also as it is looked up. */
export function hostText(host: string): string {
  const address = `https://${host}`;
  return ASCII.test(host) || !URL.canParse(address)
    ? visible(host)
    : `${visible(host)} (${new URL(address).host})`;
}
