/** Opens links of the agent: harmless ones at once, others after the user has seen the whole address. */

import type * as React from 'react';

import { addressOf, destinationOf, needsConfirmation } from '../../text/links';
import { EMPTY } from '../../model/reducer/emptyConversation';
import { visible } from '../../text/hiddenCharacters';
import { useHost, useTabContext } from '../../ui/hooks';

/** Middle clicks open links too. */
const PRIMARY = 0;
const MIDDLE = 1;

/** Click handler for links. Asks before it opens an address that could carry much data and is not from the user. */
export function useLinkConfirmation(): (event: React.MouseEvent) => void {
  const { trans, confirm } = useHost();
  const { conversations, tab } = useTabContext();
  return event => {
    const url = addressOf(linkOf(event));
    const view = conversations.store(tab)?.view ?? EMPTY;
    if (url === null || !needsConfirmation(url, view)) {
      return;
    }
    event.preventDefault();
    void confirm(
      trans.__('Open %1?', visible(destinationOf(url))),
      visible(url.href),
      trans.__('Open')
    ).then(sure => {
      if (sure) {
        window.open(url.href, '_blank', 'noopener,noreferrer');
      }
    });
  };
}

/** The address of the clicked link; empty for other clicks. */
function linkOf({ target, button }: React.MouseEvent): string {
  const opens = button === PRIMARY || button === MIDDLE;
  const link = opens && target instanceof Element ? target.closest('a') : null;
  return link?.getAttribute('href') ?? '';
}
