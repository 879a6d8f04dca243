import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification as LabNotification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { showNotifications } from '../../lab/notificationCentre';
import type { StoredNotification } from '../../wire/generated';

const done: StoredNotification = {
  id: 'note_1',
  at: '2026-01-01T00:00:00Z',
  kind: 'run',
  title: 'Report is done',
  message: 'It took 3 min.',
  level: 'info',
  session_id: 'ses_1',
  schedule_id: null,
  seen: false
};

class FakeNotification {
  static permission = 'granted';
  static made: FakeNotification[] = [];
  onclick: (() => void) | null = null;
  constructor(
    readonly title: string,
    readonly options: { body: string; tag: string }
  ) {
    FakeNotification.made.push(this);
  }
}

let hidden = true;
const executed: string[] = [];
const opened: string[] = [];
const posted: unknown[] = [];

function parts(browser: boolean): Parameters<typeof showNotifications>[1] {
  // Only the members called here.
  return {
    app: {
      commands: { execute: async (id: string) => executed.push(id) }
    } as unknown as JupyterFrontEnd,
    http: {
      call: async (method: string, path: string, body: unknown) =>
        method === 'GET'
          ? { values: { notifications: { browser } } }
          : posted.push([path, body])
    },
    conversations: {
      active: { key: '' },
      session: () => null,
      open: (id: string) => opened.push(id)
    },
    trans: nullTranslator.load('')
  } as unknown as Parameters<typeof showNotifications>[1];
}

function look(): void {
  hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
}

beforeEach(() => {
  hidden = true;
  FakeNotification.made = [];
  FakeNotification.permission = 'granted';
  [executed, opened, posted].forEach(list => list.splice(0));
  vi.stubGlobal('Notification', FakeNotification);
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test.each([
  ['hidden, allowed and wanted', true, 'granted', true, 1],
  ['a visible page', false, 'granted', true, 0],
  ['not allowed by the browser', true, 'denied', true, 0],
  ['not wanted in the settings', true, 'granted', false, 0]
])(
  'the browser shows it: %s',
  async (_, isHidden, permission, wanted, count) => {
    hidden = isHidden;
    FakeNotification.permission = permission;

    const shown = showNotifications([done], parts(wanted));
    await new Promise(resolve => setTimeout(resolve));

    expect(FakeNotification.made.map(({ title }) => title)).toEqual(
      Array(count).fill('Report is done')
    );
    expect(posted).toHaveLength(isHidden ? 0 : 1); // Unread until the person looks.
    look();
    await shown;
    expect(posted).toEqual([['notifications/seen', { ids: ['note_1'] }]]);
  }
);

test('a click opens the conversation; two tabs share the tag', async () => {
  const shown = showNotifications([done], parts(true));
  await new Promise(resolve => setTimeout(resolve));
  const [made] = FakeNotification.made;
  vi.spyOn(window, 'focus').mockImplementation(() => undefined);

  made?.onclick?.();
  look();
  await shown;

  expect(made?.options).toEqual({ body: 'It took 3 min.', tag: 'note_1' });
  expect(opened).toEqual(['ses_1']);
  expect(executed[0]).toMatch(/:focus-chat$/);
});

test.each([
  ['waiting', 1, 0],
  ['waiting', 0, 1],
  ['run', 1, 1]
] as const)(
  'JupyterLab shows a message of kind %s beside %d visible panels: %d',
  async (kind, panels, count) => {
    hidden = false;
    const panel = document.createElement('div');
    panel.className = 'shoulders-ChatWidget';
    const boxes = { length: panels } as DOMRectList;
    vi.spyOn(panel, 'getClientRects').mockReturnValue(boxes);
    document.body.append(panel);
    const emit = vi.spyOn(LabNotification, 'emit').mockReturnValue('1');

    await showNotifications([{ ...done, kind }], parts(false));

    expect(emit).toHaveBeenCalledTimes(count);
    panel.remove();
  }
);
