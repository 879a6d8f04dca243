/** The input: `@` and `/` lists, attachments, models, the request sheet. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { model, session } from '../../../model/__tests__/fakes';
import { fixture } from '../../../model/__tests__/reducerFixtures';
import type { Attachment } from '../../../wire/generated';
import { act, showPanel } from '../../__tests__/harness';

const field = () => screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);
const button = (name: string) => screen.getByRole('button', { name });
const options = () =>
  screen.queryAllByRole('option').map(option => option.textContent);
const attached = () =>
  [...document.querySelectorAll('.shoulders-mod-attached')].map(
    chip => chip.textContent
  );
const write = async (text: string) => {
  await act(async () => {
    fireEvent.change(field(), { target: { value: text } });
  });
};
const press = (key: string) =>
  act(() => void fireEvent.keyDown(field(), { key }));

/** The panel beside a notebook with two cells, the second with an error. */
async function beside() {
  const shown = await showPanel([], (server, host) => {
    server.sessionList = [session('old', { title: 'An older talk' })];
    host.cells = [
      {
        id: 'c1',
        number: 1,
        type: 'code',
        line: 'import pandas',
        hasError: false
      },
      { id: 'c2', number: 2, type: 'code', line: '1 / 0', hasError: true }
    ];
    host.variables = {
      variables: [{ name: 'bikes', summary: 'DataFrame · 10 rows' }],
      reason: null
    };
    host.files = {
      matches: [
        { path: 'data/bikes.csv', kind: 'file' },
        { path: 'data', kind: 'folder' }
      ],
      complete: true
    };
    host.skills = {
      skills: [{ name: 'tidy', description: 'Tidies tables', path: 'p' }]
    };
  });
  await act(() =>
    shown.host.look({ document: 'a.ipynb', openDocuments: ['a.ipynb', 'b.py'] })
  );
  const sent = () =>
    shown.server.requests
      .filter(([name]) => name === 'sendMessage')
      .at(-1)?.[2];
  return { ...shown, sent };
}

describe('after @', () => {
  test('all that can be named is listed by kind', async () => {
    await beside();
    await write('see @');
    expect(screen.getByRole('listbox')).toBeTruthy();
    expect(
      within(screen.getByRole('listbox'))
        .getAllByRole('group')
        .map(group => group.getAttribute('aria-label'))
    ).toEqual([
      'Errors',
      'Cells',
      'Variables',
      'Notebooks',
      'Files',
      'Folders',
      'Conversations'
    ]);
    expect(options()).toEqual([
      'Error of cell 21 / 0',
      'Cell 1import pandas',
      'Cell 21 / 0',
      'bikesDataFrame · 10 rows',
      'a.ipynb',
      'b.py',
      'bikes.csvdata',
      'data',
      'An older talk'
    ]);
  });

  test('arrows choose, Enter and Tab pick, and what is named goes with the message', async () => {
    const { host, sent } = await beside();
    await write('see @bik');
    expect(host.asked).toContainEqual(['files', 'bik']);
    expect(options()).toEqual([
      'bikesDataFrame · 10 rows',
      'bikes.csvdata',
      'data'
    ]);
    await press('ArrowDown');
    expect(field().getAttribute('aria-activedescendant')).toBe(
      screen.getAllByRole('option', { selected: true })[0]?.id
    );
    await press('Enter');
    expect(field().value).toBe('see @data/bikes.csv ');
    expect(screen.queryByRole('listbox')).toBeNull();
    await write('see @data/bikes.csv and @err');
    await press('Tab');
    expect(attached()).toEqual(['bikes.csv', 'Error of cell 2']);
    await press('Enter');
    expect(sent()).toMatchObject({
      attachments: [
        { kind: 'file', path: 'data/bikes.csv' },
        { kind: 'error', path: 'a.ipynb', cell_id: 'c2' }
      ]
    });
    expect(attached()).toEqual([]);
  });

  test('Esc closes the list and nothing else', async () => {
    const { server } = await beside();
    await write('@b');
    await press('Escape');
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(field().value).toBe('@b');
    expect(server.requests.map(([name]) => name)).not.toContain('cancel');
  });

  test('what is attached opens and can be taken away', async () => {
    const { host, conversations } = await beside();
    const cell: Attachment = { kind: 'cell', path: 'a.ipynb', cell_id: 'c2' };
    await act(() => {
      conversations.attach(conversations.active.key, cell);
      conversations.attach(conversations.active.key, { ...cell });
    });
    expect(attached()).toEqual(['Cell 2']);
    fireEvent.click(button('Cell 2'));
    expect(host.done).toContainEqual(['open', 'a.ipynb', 'c2']);
    await act(() => void fireEvent.click(button('Remove Cell 2')));
    expect(attached()).toEqual([]);
  });
});

