/** Opening a link of the agent: at once where it is harmless, else when the user has seen the whole address. */

import * as React from 'react';

import { addressOf, carriesMuch, isStrange } from '../../model/links';
import { visible } from '../../model/visible';
import { useHost, usePlace } from '../use';

/** Middle clicks too open a link. */
const PRIMARY = 0;
const MIDDLE = 1;

/** The handler of clicks on links. Asks before an address is opened that could carry much away, or that is not the user's. */
export function useCarefulLinks(): (event: React.MouseEvent) => void {
  const { trans, confirm } = useHost();
  const { conversations, tab } = usePlace();
  return event => {
    const { target, button } = event;
    const link = target instanceof Element ? target.closest('a') : null;
    const href = link?.getAttribute('href') ?? '';
    const url = addressOf(href);
    if (url === null || (button !== PRIMARY && button !== MIDDLE)) {
      return;
    }
    const view = conversations.store(tab)?.view;
    if (!carriesMuch(url) && (view === undefined || !isStrange(href, view))) {
      return;
    }
    event.preventDefault();
    void confirm(
      trans.__('Open %1?', visible(url.host || url.pathname)),
      visible(url.href),
      trans.__('Open')
    ).then(sure => {
      if (sure) {
        window.open(url.href, '_blank', 'noopener,noreferrer');
      }
    });
  };
}
