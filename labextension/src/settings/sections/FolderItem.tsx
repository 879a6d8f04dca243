/** One setting of the folder, verbatim. Used by the folder section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import { hostText } from '../../trust/items';
import type { TrustItem } from '../../wire/generated';
import { Problems } from '../components/components';

/** An item with its buttons. */
export function FolderItem(props: {
  item: TrustItem;
  children?: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { item, children } = props;
  const place =
    item.line === null
      ? visible(item.file)
      : trans.__('%1, line %2', visible(item.file), item.line);
  return (
    <li className="shoulders-Trust-item">
      <div className="shoulders-Line-head">
        <span className="shoulders-Line-name">{kindName(item, trans)}</span>
        {item.name !== item.file && <code>{visible(item.name)}</code>}
        <StateBadge item={item} />
        <span className="shoulders-Line-moment">{place}</span>
      </div>
      <div className="shoulders-Line-facts">{effect(item, trans)}</div>
      {item.host !== null && (
        <div className="shoulders-Trust-host">
          {trans.__('Sends text to:')} <strong>{hostText(item.host)}</strong>
        </div>
      )}
      <Problems problems={item.warnings} />
      <pre className="shoulders-Trust-content" tabIndex={0}>
        <code>{visible(item.content)}</code>
      </pre>
      {children !== undefined && (
        <div className="shoulders-Actions">{children}</div>
      )}
    </li>
  );
}

function StateBadge({ item }: { item: TrustItem }): React.JSX.Element | null {
  const trans = useTrans();
  switch (item.state) {
    case 'new':
      return null;
    case 'changed':
      return (
        <Badge kind="warning">
          {trans.__('Changed since you reviewed it')}
        </Badge>
      );
    case 'trusted':
      return <Badge kind="good">{trans.__('Trusted')}</Badge>;
    case 'declined':
      return <Badge>{trans.__('Not trusted')}</Badge>;
  }
}

/** Accessible name of an item. */
export function itemName(item: TrustItem, trans: TranslationBundle): string {
  return trans.__('%1 %2', kindName(item, trans), visible(item.name));
}

function kindName({ kind }: TrustItem, trans: TranslationBundle): string {
  switch (kind) {
    case 'rule':
      return trans.__('Permission rule');
    case 'provider':
      return trans.__('Model server');
    case 'model':
      return trans.__('Model');
    case 'setting':
      return trans.__('Setting');
    case 'instructions':
      return trans.__('Instructions');
    case 'skill':
      return trans.__('Skill');
    case 'program':
      return trans.__('MCP server');
    case 'memory':
      return trans.__('Memory');
  }
}

/** What an item does once it is trusted. */
function effect({ kind }: TrustItem, trans: TranslationBundle): string {
  switch (kind) {
    case 'rule':
      return trans.__('Lets tools run without asking you.');
    case 'provider':
      return trans.__('Adds a server that conversations can be sent to.');
    case 'model':
      return trans.__('Adds a model to choose from.');
    case 'setting':
      return trans.__('Changes a setting for this folder.');
    case 'instructions':
      return trans.__(
        'Tells the model how to work. Until you trust it, the model reads it as data.'
      );
    case 'skill':
      return trans.__('Gives the model instructions for certain tasks.');
    case 'program':
      return trans.__(
        'Gives the agent tools of a program that runs with your permissions, or of another host.'
      );
    case 'memory':
      return trans.__(
        'Tells the model what to know in every conversation here. Until you trust it, the model reads it as data.'
      );
  }
}
