/** The rules of following: when, what, and the scroll distance. */

import { describe, expect, test } from 'vitest';

import { EMPTY } from '../../model/reducer/emptyConversation';
import type { AgentView, CallView, Conversation } from '../../wire/generated';
import { changedLines } from '../followedDocuments';
import { isDistractingGesture } from '../userGestures';
import { distanceTo } from '../scroll';
import {
  IDLE,
  reduceFollow,
  type FollowAction,
  type Mode
} from '../followState';
import {
  runsCellsOf,
  agentActivityIn,
  type IAgentActivity
} from '../agentActivity';

const WORK: IAgentActivity = {
  id: 'call_1',
  path: 'a.ipynb',
  cellId: 'c1',
  stage: 'now',
  edit: null
};

const turn = (id: string | null): FollowAction => ({
  type: 'set-turn',
  turn: id
});
const work: FollowAction = { type: 'add-work', work: WORK };
const pause: FollowAction = { type: 'pause' };
const resume: FollowAction = { type: 'resume' };
const enable = (enabled: boolean): FollowAction => ({
  type: 'set-enabled',
  enabled
});

describe('the page', () => {
  test.each<[string, FollowAction[], Mode]>([
    ['is idle between turns', [], 'idle'],
    ['follows a turn', [turn('t1'), work], 'following'],
    ['pauses when the user acts', [turn('t1'), work, pause], 'paused'],
    ['stays paused with more work', [turn('t1'), pause, work], 'paused'],
    ['resumes', [turn('t1'), work, pause, resume], 'following'],
    ['is idle after the turn', [turn('t1'), pause, turn(null)], 'idle'],
    ['follows the next turn', [turn('t1'), pause, turn('t2')], 'following'],
    ['does not follow when it is off', [enable(false), turn('t1')], 'off'],
    [
      'can be told to within a turn',
      [enable(false), turn('t1'), enable(true)],
      'following'
    ],
    ['has nothing to pause between turns', [pause], 'idle']
  ])('%s', (_, actions, mode) => {
    expect(actions.reduce(reduceFollow, IDLE).mode).toBe(mode);
  });

  test('knows the newest work of the turn, and none of the one before', () => {
    const state = [turn('t1'), work].reduce(reduceFollow, IDLE);
    expect(state.work).toBe(WORK);
    expect(reduceFollow(state, turn(null)).work).toBe(WORK);
    expect(reduceFollow(state, turn('t2')).work).toBeNull();
    expect(reduceFollow(IDLE, work)).toBe(IDLE);
  });
});

const CALL: CallView = {
  type: 'call',
  call_id: 'call_1',
  tool: 'run_cell',
  arguments: { path: 'a.ipynb', cell_id: 'c1' },
  raw: null,
  invalid: null,
  risk: 'execute',
  external: false,
  title: 'Run cell 1',
  target: 'a.ipynb',
  state: 'running',
  approval: null,
  answer: null,
  progress: [],
  result: null,
  content: [],
  duration_ms: null,
  handle: null
};

const FILE: Partial<CallView> = { arguments: { path: 'a.py' }, risk: 'write' };

function viewOf(...parts: AgentView['parts']): Conversation {
  const message: AgentView = {
    role: 'agent',
    turn_id: 't1',
    seq: 1,
    at: '',
    parts
  };
  return { ...EMPTY, messages: [message] };
}

