/** What an agent of others lets the user choose: its modes, its models and its other options. */

import * as React from 'react';

import {
  agentSettings,
  settingsLabel,
  type IAgentSetting
} from '../../model/view-models/externalAgents';
import { visible } from '../../text/hiddenCharacters';
import type { Conversation } from '../../wire/generated';
import { useLeadingAgent } from './useLeadingAgent';
import { ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

/** A button with the present choice that opens the options above the input. */
export function AgentOptions(props: {
  view: Conversation | null;
}): React.JSX.Element | null {
  const { Icon } = useHost();
  const trans = useTrans();
  const [open, setOpen] = React.useState(false);
  const agent = useLeadingAgent(props.view);
  const settings = agent === null ? [] : agentSettings(agent, trans.__('Mode'));
  if (settings.length === 0) {
    return null;
  }
  const label = settingsLabel(settings) || trans.__('Options');
  const title = trans.__('Options of the agent: %1', visible(label));
  return (
    <div
      className="shoulders-AgentOptions"
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <button
        type="button"
        className="shoulders-Picker shoulders-Menu-button"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={title}
        title={title}
        onClick={() => setOpen(!open)}
      >
        <Icon name="settings" />
        <span className="shoulders-Menu-label">{visible(label)}</span>
      </button>
      {open && (
        <SettingList
          settings={settings}
          onDone={() => {
            setOpen(false);
            focusComposer();
          }}
        />
      )}
    </div>
  );
}

function SettingList(props: {
  settings: readonly IAgentSetting[];
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, run } = useAction();
  return (
    <div
      className="shoulders-Popover shoulders-AgentOptions-list"
      role="dialog"
      aria-label={trans.__('Options of the agent')}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          props.onDone();
        }
      }}
    >
      {props.settings.map((setting, index) => (
        <SettingField
          key={setting.option.id}
          setting={setting}
          isFirst={index === 0}
          onChoose={value =>
            run(async () =>
              conversations.commands.changeAgent(tab, setting.patch(value))
            )
          }
        />
      ))}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function SettingField(props: {
  setting: IAgentSetting;
  isFirst: boolean;
  onChoose: (value: string) => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const id = React.useId();
  const { isFirst, onChoose } = props;
  const { name, choices, value, description } = props.setting.option;
  const chosen = choices.find(choice => choice.id === value);
  return (
    <div className="shoulders-AgentOptions-field">
      <label htmlFor={id}>{visible(name)}</label>
      <span className="shoulders-Select">
        <select
          id={id}
          // The user opened the list to choose.
          autoFocus={isFirst}
          value={value}
          aria-describedby={`${id}-note`}
          onChange={event => onChoose(event.target.value)}
        >
          {choices.map(choice => (
            <option key={choice.id} value={choice.id}>
              {visible(choice.name)}
            </option>
          ))}
        </select>
        <Icon name="caret-down" />
      </span>
      <span className="shoulders-AgentOptions-note" id={`${id}-note`}>
        {visible(chosen?.description ?? description ?? '')}
      </span>
    </div>
  );
}
