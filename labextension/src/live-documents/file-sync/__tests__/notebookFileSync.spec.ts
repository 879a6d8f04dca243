import { afterEach, describe, expect, it, vi } from 'vitest';

import { NotebookFileSync } from '../notebookFileSync';
import { OpenNotebook } from '../../notebooks/openNotebook';
import { open, type FakeContext } from '../../__tests__/fakeLab';

const opened: FakeContext[] = [];
const conflicts = vi.fn<(count: number) => void>();

function watched(): { lab: FakeContext; watch: NotebookFileSync } {
  const lab = open(
    { id: 'a', source: 'one' },
    { id: 'b', source: 'two', outputs: ['old'], count: 1 }
  );
  opened.push(lab);
  const notebook = new OpenNotebook(lab.context);
  return { lab, watch: new NotebookFileSync(notebook, lab.files, conflicts) };
}

afterEach(() => {
  opened.splice(0).forEach(lab => lab.dispose());
  conflicts.mockClear();
});

describe('FileWatch', () => {
  it('leaves a notebook alone whose file is the one it knows', async () => {
    const { lab, watch } = watched();
    lab.type('a', '!');
    expect(await watch.mergeChanges()).toBe(false);
    expect([lab.files.reads, lab.model.dirty]).toEqual([0, true]);
  });

  it('takes up what others wrote, and is saved then', async () => {
    const { lab, watch } = watched();
    lab.files.write(
      { id: 'a', source: 'uno' },
      { id: 'x', source: 'new', metadata: { tags: ['t'] } },
      { id: 'b', source: 'two', outputs: ['new'], count: 2 }
    );
    expect(await watch.mergeChanges()).toBe(true);
    expect(lab.sources).toEqual([
      ['a', 'uno'],
      ['x', 'new'],
      ['b', 'two']
    ]);
    expect(lab.outputs('b')).toEqual(['new']);
    expect(lab.model.dirty).toBe(false);
    // The next save finds the file it knows.
    expect(lab.contentsModel.hash).toBe('hash 2');
  });

  it('keeps what was typed here, unsaved', async () => {
    const { lab, watch } = watched();
    lab.type('a', ' typed');
    lab.files.write({ id: 'a', source: 'one' }, { id: 'b', source: 'dos' });
    await watch.mergeChanges();
    expect(lab.sources).toEqual([
      ['a', 'one typed'],
      ['b', 'dos']
    ]);
    expect(lab.model.dirty).toBe(true);
  });

  it('keeps both texts of a cell that was changed on both sides, and says so', async () => {
    const { lab, watch } = watched();
    lab.type('a', ' typed');
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    await watch.mergeChanges();
    expect(lab.sources.map(([, source]) => source)).toEqual([
      'one typed',
      'uno',
      'two'
    ]);
    expect(lab.model.sharedModel.cells[1]?.cell_type).toBe('raw');
    expect(conflicts).toHaveBeenCalledExactlyOnceWith(1);
  });

  it('keeps outputs that are newer here', async () => {
    const { lab, watch } = watched();
    lab.print('b', 'mine');
    lab.files.write(
      { id: 'a', source: 'one' },
      { id: 'b', source: 'two', outputs: ['theirs'], count: 2 }
    );
    await watch.mergeChanges();
    expect(lab.outputs('b')).toEqual(['mine']);
  });

  it('knows what it saved, and that text typed during the save is not in the file', async () => {
    const { lab, watch } = watched();
    lab.type('a', ' saved');
    lab.save(() => lab.type('a', ' and more'));
    lab.files.write(
      { id: 'a', source: 'one saved' },
      { id: 'b', source: 'dos' }
    );
    await watch.mergeChanges();
    expect(lab.sources).toEqual([
      ['a', 'one saved and more'],
      ['b', 'dos']
    ]);
    expect(conflicts).not.toHaveBeenCalled();
  });

  it('lets a save meet the file first', async () => {
    const { lab, watch } = watched();
    let taken = Promise.resolve(true);
    lab.save(() => {
      taken = watch.mergeChanges();
    });
    expect(await taken).toBe(false);
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    expect(await watch.mergeChanges()).toBe(true);
  });

  it('takes a notebook that the lab reloaded as the file', async () => {
    const { lab, watch } = watched();
    lab.type('a', ' typed');
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    lab.load();
    lab.files.write({ id: 'a', source: 'eins' }, { id: 'b', source: 'two' });
    await watch.mergeChanges();
    expect(lab.sources[0]).toEqual(['a', 'eins']);
    expect(conflicts).not.toHaveBeenCalled();
  });

  it('takes up many cells that came, went and moved at once, as one step', async () => {
    const { lab, watch } = watched();
    const specs = ['a', 'b', 'c', 'd', 'e'].map(id => ({ id, source: id }));
    lab.files.write(...specs);
    await watch.mergeChanges();
    expect(lab.sources.map(([id]) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const other = ['x', 'e', 'y', 'z', 'b'].map(id => ({ id, source: id }));
    lab.files.write(...other);
    await watch.mergeChanges();
    const found = ['x', 'e', 'y', 'z', 'b'].map(id => [id, id]);
    expect(lab.sources).toEqual(found);
    expect(lab.model.dirty).toBe(false);
    lab.model.sharedModel.undo();
    expect(lab.sources.map(([id]) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('takes up the metadata of the notebook, and a cell of another type', async () => {
    const { lab, watch } = watched();
    lab.files.write(
      { id: 'a', source: 'one', type: 'markdown' },
      { id: 'b', source: 'two', outputs: ['old'], count: 1 }
    );
    lab.files.content.metadata = { title: 'theirs' };
    await watch.mergeChanges();
    expect(lab.model.sharedModel.cells.map(cell => cell.cell_type)).toEqual([
      'markdown',
      'code'
    ]);
    expect(lab.model.sharedModel.metadata).toEqual({ title: 'theirs' });
    expect(lab.model.dirty).toBe(false);
  });

  it('keeps the metadata that were changed here, unsaved', async () => {
    const { lab, watch } = watched();
    lab.model.setMetadata('title', 'mine');
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    await watch.mergeChanges();
    expect(lab.model.sharedModel.metadata).toMatchObject({ title: 'mine' });
    expect(lab.model.dirty).toBe(true);
  });

  it('knows the cells of a file without ids', async () => {
    const { lab, watch } = watched();
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    const cells = lab.files.content.cells as Record<string, unknown>[];
    lab.files.content.cells = cells.map(cell => ({ ...cell, id: undefined }));
    await watch.mergeChanges();
    expect(lab.sources).toEqual([
      ['a', 'uno'],
      ['b', 'two']
    ]);
    expect(lab.model.dirty).toBe(false);
  });
});
