import { describe, expect, test } from 'vitest';

import { ApiError } from '../../../client/http';
import { problem } from '../../../model/__tests__/fakes';
import { Drafts } from '../drafts';

const broken = new ApiError(500, problem);

describe('a draft', () => {
  test('goes when it is stored, or when it is what is stored', async () => {
    const drafts = new Drafts();
    drafts.edit('mode', 'local', 'auto');
    const stored: unknown[] = [];

    const ok = await drafts.save('mode', async (...given) => {
      stored.push(given);
    });
    expect(ok).toBe(true);
    expect(stored).toEqual([['local', 'auto']]);
    expect(drafts.get('mode')).toBeNull();

    drafts.edit('mode', 'local', 'auto');
    drafts.edit('mode', 'auto', 'auto');
    expect(drafts.get('mode')).toBeNull();
  });

  test('stays with the reason when it cannot be stored, until it is typed on', async () => {
    const drafts = new Drafts();
    drafts.edit('host', 'http://other', 'http://here');

    expect(await drafts.save('host', () => Promise.reject(broken))).toBe(false);
    expect(drafts.get('host')).toMatchObject({
      value: 'http://other',
      busy: false,
      error: problem
    });

    drafts.edit('host', 'http://another', 'http://here');
    expect(drafts.get('host')?.error).toBeNull();
    expect(drafts.get('host')?.base).toBe('http://here');
  });

  test('keeps what was typed while it was being stored', async () => {
    const drafts = new Drafts();
    drafts.edit('host', 'one', 'none');

    await drafts.save('host', async () => {
      expect(drafts.unsavedCount).toBe(0);
      drafts.edit('host', 'one and more', 'none');
    });

    expect(drafts.get('host')).toMatchObject({
      value: 'one and more',
      base: 'one',
      busy: false
    });
    expect(drafts.unsavedCount).toBe(1);
  });

  test('is stored as it was chosen last, also while another choice is being stored', async () => {
    const drafts = new Drafts();
    const stored: unknown[] = [];
    drafts.edit('switch', true, false);

    await drafts.saveChoice('switch', async (...given) => {
      stored.push(given);
      if (stored.length === 1) {
        drafts.edit('switch', false, false);
        await drafts.saveChoice('switch', () => Promise.reject(broken));
      }
    });

    expect(stored).toEqual([
      [true, false],
      [false, true]
    ]);
    expect(drafts.get('switch')).toBeNull();
  });

  test('is not stored twice at once, nor when there is none', async () => {
    const drafts = new Drafts();
    let count = 0;
    const store = async (): Promise<void> => {
      count++;
      expect(await drafts.save('mode', store)).toBe(false);
    };

    expect(await drafts.save('mode', store)).toBe(false);
    drafts.edit('mode', 'local', 'auto');
    await drafts.save('mode', store);

    expect(count).toBe(1);
  });

  test('is kept over what another page stored when the user says so', () => {
    const drafts = new Drafts();
    drafts.edit('mode', 'local', 'auto');

    drafts.rebase('mode', 'remote');

    expect(drafts.get('mode')).toMatchObject({
      value: 'local',
      base: 'remote'
    });
    drafts.drop('mode');
    drafts.rebase('mode', 'auto');
    expect(drafts.names).toEqual([]);
  });
});