describe('after /', () => {
  test('commands and skills are listed, and found by their letters', async () => {
    await beside();
    await write('/');
    const all = options().map(option => option.split(/(?=[A-Z])/)[0]);
    for (const name of [
      '/model',
      '/clear',
      '/cost',
      '/tools',
      '/skills',
      '/plan',
      '/request',
      '/instructions'
    ]) {
      expect(all).toContain(name);
    }
    expect(options().at(-1)).toBe('/tidyTidies tables');
    await write('/pla');
    expect(options()).toEqual(['/planOnly read and plan']);
  });

  test('a mode is chosen, and what follows it is sent in it', async () => {
    const { sent } = await beside();
    await write('/plan tidy this up');
    await press('Enter');
    expect(sent()).toMatchObject({ text: 'tidy this up', mode: 'plan' });
    await write('/ask');
    await press('Enter');
    expect(field().value).toBe('');
    expect(button('Ask')).toBeTruthy();
  });

  test('a command that takes something lists it', async () => {
    const { conversations } = await beside();
    await write('/model');
    await press('Enter');
    expect(field().value).toBe('/model ');
    expect(options()).toHaveLength(1);
    await press('Enter');
    expect(field().value).toBe('');
    expect(conversations.model(conversations.active.key)).toBe('demo/demo');
  });

  test('what stands behind a command that takes nothing stays in the input', async () => {
    await beside();
    await write('/tools are broken, why?');
    await press('Enter');
    await act(() => {});
    expect(screen.getByRole('dialog', { name: 'Tools' })).toBeTruthy();
    expect(field().value).toBe('are broken, why?');
  });

  test.each(['/new', '/clear'])(
    'what is being written goes along with %s',
    async name => {
      const { conversations } = await showPanel(
        fixture('streamed-text').events
      );
      const { key } = conversations.active;
      const file: Attachment = { kind: 'file', path: 'a.csv' };
      await act(() => conversations.attach(key, file));
      await write(`${name} plot this`);
      await press('Enter');
      await act(() => {});
      expect(conversations.active.key).not.toBe(key);
      expect(field().value).toBe('plot this');
      expect(attached()).toEqual(['a.csv']);
      expect(conversations.draft(key)).toBe('');
    }
  );

  test('a skill stays in the message', async () => {
    const { sent } = await beside();
    await write('/tid');
    await press('Enter');
    expect(field().value).toBe('/tidy ');
    await write('/tidy this table');
    await press('Enter');
    expect(sent()).toMatchObject({ text: '/tidy this table' });
  });

  test('what is no command is a message', async () => {
    const { sent } = await beside();
    await write('/usr/lib is full');
    await press('Enter');
    expect(sent()).toMatchObject({ text: '/usr/lib is full' });
  });

  test('tools and skills are shown above the input, closed with Esc', async () => {
    const { host } = await beside();
    host.tools = {
      ...host.tools,
      tools: [
        {
          name: 'fetch_url',
          category: 'web',
          description: '',
          risk: 'read',
          external: true,
          sandboxed: null,
          enabled: false,
          off_because: 'external',
          parameters: {}
        }
      ]
    };
    await write('/tools');
    await press('Enter');
    await act(() => {});
    const sheet = screen.getByRole('dialog', { name: 'Tools' });
    expect(sheet.textContent).toContain('reads · external · off');
    fireEvent.keyDown(sheet, { key: 'Escape' });
    expect(screen.queryByRole('dialog')).toBeNull();
    await write('/skills');
    await press('Enter');
    await act(() => {});
    await act(() => void fireEvent.click(button('/tidy')));
    expect(field().value).toBe('/tidy ');
  });

  test('/instructions, /export, /compact and /undo do what they say', async () => {
    const { host, server } = await showPanel(fixture('streamed-text').events);
    const run = async (text: string) => {
      await write(text);
      await press('Escape');
      await press('Enter');
      await act(() => {});
    };
    await run('/instructions');
    expect(host.asked).toContainEqual(['instructions']);
    await run('/export jsonl');
    expect(server.requests).toContainEqual(['exportSession', 's1', 'jsonl']);
    expect(host.done.at(-1)).toEqual([
      'save',
      expect.stringMatching(/\.jsonl$/)
    ]);
    await run('/compact');
    expect(server.requests.at(-1)?.[0]).toBe('compact');
    await run('/undo');
    expect(server.requests.at(-1)?.[0]).toBe('undoTurn');
    await run('/clear');
    expect(document.body.textContent).toContain('What shall we work on?');
  });
});

