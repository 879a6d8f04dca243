/** The review of the folder's settings, and the links to it. */

import { screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { item } from '../../../trust/__tests__/fakes';
import type { FolderTrustView, TrustItem } from '../../../wire/generated';
import { act, press, show } from '../../__tests__/renderSettings';

const review = (
  items: readonly TrustItem[],
  policy: FolderTrustView['policy'] = 'ask'
) =>
  show('folder', api => {
    api.folder.held = { folder: '/home/ada/clone', policy, items: [...items] };
  });
const main = (container: Element) =>
  container.querySelector('.shoulders-Settings-main')?.textContent ?? '';

describe('the folder', () => {
  test('shows an item exactly as it is', async () => {
    const { container } = await review([
      item('provider', {
        name: 'Anthropic',
        content: '{"url": "https://a\u202e.example"}',
        host: 'models.example.org',
        warnings: ['Sends the key ANTHROPIC_API_KEY to models.example.org.'],
        state: 'changed'
      })
    ]);
    const text = main(container);
    for (const part of [
      '/home/ada/clone',
      'Model server',
      'Anthropic',
      '.shoulders/file.json, line 3',
      'Sends text to: models.example.org',
      'Sends the key ANTHROPIC_API_KEY',
      'https://a⟨U+202E⟩.example',
      'Changed since you reviewed it'
    ]) {
      expect(text).toContain(part);
    }
  });

  test('is answered item by item, and the focus stays in the list', async () => {
    const { api, user } = await review([
      item('rule', { name: 'run_command' }),
      item('instructions', { name: 'AGENTS.md' })
    ]);

    await press(user, 'Don’t trust: Permission rule run_command');
    expect(document.activeElement?.getAttribute('aria-label')).toBe(
      'Don’t trust: Instructions AGENTS.md'
    );
    await press(user, 'Trust: Instructions AGENTS.md');

    expect(api.folder.answers).toEqual([
      { decline: ['id of rule'] },
      { trust: ['id of instructions'] }
    ]);
    expect(document.activeElement?.textContent).toBe(
      'Nothing is waiting for your answer.'
    );
  });

  test.each([
    ['Trust all 2', { trust: ['id of rule', 'id of skill'] }],
    ['Don’t trust any', { decline: ['id of rule', 'id of skill'] }]
  ])('“%s” answers for all that wait', async (button, answer) => {
    const { api, user } = await review(
      [
        item('rule'),
        item('rule'),
        item('skill'),
        item('model', { state: 'declined' })
      ].slice(button === 'Trust all 2' ? 1 : 0)
    );
    await press(user, button);
    expect(api.folder.answers).toEqual([answer]);
    expect(
      screen.getByText('Nothing is waiting for your answer.')
    ).toBeTruthy();
  });

  test('trusts MCP servers one by one', async () => {
    const { api, user } = await review([
      item('rule'),
      item('skill'),
      item('program')
    ]);
    await press(user, 'Trust all 2 settings');
    expect(api.folder.answers).toEqual([
      { trust: ['id of rule', 'id of skill'] }
    ]);
    await press(user, 'Trust: MCP server a program');
    expect(api.folder.answers.at(-1)).toEqual({ trust: ['id of program'] });
  });

  test('lists what was answered, folded, for another answer', async () => {
    const { api, user } = await review([item('rule', { state: 'trusted' })]);
    expect(screen.queryByText('Permission rule')).toBeNull();

    await press(user, 'Already answered (1)');
    await press(user, 'Don’t trust: Permission rule a rule');

    expect(api.folder.answers).toEqual([{ decline: ['id of rule'] }]);
    expect(screen.getByText('Not trusted')).toBeTruthy();
    expect(document.activeElement?.textContent).toBe('Trust');
  });

  test('says when it changed under the answer, and shows the new list', async () => {
    const { api, user, container } = await review([item('rule')]);
    api.folder.have(item('rule', { id: 'new id', content: 'another' }));

    await press(user, 'Trust: Permission rule a rule');

    const alert = screen.getByRole('alert');
    expect(alert.textContent).toContain(
      'The folder’s settings have changed. Your answer was not saved.'
    );
    expect(alert.parentElement).toBe(document.activeElement);
    expect(main(container)).toContain('another');
  });

  test.each<[string, TrustItem[], FolderTrustView['policy'], string]>([
    ['nothing', [], 'ask', 'This folder has no AI settings of its own.'],
    [
      'a folder that is trusted as a whole',
      [item('rule', { state: 'trusted' })],
      'trusted',
      'your administrator trusts it'
    ],
    [
      'a folder that cannot be trusted',
      [item('rule')],
      'forbidden',
      'Your administrator does not allow settings that come with a folder.'
    ]
  ])('asks nothing about %s', async (_, items, policy, sentence) => {
    const { container } = await review(items, policy);
    const text = main(container);
    expect(text).toContain(sentence);
    items.forEach(({ content }) => expect(text).toContain(content));
    expect(screen.queryByRole('button', { name: /trust/i })).toBeNull();
  });

  test('is read again when the server says so', async () => {
    const { api, socket, container } = await review([]);
    api.folder.have(item('skill'));
    await act(() =>
      socket.frameReceived.emit({ type: 'settings-update', part: 'trust' })
    );
    expect(main(container)).toContain('Skill');
  });
});

test('a rule that is not applied leads to the review', async () => {
  const { user } = await show('rules', api => {
    const rule = {
      action: 'allow',
      tool: 'run_command',
      match: null,
      examples: null,
      problem: null,
      line: 2,
      locked: false,
      applies: false,
      note: null
    } as const;
    api.list = {
      ...api.list,
      rules: [rule, { ...rule, tool: 'read_file', applies: true }]
    };
  });
  const notes = screen.getAllByText(/Not applied: comes with this folder/);
  expect(notes).toHaveLength(1);

  await press(user, 'Review…');
  const heading = screen.getByRole('heading', { level: 2 });
  expect(heading.textContent).toBe('This folder');
  expect(document.activeElement).toBe(heading);
});

test.each([
  ['new', 'Read as data, not as instructions, until you trust it.'],
  ['changed', 'Read as data, not as instructions, until you trust it.'],
  ['declined', 'Not used: you chose not to trust it.'],
  ['trusted', null]
] as const)('instructions that are %s', async (state, note) => {
  await show('instructions', api => {
    api.files = [
      {
        path: 'AGENTS.md',
        role: 'other',
        characters: 5,
        rules: 0,
        state,
        problems: []
      }
    ];
  });
  const line = screen.getByText('AGENTS.md').closest('li') ?? document.body;
  expect(within(line).queryByRole('button', { name: 'Review…' })).toEqual(
    note === null ? null : expect.anything()
  );
  expect(line.textContent).toContain(note ?? '5 characters');
});
