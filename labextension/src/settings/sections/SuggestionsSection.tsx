/** Inline suggestions: when they are requested, and what was sent for them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import type { Json, Settings } from '../../wire/generated';
import { SwitchSetting, TextSetting } from '../components/fields';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { SentSuggestions } from './SentSuggestions';
import { textOf, useStore } from '../components/hooks';

const LONGEST_NAME = 64;
const MOST_NAMES = 100;

export function SuggestionsSection(): React.JSX.Element {
  const { settings } = useStore();
  return (
    <>
      <Loaded resource={settings}>
        {value => <Preferences settings={value} />}
      </Loaded>
      <SentSuggestions />
    </>
  );
}

function Preferences({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const common = { settings, area: 'ghost' } as const;
  return (
    <Group
      title={trans.__('When to suggest')}
      note={trans.__(
        'Suggestions appear in grey at the cursor. Tab, Enter or → accepts one, Ctrl/Cmd+→ accepts one word, ↑ and ↓ show alternatives, Esc or any other key dismisses it.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      {switches(trans).map(each => (
        <SwitchSetting key={each.name} {...common} {...each} />
      ))}
      <TextSetting
        {...common}
        name="skip_languages"
        label={trans.__('Languages without ++')}
        note={trans.__(
          'Languages that have their own ++ operator, separated by commas.'
        )}
        show={shownNames}
        parse={namesIn}
        invalid={trans.__(
          'Separate the names with commas: at most 100 names of up to 64 characters.'
        )}
      />
    </Group>
  );
}

/** Triggers that are on or off. */
function switches(
  trans: TranslationBundle
): { name: string; label: string; note: string }[] {
  return [
    {
      name: 'enabled_plus',
      label: trans.__('With ++'),
      note: trans.__(
        'Type ++ quickly in code to get suggestions; the plus signs disappear. Typed slowly, they stay.'
      )
    },
    {
      name: 'automatic',
      label: trans.__('While you type'),
      note: trans.__(
        'Each pause in typing sends a request, which may cost money. Alt+\\ asks at any time. The length of the pause is a setting of JupyterLab’s inline completer.'
      )
    }
  ];
}

function shownNames(value: Json): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : '';
}

/** Unique names in lower case; undefined if there are too many, or one is too long. */
function namesIn(text: string): string[] | undefined {
  const names = text
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '');
  const isFine =
    names.length <= MOST_NAMES &&
    names.every(name => name.length <= LONGEST_NAME);
  return isFine ? [...new Set(names)] : undefined;
}
