import { expect, test } from 'vitest';

import { trans } from '../../settings/__tests__/fakes';
import type { TrustItem } from '../../wire/generated';
import { hostText } from '../items';
import { trustSentence } from '../summary';
import { item } from './fakes';

const server = (host: string | null) => item('provider', { host });
const OWN = 'This folder has its own AI settings: ';
const CHANGED =
  'This folder’s AI settings have changed since you reviewed them: ';
const changed = { state: 'changed' } as const;

test.each<[string, readonly TrustItem[]]>([
  [
    `${OWN}2 permission rules, 1 model server (models.example.org), instructions.`,
    [
      item('instructions'),
      item('rule'),
      server('models.example.org'),
      item('rule')
    ]
  ],
  [`${OWN}1 permission rule.`, [item('rule')]],
  [
    `${OWN}4 model servers (a.example, b.example and 1 more).`,
    [
      server('a.example'),
      server('b.example'),
      server('c.example'),
      server('a.example')
    ]
  ],
  [`${OWN}1 model server.`, [server(null)]],
  [
    `${OWN}1 model server (a.example), 1 model, 2 settings (b.example).`,
    [
      server('a.example'),
      item('model', { host: 'a.example' }),
      item('setting', { name: 'default', host: 'a.example' }),
      item('setting', { name: 'models.ollama_host', host: 'b.example' })
    ]
  ],
  [
    `${OWN}2 instruction files, 2 skills.`,
    [item('skill'), item('instructions'), item('skill'), item('instructions')]
  ],
  [`${CHANGED}1 skill.`, [item('skill', changed)]],
  [
    `${OWN}1 permission rule, 1 skill. Some have changed since you reviewed them.`,
    [item('skill', changed), item('rule')]
  ],
  [
    `${OWN}1 model server (good⟨U+202E⟩.example).`,
    [server('good\u202e.example')]
  ],
  [
    `${OWN}1 model server (…${'long.'.repeat(12).slice(-48)}evil.example).`,
    [server(`api.anthropic.com.${'long.'.repeat(30)}evil.example`)]
  ]
])('%s', (sentence, items) => {
  expect(trustSentence(items, trans)).toBe(sentence);
});

test.each([
  ['models.example.org:8080', 'models.example.org:8080'],
  ['аpple.example', 'аpple.example (xn--pple-43d.example)'],
  ['a b\u202e', 'a b⟨U+202E⟩']
])('the host %j is read as %j', (host, text) => {
  expect(hostText(host)).toBe(text);
});
