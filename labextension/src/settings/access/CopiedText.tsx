/** A text with a button that copies it. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { IconButton } from '../../ui/primitives';
import { useDone } from '../../ui/Toolbar';
import { useTrans } from '../../ui/hooks';
import { useSettingsPage } from '../components/hooks';

export function CopiedText(props: {
  text: string;
  /** What it is, for the button's name. */
  label: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { host } = useSettingsPage();
  const { text, label } = props;
  const { done, confirm } = useDone<'copied'>();
  return (
    <div className="shoulders-CopiedText" role="group" aria-label={label}>
      <pre className="shoulders-Trust-content" tabIndex={0}>
        <code>{visible(text)}</code>
      </pre>
      <IconButton
        icon={done === null ? 'copy' : 'check'}
        label={done === null ? trans.__('Copy: %1', label) : trans.__('Copied')}
        onClick={() => {
          host.copy(text);
          confirm('copied');
        }}
      />
    </div>
  );
}
