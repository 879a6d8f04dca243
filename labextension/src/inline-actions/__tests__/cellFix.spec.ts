import { expect, test } from 'vitest';

import { ApiError } from '../../client/http';
import type { ErrorInfo } from '../../wire/generated';
import { CellFix, type FixStage } from '../cellFix';
import type { ITextProposal } from '../../text/proposedText';
import { FakeTarget, Scene, until } from './fixtures';

const FENCE = '````';
const TEXT = 'a = b\n# mine';
const ERROR = { kind: 'error', path: 'a.ipynb', cell_id: 'c1' } as const;

/** A fix, its recorded actions and its outcome. */
class Fixing {
  constructor(
    private readonly isGood = true,
    private readonly refusal: ApiError | null = null
  ) {
    this.fix.changed.connect(({ stage }) => this.stages.push(stage));
    this.fix.ended.connect((_, isGood) => this.ends.push(isGood));
  }

  readonly target = new FakeTarget(TEXT);
  readonly scene = new Scene(this.target, 'rewrite', ERROR);
  readonly done: unknown[] = [];
  readonly stages: FixStage[] = [];
  readonly ends: (boolean | null)[] = [];
  readonly fix = new CellFix(this.scene.edit, {
    put: (sessionId: string, change: ITextProposal) => {
      this.done.push([sessionId, change]);
      return this.refusal === null
        ? Promise.resolve()
        : Promise.reject(this.refusal);
    },
    run: () => {
      this.done.push('run');
      return Promise.resolve(this.isGood);
    }
  });

  async asked(): Promise<this> {
    this.fix.start('Fix it');
    await this.scene.ask('Fix it');
    return this;
  }

  answer(text: string): this {
    this.scene.streamText(text);
    this.scene.endTurn();
    return this;
  }

  get failure(): unknown {
    const { stage } = this.fix;
    return stage.kind === 'failed' ? stage.failure : stage.kind;
  }
}

const fenced = (text: string): string => `${FENCE}python\n${text}\n${FENCE}`;

test.each([true, false])(
  'the change is put into the cell, which is run once: %s',
  async isGood => {
    const fixing = await new Fixing(isGood).asked();
    fixing.answer(fenced('a = 1\n# mine'));
    await until(() => fixing.ends.length > 0);
    expect(fixing.done).toEqual([
      ['made-0', { base: TEXT, proposed: 'a = 1\n# mine' }],
      'run'
    ]);
    expect(fixing.ends).toEqual([isGood]);
    expect(fixing.stages.at(-1)).toEqual({ kind: 'running' });
    expect(fixing.scene.isOver).toBe(true);
  }
);

test('the error goes along with the cell', async () => {
  const { scene } = await new Fixing().asked();
  const [, , body] = scene.sent()[0] ?? [];
  expect(body).toMatchObject({
    attachments: [{ kind: 'selection' }, ERROR, { kind: 'file' }]
  });
});

const FAILURES: Record<string, [string, unknown]> = {
  advice: ['Run cell 1 first.', { kind: 'advice', text: 'Run cell 1 first.' }],
  'no change': [fenced(TEXT), { kind: 'advice', text: '' }],
  'an answer without its end': [
    `${FENCE}python\na = 1`,
    { kind: 'flaw', flaw: 'cut' }
  ]
};

test.each(Object.entries(FAILURES))(
  'nothing is changed and nothing runs: %s',
  async (_, [answer, failure]) => {
    const fixing = (await new Fixing().asked()).answer(answer);
    expect(fixing.failure).toEqual(failure);
    expect(fixing.done).toEqual([]);
  }
);

test('lines that the user changed during the request stay', async () => {
  const fixing = await new Fixing().asked();
  fixing.target.become('a = 7\n# mine');
  fixing.answer(fenced('a = 1\n# mine'));
  expect(fixing.failure).toEqual({ kind: 'clash' });
  expect(fixing.done).toEqual([]);
});

test('advice is never shown as a change of the cell', async () => {
  const { scene, fix } = await new Fixing().asked();
  scene.streamText('Run cell 1');
  expect(fix.edit.proposal).toBeNull();
});

test('a change that the server refuses is not run', async () => {
  const info: ErrorInfo = {
    ...{ message: 'Locked.', hint: null, retryable: false, details: null },
    ...{ provider: null, model: null, request_id: null },
    code: 'cell_protected'
  };
  const fixing = await new Fixing(true, new ApiError(409, info)).asked();
  fixing.answer(fenced('a = 1\n# mine'));
  await until(() => fixing.fix.stage.kind === 'failed');
  expect(fixing.failure).toEqual({ kind: 'error', error: info });
  expect(fixing.done).not.toContain('run');
});

test('a cancelled fix changes nothing', async () => {
  const fixing = await new Fixing().asked();
  fixing.fix.cancel();
  expect(fixing.ends).toEqual([null]);
  expect(fixing.scene.requestNames()).toContain('cancel');
  expect(fixing.done).toEqual([]);
});

test('a locked cell is not asked about', () => {
  const fixing = new Fixing();
  fixing.target.refused = 'read-only-cell';
  fixing.fix.start('Fix it');
  expect(fixing.failure).toEqual({
    kind: 'obstacle',
    obstacle: 'read-only-cell'
  });
  expect(fixing.scene.requestNames()).toEqual([]);
});
