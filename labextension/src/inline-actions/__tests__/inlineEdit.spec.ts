import { describe, expect, test } from 'vitest';

import { MAX_SELECTION } from '../inlineEdit';
import { FakeTarget, Scene, until } from './fixtures';

const FENCE = '````';
const TEXT = 'a = 1\nb = 2\nc = 3';

async function answered(target: FakeTarget, reply: string): Promise<Scene> {
  const scene = new Scene(target);
  await scene.ask('shorter');
  scene.streamText(`${FENCE}python\n${reply}\n${FENCE}`);
  scene.endTurn();
  return scene;
}

describe('an edit in place', () => {
  test('is a session without tools, asked about the text and what is around it', async () => {
    const scene = new Scene(new FakeTarget(TEXT));
    await scene.ask('shorter');
    const [, made] =
      scene.server.requests.find(([name]) => name === 'createSession') ?? [];
    expect(made).toEqual({
      kind: 'chat',
      title: 'Edit: shorter',
      model: 'demo/demo',
      mode: 'ask',
      tools: 'disabled',
      toolset: 'inline'
    });
    const [, , body] = scene.sent()[0] ?? [];
    expect(body).toMatchObject({
      text: 'shorter',
      attachments: [
        {
          kind: 'selection',
          path: 'a.ipynb',
          cell_id: 'c1',
          range: { from: 0, to: TEXT.length },
          text: TEXT,
          before: '',
          after: ''
        },
        { kind: 'file', path: 'a.ipynb' }
      ]
    });
  });

  test('shows what is written, and writes nothing until it is accepted', async () => {
    const target = new FakeTarget(TEXT);
    const scene = new Scene(target);
    await scene.ask('shorter');
    expect(scene.edit.stage).toEqual({ kind: 'working', retrying: false });
    scene.streamText(`${FENCE}python\na = 10\nb`);
    expect(scene.edit.proposal).toEqual({
      base: TEXT,
      proposed: 'a = 10\nb = 2\nc = 3'
    });
    scene.streamText(` = 2\nc = 3\n${FENCE}`);
    scene.endTurn();
    expect(scene.edit.stage).toEqual({
      kind: 'ready',
      extent: { added: 1, removed: 1 },
      isConflict: false,
      flaw: null
    });
    expect(target.writes).toBe(0);
    expect(scene.edit.accept()).toBe(true);
    expect(target.source).toBe('a = 10\nb = 2\nc = 3');
    expect(scene.isOver).toBe(true);
    expect(scene.requestNames()).not.toContain('cancel');
  });

  test('keeps what the user typed in other lines during the request', async () => {
    const target = new FakeTarget(TEXT);
    const scene = await answered(target, 'a = 10\nb = 2\nc = 3');
    target.become(`${TEXT}\nmine`);
    expect(scene.edit.accept()).toBe(true);
    expect(target.source).toBe('a = 10\nb = 2\nc = 3\nmine');
  });

  test('asks where the user changed the same lines during the request', async () => {
    const target = new FakeTarget(TEXT);
    const scene = await answered(target, 'a = 10\nb = 2\nc = 3');
    target.become('mine = 1\nb = 2\nc = 3');
    expect(scene.edit.stage).toMatchObject({ kind: 'ready', isConflict: true });
    expect(scene.edit.accept()).toBe(false);
    expect(target.writes).toBe(0);
    expect(scene.edit.accept(true)).toBe(true);
    expect(target.source).toBe('a = 10\nb = 2\nc = 3');
  });

  test('can be asked again about the current text, in the same session', async () => {
    const target = new FakeTarget(TEXT);
    const scene = await answered(target, 'a = 10\nb = 2\nc = 3');
    target.become('mine = 1\nb = 2\nc = 3');
    await scene.ask('longer');
    expect(scene.requestNames()).toEqual([
      'createSession',
      'sendMessage',
      'sendMessage'
    ]);
    const [, , body] = scene.sent()[1] ?? [];
    const { attachments } = body as { attachments: { text: string }[] };
    expect(attachments[0]?.text).toBe('mine = 1\nb = 2\nc = 3');
    scene.streamText(`${FENCE}\nmine = 2\nb = 2\nc = 3\n${FENCE}`);
    scene.endTurn();
    expect(scene.edit.accept()).toBe(true);
    expect(target.source).toBe('mine = 2\nb = 2\nc = 3');
  });

  test('changes the selected part alone', async () => {
    const target = new FakeTarget(TEXT, { from: 6, to: 11 });
    const scene = await answered(target, 'b = 20');
    expect(scene.edit.accept()).toBe(true);
    expect(target.source).toBe('a = 1\nb = 20\nc = 3');
  });

  test.each(['stop', 'discard'] as const)(
    'ends upstream when the user chooses to %s',
    async how => {
      const target = new FakeTarget(TEXT);
      const scene = new Scene(target);
      await scene.ask('shorter');
      scene.streamText(`${FENCE}python\nnothing`);
      await scene.edit[how]();
      await until(() => scene.requestNames().includes('cancel'));
      expect(target.source).toBe(TEXT);
      expect(scene.isOver).toBe(how === 'discard');
      expect(scene.edit.proposal).toBeNull();
    }
  );

  test('has one session, also when it is stopped and asked again before there is one', async () => {
    const scene = new Scene(new FakeTarget(TEXT));
    scene.edit.type('shorter');
    const first = scene.edit.submit();
    const stopped = scene.edit.stop();
    const second = scene.edit.submit();
    await Promise.all([first, stopped, second]);
    expect(scene.requestNames()).toEqual(['createSession', 'sendMessage']);
    expect(scene.edit.sessionId).toBe(scene.sent()[0]?.[1]);
  });

  test('ends upstream when its cell is deleted', async () => {
    const target = new FakeTarget(TEXT);
    const scene = new Scene(target);
    await scene.ask('shorter');
    target.become(null);
    await until(() => scene.requestNames().includes('cancel'));
    expect(scene.isOver).toBe(true);
  });

  test('takes no answer that was cut off', async () => {
    const target = new FakeTarget(TEXT);
    const scene = new Scene(target);
    await scene.ask('shorter');
    scene.streamText(`${FENCE}python\na = 10\n`);
    scene.endTurn();
    expect(scene.edit.stage).toMatchObject({ kind: 'ready', flaw: 'cut' });
    expect(scene.edit.accept(true)).toBe(false);
    expect(target.writes).toBe(0);
  });

  test('loses no key of the user to its mask', async () => {
    const target = new FakeTarget("key = 'sk-1'\nb = 2");
    const scene = await answered(target, "key = '[redacted]'\nb = 3");
    expect(scene.edit.stage).toMatchObject({ kind: 'ready', flaw: 'masked' });
    expect(scene.edit.accept(true)).toBe(false);
    const masked = new FakeTarget("print('[redacted]')");
    const other = await answered(masked, "print('[redacted]', 2)");
    expect(other.edit.accept()).toBe(true);
  });

  test('tells what went wrong, and can be tried again', async () => {
    const scene = new Scene(new FakeTarget(TEXT));
    scene.server.fail({ message: 'No key.' }, 422);
    scene.edit.type('shorter');
    await scene.edit.submit();
    expect(scene.edit.stage).toMatchObject({
      kind: 'asking',
      error: { message: 'No key.' }
    });
    await scene.ask('shorter');
    expect(scene.edit.stage.kind).toBe('working');
  });

  test('tells of a turn that failed at the provider', async () => {
    const scene = new Scene(new FakeTarget(TEXT));
    await scene.ask('shorter');
    const error = { message: 'Overloaded.', hint: null };
    scene.endTurn('error', error);
    expect(scene.edit.stage).toMatchObject({ kind: 'asking', error });
  });

  test.each(['read-only-document', 'read-only-cell'] as const)(
    'does not begin where the text is refused: %s',
    async refusal => {
      const target = new FakeTarget(TEXT);
      target.refused = refusal;
      const scene = new Scene(target);
      scene.edit.type('shorter');
      await scene.edit.submit();
      expect(scene.edit.obstacle).toBe(refusal);
      expect(scene.server.requests).toEqual([]);
    }
  );

  test('is not accepted where the text became read-only during the request', async () => {
    const target = new FakeTarget(TEXT);
    const scene = await answered(target, 'a');
    target.refused = 'read-only-cell';
    expect(scene.edit.accept()).toBe(false);
    expect(target.writes).toBe(0);
  });

  test('does not begin with more text than the model would be shown', () => {
    const long = 'x'.repeat(MAX_SELECTION + 1);
    expect(new Scene(new FakeTarget(long)).edit.obstacle).toBe('too-long');
    const part = { from: 0, to: 5 };
    expect(new Scene(new FakeTarget(long, part)).edit.obstacle).toBeNull();
  });
});

describe('a new cell', () => {
  test.each([
    ['python', false],
    ['markdown', true]
  ])('in %s is made on acceptance only', async (language, isMarkdown) => {
    const target = new FakeTarget(TEXT);
    target.refused = 'read-only-cell'; // The one above it.
    const scene = new Scene(target, 'insert');
    await scene.ask('plot it');
    scene.streamText(`${FENCE}${language}\nd = 4`);
    expect(scene.edit.newCell).toEqual({ text: 'd = 4', isMarkdown });
    expect(scene.edit.proposal).toBeNull();
    scene.streamText(`\n${FENCE}`);
    scene.endTurn();
    expect(target.inserted).toEqual([]);
    expect(scene.edit.accept()).toBe(true);
    expect(target.inserted).toEqual([['d = 4', isMarkdown]]);
    expect(target.writes).toBe(0);
  });
});
