/** Suggestions at the caret: when they are asked for. */

import * as React from 'react';

import { useTrans } from '../chat/use';
import type { Json, Settings } from '../wire/generated';
import { SwitchSetting, TextSetting } from './fields';
import { Group, Loaded, problemText, Problems } from './pieces';
import { textOf, useStore } from './use';

const LONGEST_NAME = 64;
const MOST_NAMES = 100;

export function SuggestionsSection(): React.JSX.Element {
  const { settings } = useStore();
  return (
    <Loaded resource={settings}>
      {value => <Preferences settings={value} />}
    </Loaded>
  );
}

function Preferences({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const common = { settings, area: 'ghost' } as const;
  return (
    <Group
      title={trans.__('When they are asked for')}
      note={trans.__(
        'Suggestions stand at the caret in grey. Tab, Enter or → takes one, Ctrl/Cmd+→ a word of it; ↑ and ↓ show the others; Esc or any other key sends it away.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      <SwitchSetting
        {...common}
        name="enabled_plus"
        label={trans.__('With ++')}
        note={trans.__(
          'Two quick + in code ask for suggestions, and go. Else they are typed as they are.'
        )}
      />
      <SwitchSetting
        {...common}
        name="automatic"
        label={trans.__('While you type')}
        note={trans.__(
          'Each pause asks a model, which may cost something. Alt+\\ asks at any time; how long a pause is, is set in the inline completer of the lab.'
        )}
      />
      <TextSetting
        {...common}
        name="skip_languages"
        label={trans.__('Not with ++ in')}
        note={trans.__(
          'Languages that have a ++ of their own, with commas between them.'
        )}
        show={shownNames}
        parse={namesIn}
        invalid={trans.__(
          'These are names of languages with commas between them, a hundred at most.'
        )}
      />
    </Group>
  );
}

function shownNames(value: Json): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : '';
}

/** Names in lower case, each once; undefined when there are too many, or one is too long. */
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
