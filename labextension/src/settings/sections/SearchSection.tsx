/** Search in the workspace: what is searched, search by meaning, and the state of the index. */

import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import type { Settings } from '../../wire/generated';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { SwitchSetting } from '../components/fields';
import { useStore } from '../components/hooks';
import { LinesSetting } from '../components/LinesSetting';
import { SearchIndex } from './SearchIndex';
import { SearchMeaning } from './SearchMeaning';

/** The server's limits of each list of globs. */
const GLOBS = { lines: 100, length: 256 };

export function SearchSection(): React.JSX.Element {
  const { settings } = useStore();
  return (
    <Loaded resource={settings}>
      {value => (
        <>
          <Preferences settings={value} />
          {value.values.search.enabled && (
            <>
              <SearchMeaning settings={value} />
              <SearchIndex />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

function Preferences({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const common = { settings, area: 'search' } as const;
  const invalid = trans.__('At most 100 lines of up to 256 characters.');
  return (
    <Group
      title={trans.__('What is searched')}
      note={trans.__(
        'You and the agent search notebooks, code, text files, documents and bibliographies. Files that Git ignores, files with secrets and cells tagged “private” are never searched.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      <SwitchSetting
        {...common}
        name="enabled"
        label={trans.__('Search in the workspace')}
      />
      {settings.values.search.enabled && (
        <SwitchSetting
          {...common}
          name="conversations"
          label={trans.__('Also your conversations')}
          note={trans.__(
            'By words only: a conversation may quote data, which is never sent to an embedding model.'
          )}
        />
      )}
      <LinesSetting
        {...common}
        name="exclude"
        label={trans.__('Leave out')}
        note={trans.__(
          'Patterns of paths, one per line, such as archive/** or **/*.csv.'
        )}
        limits={GLOBS}
        invalid={invalid}
      />
      <LinesSetting
        {...common}
        name="include"
        label={trans.__('Also search as text')}
        note={trans.__(
          'Patterns of text files with unusual names, one per line, such as **/*.log.'
        )}
        limits={GLOBS}
        invalid={invalid}
      />
    </Group>
  );
}