describe('the request', () => {
  test('of the message being written is shown as it would be sent', async () => {
    const { host } = await beside();
    await write('Plot it.');
    fireEvent.click(button('Attach, and more'));
    fireEvent.click(screen.getByRole('menuitem', { name: /^Show request/ }));
    await act(() => {});
    const sheet = screen.getByRole('dialog');
    expect(sheet.textContent).toContain(
      'demo/demo · about 1.2k of 200k tokens'
    );
    const asked = host.asked.find(([what]) => what === 'preview');
    expect(asked?.[2]).toMatchObject({
      text: 'Plot it.',
      context: { active_document: 'a.ipynb' }
    });
    fireEvent.click(screen.getByRole('button', { name: /^System prompt/ }));
    expect(sheet.querySelector('pre')?.textContent).toBe('You are an agent.');
  });

  test('of each step of the last turn is shown as it was sent', async () => {
    const { host } = await showPanel(fixture('streamed-text').events);
    await write('/request');
    await press('Enter');
    await act(() => {});
    const which = screen.getByRole('combobox', { name: 'Request' });
    await act(() => void fireEvent.change(which, { target: { value: '1' } }));
    await act(() => {});
    expect(host.asked.at(-1)).toEqual(['sent', 's1', expect.any(String), 1]);
  });
});

describe('what is pasted and dropped', () => {
  test('cells copied in the lab become attachments', async () => {
    const { host } = await beside();
    host.copied = [{ kind: 'cell', path: 'a.ipynb', cell_id: 'c1' }];
    const clipboardData = { getData: () => '', files: [] };
    await act(() => void fireEvent.paste(field(), { clipboardData }));
    expect(attached()).toEqual(['Cell 1']);
  });

  test('a file from outside goes into the workspace', async () => {
    const { host } = await beside();
    const files = [new File(['a,b'], 'new.csv', { type: 'text/csv' })];
    const clipboardData = { getData: () => '', files };
    await act(() => void fireEvent.paste(field(), { clipboardData }));
    expect(host.asked).toContainEqual(['upload', 'new.csv']);
    expect(attached()).toEqual(['new.csv']);
  });

  test('a picture that cannot be read says so', async () => {
    await beside();
    const files = [new File(['x'], 'broken.png', { type: 'image/png' })];
    const clipboardData = { getData: () => '', files };
    await act(() => void fireEvent.paste(field(), { clipboardData }));
    expect(screen.getByRole('alert').textContent).toContain(
      'broken.png is not a readable image.'
    );
  });

  test('a drag of the lab is taken over the whole conversation', async () => {
    const { host, container } = await beside();
    host.taken = [{ kind: 'folder', path: 'data' }];
    const area = container.querySelector('.shoulders-Conversation');
    const drag = (type: string) =>
      Object.assign(new Event(type, { bubbles: true, cancelable: true }), {
        mimeData: { hasData: () => true, getData: () => null },
        proposedAction: 'move',
        dropAction: 'none'
      });
    const over = drag('lm-dragover');
    await act(() => void area?.dispatchEvent(over));
    expect(over).toMatchObject({ defaultPrevented: true, dropAction: 'move' });
    expect(container.textContent).toContain('Drop to attach');
    await act(() => void area?.dispatchEvent(drag('lm-drop')));
    expect(attached()).toEqual(['data']);
    expect(container.textContent).not.toContain('Drop to attach');
  });
});

describe('models', () => {
  test('are searched, with facts and reasons, and chosen with the keyboard', async () => {
    const { conversations } = await showPanel([], server => {
      server.modelList = {
        ...server.modelList,
        models: [
          model('demo/demo', { label: 'Demo (no AI model)' }),
          model('a/big', {
            provider: 'a',
            provider_name: 'Anthropic',
            prices: {
              input: 3_000_000,
              output: 15_000_000,
              cache_read: null,
              cache_write: null
            }
          }),
          model('a/none', {
            provider: 'a',
            provider_name: 'Anthropic',
            available: false,
            unavailable_reason: 'No key'
          })
        ]
      };
    });
    const user = userEvent.setup();
    fireEvent.click(button('Demo (no AI model)'));
    expect(options()).toEqual([
      'Demo (no AI model)200k context',
      'Name of a/big200k context · $3 in, $15 out per M',
      'Name of a/noneNo key'
    ]);
    await user.keyboard('big');
    expect(options()).toEqual([
      'Name of a/big200k context · $3 in, $15 out per M'
    ]);
    await user.keyboard('{Enter}');
    expect(conversations.model(conversations.active.key)).toBe('a/big');
    expect(screen.queryByRole('listbox')).toBeNull();
  });
});

describe('what is left out of the situation', () => {
  test('can be taken back, and is offered again with another document', async () => {
    const { host } = await beside();
    const chips = () =>
      [...document.querySelectorAll('.shoulders-Chip')].map(c => c.textContent);
    expect(chips()).toEqual(['a.ipynb', '1 open tab']);
    fireEvent.click(button('Remove 1 open tab'));
    expect(chips()).toEqual(['a.ipynb', 'Context']);
    fireEvent.click(button('Context'));
    expect(chips()).toEqual(['a.ipynb', '1 open tab']);
    fireEvent.click(button('Remove a.ipynb'));
    await act(() => host.look({ document: 'b.py' }));
    expect(chips()).toEqual(['b.py', '1 open tab']);
  });
});
