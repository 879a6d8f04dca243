import type { Contents } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { expect, it, vi } from 'vitest';

import type { ServerFrame } from '../../wire/generated';
import { FileMoves, type IMovableFiles } from '../fileMoves';

class Frames {
  readonly frameReceived = new Signal<this, ServerFrame>(this);
}

function moves(unsaved: string[] = []): {
  frames: Frames;
  closed: string[];
  told: Contents.IChangedArgs[];
} {
  const frames = new Frames();
  const files = {
    get: (path: string) => Promise.resolve({ path } as Contents.IModel),
    fileChanged: new Signal<unknown, Contents.IChangedArgs>({})
  };
  const told: Contents.IChangedArgs[] = [];
  files.fileChanged.connect((_, change) => told.push(change));
  const closed: string[] = [];
  const documents = {
    closeFile: (path: string) => {
      closed.push(path);
      return Promise.resolve();
    }
  };
  // The signal is the only member in use.
  new FileMoves(frames, files as unknown as IMovableFiles, documents, path =>
    unsaved.includes(path)
  );
  return { frames, closed, told };
}

it('tells the lab of a move as of a rename by the user', async () => {
  const { frames, told } = moves();
  frames.frameReceived.emit({
    type: 'file-moved',
    path: 'a.py',
    new_path: 'b.py'
  });
  await vi.waitFor(() =>
    expect(told).toEqual([
      {
        type: 'rename',
        oldValue: { path: 'a.py' },
        newValue: { path: 'b.py' }
      }
    ])
  );
});

it('closes what was removed, but not what has unsaved text', () => {
  const { frames, closed, told } = moves(['b.py']);
  frames.frameReceived.emit({ type: 'file-removed', path: 'a.py' });
  frames.frameReceived.emit({ type: 'file-removed', path: 'b.py' });
  expect(closed).toEqual(['a.py']);
  expect(told.map(({ type }) => type)).toEqual(['delete', 'delete']);
});
