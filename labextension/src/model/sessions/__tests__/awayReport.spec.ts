import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';

import type { AwayReport } from '../../../wire/generated';
import { AwayReportStore } from '../awayReport';

const REPORT: AwayReport = {
  ...{
    session_id: 's',
    since: '2026-03-02T09:00:00Z',
    until: '2026-03-02T10:00:00Z'
  },
  ...{ working_ms: 1000, runs: [], run_count: 0, changes: [], change_count: 0 },
  ...{ state: 'ended', question: null, exit: 'final_response' }
};

/** A page, and a server that reports an absence until it is dismissed. */
class Scene {
  constructor() {
    this.away.returned.connect((_, { session_id }) =>
      this.opened.push(session_id)
    );
  }

  report: AwayReport | null = REPORT;
  isBroken = false;
  readonly hello = new Signal<this, void>(this);
  readonly opened: string[] = [];
  readonly away = new AwayReportStore(
    {
      call: <T>(method: string): Promise<T> => {
        if (this.isBroken) {
          return Promise.reject(new Error('no answer'));
        }
        if (method === 'DELETE') {
          this.report = null;
        }
        return Promise.resolve({ report: this.report } as T);
      }
    },
    this.hello
  );

  async connect(): Promise<void> {
    this.hello.emit();
    await new Promise(resolve => setTimeout(resolve, 0));
  }
}

test('a report is announced once, and shown until it is dismissed', async () => {
  const scene = new Scene();
  await scene.connect();
  await scene.connect();
  expect(scene.away.report).toEqual(REPORT);
  expect(scene.opened).toEqual(['s']);
  scene.away.dismiss();
  expect(scene.away.report).toBeNull();
  await scene.connect();
  expect(scene.away.report).toBeNull();
  expect(scene.opened).toEqual(['s']);
});

test('a longer absence is announced again', async () => {
  const scene = new Scene();
  await scene.connect();
  scene.report = { ...REPORT, until: '2026-03-02T11:00:00Z' };
  await scene.connect();
  expect(scene.opened).toEqual(['s', 's']);
});

test('without an answer there is nothing to show, and nothing breaks', async () => {
  const scene = new Scene();
  scene.isBroken = true;
  await scene.connect();
  expect(scene.away.report).toBeNull();
});
