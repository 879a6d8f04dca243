/** Menu items for a conversation, in the header and the history. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { clientOf } from '../../model/view-models/toolOwners';
import type { Session } from '../../wire/generated';
import type { PanelActions } from './panelActions';
import type { IMenuItem } from '../../ui/Menu';

export function sessionItems(
  session: Session,
  actions: PanelActions,
  trans: TranslationBundle,
  rename: () => void
): IMenuItem[] {
  const item = (
    key: string,
    title: string,
    act: () => void,
    danger = false
  ): IMenuItem => ({ key, title, act, danger });
  return [
    item('rename', trans.__('Rename'), rename),
    ...(clientOf(session) === null // A copy of the program's conversation leads nowhere.
      ? [item('fork', trans.__('Fork'), () => void actions.fork(session))]
      : []),
    item(
      'md',
      trans.__('Export as Markdown'),
      () => void actions.exportAs(session, 'md')
    ),
    item(
      'ipynb',
      trans.__('Export as notebook'),
      () => void actions.exportAs(session, 'ipynb')
    ),
    item(
      'jsonl',
      trans.__('Export as JSON lines'),
      () => void actions.exportAs(session, 'jsonl')
    ),
    ...(actions.schedule === null
      ? []
      : [
          item('schedule', trans.__('Schedule…'), () =>
            actions.schedule?.({ session: session.id, title: session.title })
          )
        ]),
    item('delete', trans.__('Delete'), () => void actions.remove(session), true)
  ];
}