describe('the work of a call', () => {
  test.each<[string, Partial<CallView>, IAgentActivity['stage'] | null]>([
    ['waits for a decision', { state: 'waiting' }, 'now'],
    ['runs', {}, 'now'],
    ['ran', { state: 'ok' }, 'ran'],
    ['failed to the end', { state: 'error' }, 'ran'],
    ['was denied', { state: 'denied' }, null],
    ['is written', { risk: 'write', state: 'ok' }, 'changed'],
    ['could not be written', { risk: 'write', state: 'error' }, null],
    ['only reads', { risk: 'read', state: 'ok' }, null],
    [
      'is about no cell of a notebook',
      { arguments: { path: 'a.ipynb' } },
      null
    ],
    ['edits a file', { ...FILE, tool: 'edit_file' }, 'now'],
    ['will make a file', { ...FILE, tool: 'create_file' }, null],
    ['made a file', { ...FILE, tool: 'create_file', state: 'ok' }, 'changed'],
    ['deleted a file', { ...FILE, tool: 'delete_file', state: 'ok' }, null],
    ['is about nothing here', { arguments: { command: 'ls' } }, null]
  ])('%s', (_, change, stage) => {
    const found = agentActivityIn(viewOf({ ...CALL, ...change }));
    expect(found.map(each => each.stage)).toEqual(
      stage === null ? [] : [stage]
    );
  });

  test('of several cells is reported by the page', () => {
    const all = { ...CALL, arguments: { path: 'a.ipynb' } };
    expect(runsCellsOf(viewOf(all), 'a.ipynb')).toBe(true);
    expect(runsCellsOf(viewOf(all), 'b.ipynb')).toBe(false);
    expect(runsCellsOf(viewOf(CALL), 'a.ipynb')).toBe(false);
    expect(runsCellsOf(viewOf({ ...all, state: 'ok' }), 'a.ipynb')).toBe(false);
  });
});

describe('the way to a target', () => {
  const view = { top: 0, bottom: 500 };
  test.each([
    ['in view', { top: 100, bottom: 200 }, 0],
    ['below', { top: 600, bottom: 700 }, 232],
    ['above', { top: -300, bottom: -200 }, -332],
    ['below and too high', { top: 600, bottom: 2000 }, 568],
    ['filling the view', { top: -100, bottom: 900 }, 0]
  ])('%s', (_, target, distance) => {
    expect(distanceTo(view, target)).toBe(distance);
  });
});

describe('the changed lines', () => {
  const edit = { before: 'a\nb\nc\nd\ne', after: 'a\nB\nc\nd\nE' };
  const texts = (text: string): string[] =>
    changedLines(edit, text).map(({ from, to }) => text.slice(from, to));

  test('are those that are others', () => {
    expect(texts(edit.after)).toEqual(['B', 'E']);
  });

  test('are found in a text that somebody wrote in since', () => {
    expect(texts('mine\na\nB\nc\n')).toEqual(['B']);
  });

  test('of a deletion are where it was', () => {
    const gone = { before: 'a\nb\nc', after: 'a\nc' };
    expect(changedLines(gone, gone.after)).toEqual([{ from: 2, to: 2 }]);
  });
});

describe('a gesture', () => {
  document.body.innerHTML = `
    <div class="jp-NotebookPanel"><div class="cm-content" id="cell"></div>
      <button class="shoulders-FollowPill" id="pill"></button></div>
    <div class="shoulders-ChatWidget"><textarea id="input"></textarea></div>
    <input id="filter"><div id="page"></div>`;
  const key = (name: string): Event =>
    new KeyboardEvent('keydown', { key: name, bubbles: true });

  test.each<[string, Event, string, boolean]>([
    [
      'scrolls a notebook',
      new WheelEvent('wheel', { bubbles: true }),
      'cell',
      true
    ],
    [
      'zooms',
      new WheelEvent('wheel', { bubbles: true, ctrlKey: true }),
      'cell',
      false
    ],
    [
      'scrolls the chat',
      new WheelEvent('wheel', { bubbles: true }),
      'input',
      false
    ],
    ['types in a cell', key('x'), 'cell', true],
    ['types in a field', key('x'), 'filter', true],
    ['types in the chat', key('x'), 'input', false],
    ['types nowhere', key('x'), 'page', false],
    ['holds a key', key('Control'), 'cell', false],
    [
      'presses the pill',
      new MouseEvent('pointerdown', { bubbles: true }),
      'pill',
      false
    ],
    [
      'clicks a cell',
      new MouseEvent('pointerdown', { bubbles: true }),
      'cell',
      true
    ],
    [
      'clicks elsewhere',
      new MouseEvent('pointerdown', { bubbles: true }),
      'page',
      false
    ]
  ])('%s', (_, event, id, expected) => {
    let seen = null;
    const look = (each: Event): void => {
      seen = isDistractingGesture(each);
    };
    window.addEventListener(event.type, look);
    document.getElementById(id)?.dispatchEvent(event);
    window.removeEventListener(event.type, look);
    expect(seen).toBe(expected);
  });
});
