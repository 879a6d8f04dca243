import { DisposableDelegate } from '@lumino/disposable';
import { afterEach, describe, expect, it } from 'vitest';

import { OpenText } from '../openText';
import { TextFileSync, type ITextConflict } from '../textFileSync';
import { openText, type FakeTextContext } from '../../__tests__/fakeTextLab';

const opened: FakeTextContext[] = [];
let questions: ITextConflict[] = [];

function watched(content = 'one\ntwo\nthree\n'): {
  lab: FakeTextContext;
  file: TextFileSync;
} {
  const lab = openText(content);
  opened.push(lab);
  const file = new TextFileSync(new OpenText(lab.context), lab.files, clash => {
    questions.push(clash);
    return new DisposableDelegate(() => {
      questions = questions.filter(each => each !== clash);
    });
  });
  return { lab, file };
}

afterEach(() => {
  opened.splice(0).forEach(lab => lab.dispose());
  questions = [];
});

describe('TextFile', () => {
  it('leaves a text alone whose file is the one it knows', async () => {
    const { lab, file } = watched();
    lab.type('typed');
    expect(await file.mergeChanges()).toBe(false);
    expect([lab.files.reads, lab.model.dirty]).toEqual([0, true]);
  });

  it('takes up what others wrote, and is saved then', async () => {
    const { lab, file } = watched();
    lab.files.write('one\n2\nthree\n');
    expect(await file.mergeChanges()).toBe(true);
    expect([lab.text, lab.model.dirty]).toEqual(['one\n2\nthree\n', false]);
    expect(lab.contentsModel.hash).toBe('hash 2'); // The next save finds the file it knows.
  });

  it('takes the line ends of the file up as well', async () => {
    const { lab, file } = watched();
    lab.files.write('one\r\n2\r\n');
    await file.mergeChanges();
    expect([lab.text, lab._lineEnding]).toEqual(['one\n2\n', '\r\n']);
  });

  it('merges what was typed here, unsaved', async () => {
    const { lab, file } = watched();
    lab.type('typed');
    lab.files.write('uno\ntwo\nthree\n');
    await file.mergeChanges();
    expect(lab.text).toBe('uno\ntwo\nthree\ntyped');
    expect(lab.model.dirty).toBe(true);
    await lab.save();
    expect(lab.files.content).toBe('uno\ntwo\nthree\ntyped');
  });

  it('merges again on what it took up', async () => {
    const { lab, file } = watched();
    lab.type('typed');
    lab.files.write('uno\ntwo\nthree\n');
    await file.mergeChanges();
    lab.files.write('uno\ndos\nthree\n');
    await file.mergeChanges();
    expect(lab.text).toBe('uno\ndos\nthree\ntyped');
  });

  it('asks where the same lines were changed, and changes nothing before', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    expect(await file.mergeChanges()).toBe(false);
    expect(questions.map(({ path }) => path)).toEqual(['a.py']);
    expect([lab.text, lab.model.dirty]).toEqual(['mine\ntwo\nthree\n', true]);
    expect(lab.contentsModel.hash).toBe('hash 1'); // A save now makes JupyterLab ask too.
  });

  it('keeps the text here when told to, and the next save knows the file', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    await file.mergeChanges();
    questions[0]?.keep();
    expect([lab.text, lab.model.dirty]).toEqual(['mine\ntwo\nthree\n', true]);
    expect([lab.contentsModel.hash, questions]).toEqual(['hash 2', []]);
  });

  it('takes the text of the file when told to, which can be undone', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    await file.mergeChanges();
    questions[0]?.take();
    expect([lab.text, lab.model.dirty]).toEqual([lab.files.content, false]);
    expect(questions).toEqual([]);
    lab.shared.undo();
    expect(lab.text).toBe('mine\ntwo\nthree\n');
  });

  it('asks no more once the file is one that can be merged', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    await file.mergeChanges();
    lab.files.write('one\ntwo\n3\n');
    await file.mergeChanges();
    expect([lab.text, questions]).toEqual(['mine\ntwo\n3\n', []]);
  });

  it('saves what is unsaved, after it took up what others wrote', async () => {
    const { lab, file } = watched();
    new OpenText(lab.context).replace('one\ntwo\n3\n');
    lab.files.write('uno\ntwo\nthree\n');
    await file.save();
    expect(lab.files.content).toBe('uno\ntwo\n3\n');
    expect([lab.saves, lab.model.dirty]).toEqual([1, false]);
    await file.save();
    expect(lab.saves).toBe(1); // There is nothing to save.
  });

  it('does not save while the user has to decide', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    await file.save();
    expect([lab.saves, file.isInConflict]).toEqual([0, true]);
  });

  it('waits for a save in progress', async () => {
    const { lab, file } = watched();
    lab.type('typed');
    lab.duringWrite = () => {
      lab.duringWrite = () => undefined;
      lab.type(' more');
      void file.save();
    };
    await lab.save();
    await Promise.resolve().then(() => undefined);
    await new Promise(resolve => setTimeout(resolve));
    expect(lab.saves).toBe(1); // The fake marks everything as saved, as JupyterLab does.
    expect(lab.text).toBe('one\ntwo\nthree\ntyped more');
  });

  it('starts again when the lab loads the file', async () => {
    const { lab, file } = watched();
    lab.files.write('new\n');
    lab.load();
    lab.type('typed');
    lab.files.write('newer\n');
    await file.mergeChanges();
    expect(lab.text).toBe('newer\ntyped');
  });

  it('does nothing once the file is closed', async () => {
    const { lab, file } = watched();
    lab.shared.updateSource(0, 3, 'mine');
    lab.files.write('theirs\ntwo\nthree\n');
    await file.mergeChanges();
    const [question] = questions;
    file.dispose();
    question?.take();
    expect([lab.text, questions]).toEqual(['mine\ntwo\nthree\n', []]);
  });
});
