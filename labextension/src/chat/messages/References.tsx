/** Chips under a message: files, cells, selections, errors, variables, images; each opens its target. */

import * as React from 'react';

import type { Attachment, MessageContext } from '../../wire/generated';
import { ImageViewer } from '../../ui/viewers/ImageViewer';
import { referencesOf, type IReference } from './messageReferences';
import { useHost, useTabContext, useTrans } from '../../ui/hooks';

export const References = React.memo(function References(props: {
  attachments: readonly Attachment[];
  context: MessageContext | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  const chips = referencesOf(props.attachments, props.context, trans);
  return chips.length === 0 ? null : (
    <ul className="shoulders-References" aria-label={trans.__('Context')}>
      {chips.map(chip => (
        <li key={chip.key}>
          <Reference chip={chip} />
        </li>
      ))}
    </ul>
  );
});

function Reference({ chip }: { chip: IReference }): React.JSX.Element {
  const { Icon, openTarget } = useHost();
  const { conversations } = useTabContext();
  const [looks, setLooks] = React.useState(false);
  const { icon, text, title, opens } = chip;
  const leads =
    opens.kind === 'target' ? openTarget !== null : opens.kind !== 'nothing';
  const open = (): void => {
    switch (opens.kind) {
      case 'target':
        openTarget?.(opens.target);
        break;
      case 'picture':
        setLooks(true);
        break;
      case 'session':
        conversations.open(opens.session);
        break;
      case 'nothing':
        break;
    }
  };
  return (
    <>
      <button
        type="button"
        className="shoulders-Reference"
        title={title}
        disabled={!leads}
        onClick={open}
      >
        {opens.kind === 'picture' ? (
          <img
            className="shoulders-Reference-thumb"
            src={opens.source}
            alt=""
          />
        ) : (
          <Icon name={icon} />
        )}
        <span className="shoulders-Reference-text">{text}</span>
      </button>
      {looks && opens.kind === 'picture' && (
        <ImageViewer
          source={opens.source}
          name={text}
          onClose={() => setLooks(false)}
        />
      )}
    </>
  );
}
