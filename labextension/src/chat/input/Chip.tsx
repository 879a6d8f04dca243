/** One attachment or context item of the message. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import type { IconName } from '../../host/chatHost';
import { IconButton } from '../../ui/primitives';
import { focusComposer, useHost, useTrans } from '../../ui/hooks';

export function Chip(props: {
  icon: IconName;
  text: string;
  title: string;
  /** Source of a thumbnail shown instead of the icon. */
  picture?: string | undefined;
  /** Added by the user rather than offered. */
  attached?: boolean;
  /** Whether it is still pending. */
  isPending?: boolean;
  onOpen?: (() => void) | undefined;
  onRemove: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const text = visible(props.text);
  const classes = [
    'shoulders-Chip',
    ...(props.attached === true ? ['shoulders-mod-attached'] : []),
    ...(props.isPending === true ? ['shoulders-mod-coming'] : [])
  ];
  const inside = (
    <>
      {props.picture === undefined ? (
        <Icon name={props.icon} />
      ) : (
        <img className="shoulders-Chip-picture" src={props.picture} alt="" />
      )}
      <span className="shoulders-Chip-text">{text}</span>
    </>
  );
  return (
    <span className={classes.join(' ')} title={visible(props.title)}>
      {props.onOpen === undefined ? (
        <span className="shoulders-Chip-inside">{inside}</span>
      ) : (
        <button
          type="button"
          className="shoulders-Chip-inside"
          onClick={props.onOpen}
        >
          {inside}
        </button>
      )}
      <IconButton
        icon="close"
        label={trans.__('Remove %1', text)}
        onClick={() => {
          props.onRemove();
          focusComposer();
        }}
      />
    </span>
  );
}
