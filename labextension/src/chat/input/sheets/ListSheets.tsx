/** Lists of tools and skills, opened with `/tools` and `/skills`. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../../text/hiddenCharacters';
import type { ToolInfo } from '../../../wire/generated';
import { Button, Dots, ErrorNote } from '../../../ui/primitives';
import { useHost, useTabContext, useTrans } from '../../../ui/hooks';
import { Sheet } from './Sheet';
import { useServerAnswer } from '../../../ui/useServerAnswer';

export function ToolsSheet(props: { onClose: () => void }): React.JSX.Element {
  const trans = useTrans();
  const { lookups, openSettings } = useHost();
  const { answer, error } = useServerAnswer('', () => lookups.tools());
  return (
    <Sheet icon="tool" title={trans.__('Tools')} onClose={props.onClose}>
      {error !== null && <ErrorNote error={error} />}
      {answer === null && error === null && <Dots />}
      <ul className="shoulders-Sheet-list">
        {answer?.tools.map(tool => (
          <li key={tool.name}>
            <code>{visible(tool.name)}</code>
            <span className="shoulders-Sheet-note">
              {toolFacts(tool, trans).join(' · ')}
            </span>
          </li>
        ))}
      </ul>
      {openSettings !== null && (
        <div className="shoulders-Actions">
          <Button onClick={() => void openSettings()}>
            {trans.__('Change in the settings…')}
          </Button>
        </div>
      )}
    </Sheet>
  );
}

export function SkillsSheet(props: { onClose: () => void }): React.JSX.Element {
  const trans = useTrans();
  const { lookups } = useHost();
  const { conversations, tab } = useTabContext();
  const { answer, error } = useServerAnswer('', () => lookups.skills());
  const use = (name: string): void => {
    const rest = conversations.draft(tab);
    conversations.suggest(tab, `/${name} ${rest}`);
    props.onClose();
  };
  return (
    <Sheet icon="book" title={trans.__('Skills')} onClose={props.onClose}>
      {error !== null && <ErrorNote error={error} />}
      {answer === null && error === null && <Dots />}
      <ul className="shoulders-Sheet-list">
        {answer?.skills.map(({ name, description, path }) => (
          <li key={name} title={visible(path)}>
            <button
              type="button"
              className="shoulders-Link"
              onClick={() => use(name)}
            >
              {visible(`/${name}`)}
            </button>
            <span className="shoulders-Sheet-note">{visible(description)}</span>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}

function toolFacts(tool: ToolInfo, trans: TranslationBundle): string[] {
  const risks = {
    read: trans.__('reads'),
    write: trans.__('changes'),
    execute: trans.__('runs code')
  };
  return [
    risks[tool.risk],
    ...(tool.external ? [trans.__('external')] : []),
    ...(tool.sandboxed === false ? [trans.__('not sandboxed')] : []),
    ...(tool.enabled ? [] : [trans.__('off')])
  ];
}
