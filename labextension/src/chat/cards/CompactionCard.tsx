/** A turn that has outgrown its model: let earlier messages be summarised and go on, or stop. */

import * as React from 'react';

import { legible } from '../../text/hiddenCharacters';
import type { NoticeView } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function CompactionCard(props: {
  notice: NoticeView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const title = React.useId();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const say = (decision: 'resume' | 'discard'): void => {
    if (!busy) {
      run(() => conversations.commands.resume(tab, { decision }));
    }
  };
  return (
    <section
      className="shoulders-Card shoulders-Pause"
      aria-labelledby={title}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="pause" />
        <span className="shoulders-Call-title">
          {trans.__('Too long for the model')}
        </span>
      </header>
      <p className="shoulders-Card-text">{legible(props.notice.text)}</p>
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => say('resume')}>
          {trans.__('Summarise and continue')}
        </Button>
        <span className="shoulders-Actions-space" />
        <Button onClick={() => say('discard')}>{trans.__('Stop here')}</Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}
