/** Shared files and the to-do list of a turn. */

import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';

import type { Event } from '../../wire/generated';
import { act, showPanel } from './harness';
import { button, log } from './queries';

describe('a shared file', () => {
  const urls = { createObjectURL: () => 'blob:1', revokeObjectURL: () => {} };

  test('is a card with a picture that came through the API', async () => {
    Object.assign(URL, urls);
    const { server, host, container } = await showPanel(
      log('totals-and-cards')
    );
    const card = screen.getByRole('region', { name: 'Shared file plot.png' });
    expect(card.textContent).toContain('2 kB');
    expect(server.requests).toContainEqual(['artifact', 's1', 'plot.png']);
    const picture = container.querySelector('.shoulders-Artifact img');
    expect(picture?.getAttribute('src')).toBe('blob:1');
    fireEvent.click(button('Download plot.png'));
    await act(() => {});
    expect(host.done.at(-1)).toEqual(['save', 'plot.png']);
  });

  const sharing = (name: string, media_type: string): Event[] =>
    log('totals-and-cards').map(event =>
      event.type === 'artifact-share'
        ? { ...event, name, media_type, description: 'Made **today**' }
        : event
    );

  test.each([
    ['a,b\n1,2\n', 'ab', '12'],
    ['no table', undefined, undefined]
  ])('of a table shows its first rows: %j', async (text, header, row) => {
    const { container } = await showPanel(
      sharing('a.csv', 'text/csv'),
      server => {
        server.file = new Blob([text]);
      }
    );
    await vi.waitFor(() =>
      expect(
        container.querySelector(
          '.shoulders-Artifact-table, .shoulders-Artifact pre'
        )
      ).toBeTruthy()
    );
    const [head, first] = container.querySelectorAll('.shoulders-Artifact tr');
    expect(head?.textContent).toBe(header);
    expect(first?.textContent).toBe(row);
  });

  test('of text is shown when asked for', async () => {
    const { container, server } = await showPanel(sharing('a.md', 'text/md'));
    expect(container.textContent).toContain('Made **today**');
    expect(server.requests.map(([name]) => name)).not.toContain('artifact');
    fireEvent.click(button('Preview'));
    await vi.waitFor(() =>
      expect(container.querySelector('.shoulders-Plain')?.textContent).toBe(
        'content'
      )
    );
  });

  test('of HTML is shown in a frame that may do nothing', async () => {
    const { container } = await showPanel(sharing('r.html', 'text/html'));
    fireEvent.click(button('Preview'));
    const frame = await vi.waitFor(() => {
      const found = container.querySelector('iframe');
      expect(found).not.toBeNull();
      return found;
    });
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('srcdoc')).toContain("default-src 'none'");
  });

  test('that cannot be read can be tried again', async () => {
    Object.assign(URL, urls);
    const { container } = await showPanel(log('totals-and-cards'), server => {
      const read = server.artifact.bind(server);
      let first = true;
      server.artifact = async (id, name) => {
        if (first) {
          first = false;
          throw new Error('gone');
        }
        return read(id, name);
      };
    });
    expect(screen.getByText(/did not answer/)).toBeTruthy();
    fireEvent.click(button('Try again'));
    await act(() => {});
    expect(container.querySelector('.shoulders-Artifact img')).toBeTruthy();
  });
});

describe('the checklist', () => {
  test('folds, and then says what is next', async () => {
    const { container } = await showPanel(log('totals-and-cards'));
    const list = screen.getByRole('region', { name: 'Checklist' });
    expect(list.querySelectorAll('li')).toHaveLength(2);
    fireEvent.click(within(list).getByRole('button'));
    expect(list.textContent).toBe('1 of 2 doneFix');
    expect(container.querySelector('.shoulders-Todo li')).toBeNull();
  });

  test('is out of the way when all is done', async () => {
    const events = log('totals-and-cards').map(event =>
      event.type === 'todo-update'
        ? {
            ...event,
            items: event.items.map(item => ({ ...item, done: true }))
          }
        : event
    );
    await showPanel(events);
    const list = screen.getByRole('region', { name: 'Checklist' });
    expect(list.textContent).toBe('2 of 2 done');
    fireEvent.click(within(list).getByRole('button'));
    expect(list.querySelectorAll('li')).toHaveLength(2);
  });
});
