/** The control at a change: its label, and that it keeps the caret. */

import { nullTranslator } from '@jupyterlab/translation';
import { expect, test, vi } from 'vitest';

import { ChangePill, type IPillActions, type IPillLabels } from '../changePill';

const trans = nullTranslator.load('test');

function pill(change: Partial<IPillLabels> = {}) {
  const actions = {
    decide: vi.fn(),
    step: vi.fn(),
    showAll: vi.fn(),
    focusText: vi.fn()
  };
  const labels = {
    keep: 'Keep',
    undo: 'Undo',
    keepTitle: 'Keep this change',
    undoTitle: 'Undo this change',
    ...change
  };
  const made = new ChangePill(trans, actions satisfies IPillActions, {
    labels,
    stop: () => null,
    decide: () => undefined
  });
  const press = (name: string): void =>
    made.node.querySelector<HTMLElement>(`[aria-label="${name}"]`)?.click();
  return { made, actions, press };
}

test('it says which change of how many it is, to screen readers too', () => {
  const { made } = pill();
  made.show(2, 8, true);
  expect(made.node.textContent).toBe('‹2/8›KeepUndo⋯');
  expect(made.node.getAttribute('aria-label')).toBe('Change 2 of 8');
  expect(made.node.classList).toContain('shoulders-mod-current');
  made.show(2, 7, false);
  expect(made.node.classList).not.toContain('shoulders-mod-current');
});

test('its buttons step, decide and show all', () => {
  const { made, actions, press } = pill();
  press('Next change');
  press('Previous change');
  press('Keep this change');
  press('Undo this change');
  press('All changes');
  expect(actions.step.mock.calls).toEqual([
    [made, 1, true],
    [made, -1, true]
  ]);
  expect(actions.decide.mock.calls).toEqual([
    [made, 'keep'],
    [made, 'undo']
  ]);
  expect(actions.showAll).toHaveBeenCalledOnce();
});

test('there is no undo where there is nothing to go back to', () => {
  const { made } = pill({ keep: 'Dismiss', undo: null });
  expect(made.node.textContent).toBe('‹0/0›Dismiss⋯');
});

test('a press of the mouse neither takes the focus nor reaches the cell', () => {
  const { made } = pill();
  const reached = vi.fn();
  const around = document.createElement('div');
  around.append(made.node);
  around.addEventListener('mousedown', reached);
  const event = new MouseEvent('mousedown', {
    bubbles: true,
    cancelable: true
  });
  made.node.firstChild?.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(true);
  expect(reached).not.toHaveBeenCalled();
});
