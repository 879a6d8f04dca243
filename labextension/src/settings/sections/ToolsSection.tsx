/** The agent's tools by category, with switches, and the sandbox of its commands. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type {
  Settings,
  Status,
  ToolInfo,
  ToolList
} from '../../wire/generated';
import {
  SelectSetting,
  describeSaveError,
  Switch,
  SwitchSetting
} from '../components/fields';
import {
  otherProblems,
  switchExternal,
  switchTool
} from '../store/permissions';
import { Group, Loaded, Problems } from '../components/components';
import { useField, useResource, useStore } from '../components/hooks';

export function ToolsSection(): React.JSX.Element {
  const { settings, tools } = useStore();
  return (
    <>
      <Loaded resource={settings}>
        {value => <Commands settings={value} />}
      </Loaded>
      <Loaded resource={settings}>
        {value => <WordDocuments settings={value} />}
      </Loaded>
      <Loaded resource={tools}>{value => <Catalogue list={value} />}</Loaded>
    </>
  );
}

function WordDocuments(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group title={trans.__('Changes of Word documents')}>
      <SwitchSetting
        settings={props.settings}
        area="word"
        name="tracked_changes"
        label={trans.__('Tracked changes')}
        note={trans.__(
          'The agent’s edits are tracked changes of the author “AI”, to accept or reject in Word. Otherwise they are plain text.'
        )}
      />
    </Group>
  );
}

function Commands(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { value: status } = useResource(useStore().status);
  const common = { settings: props.settings, area: 'commands' } as const;
  return (
    <Group
      title={trans.__('Commands')}
      note={status === null ? '' : sandboxText(status, trans)}
    >
      <SelectSetting
        {...common}
        name="mode"
        label={trans.__('The agent’s commands run')}
        options={[
          {
            value: 'sandbox',
            title: trans.__('in a sandbox'),
            note: trans.__(
              'Commands can write only to the workspace and a temporary folder.'
            )
          },
          {
            value: 'sandbox_read_only',
            title: trans.__('in a read-only sandbox'),
            note: trans.__(
              'Commands can read the workspace but change nothing.'
            )
          },
          {
            value: 'host',
            title: trans.__('without a sandbox'),
            note: trans.__(
              'Not sandboxed: commands run with your full permissions, and each one asks.'
            )
          },
          { value: 'none', title: trans.__('not at all') }
        ]}
      />
      <SwitchSetting
        {...common}
        name="network"
        label={trans.__('Allow network access')}
        note={trans.__('Applies to sandboxed commands; others always have it.')}
      />
    </Group>
  );
}

function sandboxText(status: Status, trans: TranslationBundle): string {
  switch (status.sandbox) {
    case 'none':
      return trans.__(
        'No sandbox is available on this system, so every command asks.'
      );
    case 'landlock':
      return trans.__('This system’s sandbox is Landlock.');
    case 'bubblewrap':
      return trans.__('This system’s sandbox is bubblewrap.');
    case 'seatbelt':
      return trans.__('This system’s sandbox is Seatbelt.');
  }
}

function Catalogue({ list }: { list: ToolList }): React.JSX.Element {
  const trans = useTrans();
  const categories = [...new Set(list.tools.map(({ category }) => category))];
  return (
    <>
      <Problems problems={otherProblems(list)} />
      <External list={list} />
      {categories.map(category => (
        <Group key={category} title={categoryName(category, trans)}>
          <ul className="shoulders-Lines">
            {list.tools
              .filter(tool => tool.category === category)
              .map(tool => (
                <Tool key={tool.name} tool={tool} />
              ))}
          </ul>
        </Group>
      ))}
    </>
  );
}

function External({ list }: { list: ToolList }): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const id = React.useId();
  const count = list.tools.filter(({ external }) => external).length;
  const field = useField('tools:external', list.disable_external, off =>
    store.changePermissions(switchExternal(off === true))
  );
  return (
    <div className="shoulders-External">
      <Switch
        id={id}
        describedBy={`${id}-note`}
        on={field.value === true}
        disabled={field.busy}
        onChange={field.choose}
      />
      <label htmlFor={id}>{trans.__('Disable all external tools')}</label>
      <p className="shoulders-Settings-note" id={`${id}-note`}>
        {count === 0
          ? trans.__(
              'No current tool uses the network. Tools added later that do will be off.'
            )
          : trans._n(
              '%1 tool sends data outside this computer.',
              '%1 tools send data outside this computer.',
              count
            )}
      </p>
      {field.error !== null && (
        <ErrorNote error={describeSaveError(field.error, trans)} />
      )}
    </div>
  );
}

function Tool({ tool }: { tool: ToolInfo }): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const field = useField(
    `tools:${tool.name}`,
    tool.off_because !== 'disabled',
    on => store.changePermissions(switchTool(tool.name, on === true))
  );
  const forced = forcedOff(tool, trans);
  return (
    <li className="shoulders-Line shoulders-mod-switched">
      <Switch
        label={visible(tool.name)}
        on={forced === null && field.value === true}
        disabled={field.busy || forced !== null}
        onChange={field.choose}
      />
      <div className="shoulders-Line-body">
        <div className="shoulders-Line-head">
          <code>{visible(tool.name)}</code>
          <Badge>{riskName(tool.risk, trans)}</Badge>
          {tool.external && (
            <Badge
              kind="warning"
              title={trans.__('Sends data outside this computer.')}
            >
              {trans.__('external')}
            </Badge>
          )}
          {tool.sandboxed === false && (
            <Badge
              kind="warning"
              title={trans.__('Runs with your full permissions.')}
            >
              {trans.__('unsandboxed')}
            </Badge>
          )}
          {tool.sandboxed === true && (
            <Badge kind="good">{trans.__('sandboxed')}</Badge>
          )}
        </div>
        <div className="shoulders-Line-facts">
          {forced ?? visible(firstSentence(tool.description))}
        </div>
        {field.error !== null && (
          <ErrorNote error={describeSaveError(field.error, trans)} />
        )}
      </div>
    </li>
  );
}

/** Why a tool is off regardless of its switch. */
function forcedOff(tool: ToolInfo, trans: TranslationBundle): string | null {
  switch (tool.off_because) {
    case 'external':
      return trans.__('Off: all external tools are disabled.');
    case 'settings':
      return trans.__('Off: commands are disabled under “Commands” above.');
    case 'disabled':
    case null:
      return null;
  }
}

/** The first sentence of a description written for models says what the tool does. */
export function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return /^.+?[.:](?=\s|$)/.exec(line)?.[0].replace(/:$/, '.') ?? line;
}

function riskName(risk: ToolInfo['risk'], trans: TranslationBundle): string {
  switch (risk) {
    case 'read':
      return trans.__('reads');
    case 'write':
      return trans.__('changes');
    case 'execute':
      return trans.__('runs');
  }
}

function categoryName(category: string, trans: TranslationBundle): string {
  const names: Record<string, string> = {
    loop: trans.__('Conversation'),
    document: trans.__('Current document'),
    notebook: trans.__('Notebooks and kernels'),
    workspace: trans.__('Files and commands'),
    git: trans.__('Git'),
    references: trans.__('References'),
    web: trans.__('Web'),
    word: trans.__('Word documents'),
    feedback: trans.__('Proposals'),
    threads: trans.__('Task threads'),
    planning: trans.__('Planning'),
    agent: trans.__('Memory, schedules and records'),
    installed: trans.__('From installed packages')
  };
  return names[category] ?? visible(category);
}
