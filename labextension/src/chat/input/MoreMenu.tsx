/** Further actions for the message being written. */

import * as React from 'react';

import { Menu } from '../../ui/Menu';
import { useHost, useTrans } from '../../ui/hooks';

export function MoreMenu(props: {
  onFiles: (files: Iterable<File>) => void;
  /** Inserts a character that opens the list. */
  onTrigger: (sign: '@' | '/') => void;
  onPreview: () => void;
  /** Null in a page that cannot open files. */
  onInstructions: (() => void) | null;
}): React.JSX.Element {
  const { Icon, schedule, upload } = useHost();
  const trans = useTrans();
  const chooser = React.useRef<HTMLInputElement>(null);
  const { onInstructions } = props;
  const attach =
    upload === null
      ? trans.__('Attach images…')
      : trans.__('Attach files or images…');
  return (
    <>
      <Menu
        className="shoulders-More"
        label={<Icon name="add" />}
        title={trans.__('Attach, and more')}
        items={[
          {
            key: 'files',
            title: attach,
            note: trans.__('Or paste them, or drop them here'),
            act: () => chooser.current?.click()
          },
          {
            key: 'name',
            title: trans.__('Mention a file, cell or variable'),
            note: '@',
            act: () => props.onTrigger('@')
          },
          {
            key: 'command',
            title: trans.__('Commands'),
            note: '/',
            act: () => props.onTrigger('/')
          },
          {
            key: 'request',
            title: trans.__('Show request'),
            note: trans.__('See exactly what would be sent'),
            act: props.onPreview
          },
          ...(schedule === null
            ? []
            : [
                {
                  key: 'schedules',
                  title: trans.__('Schedules and watchers'),
                  note: trans.__('Run prompts and notebooks by themselves'),
                  act: () => schedule(null)
                }
              ]),
          ...(onInstructions === null
            ? []
            : [
                {
                  key: 'instructions',
                  title: trans.__('Instructions'),
                  note: '_instructions.md',
                  act: onInstructions
                }
              ])
        ]}
      />
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={attach}
        {...(upload === null ? { accept: 'image/*' } : {})}
        onChange={({ target }) => {
          props.onFiles([...(target.files ?? [])]);
          target.value = ''; // Allows choosing the same file again.
        }}
      />
    </>
  );
}
