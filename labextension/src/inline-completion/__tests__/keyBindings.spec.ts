import { CommandRegistry } from '@lumino/commands';
import { afterEach, expect, test } from 'vitest';

import { CompletionKeys } from '../keyBindings';

const ACTIVE = '.is-active';
/** JupyterLab matches key codes. */
const KEY_CODES: Readonly<Record<string, number>> = {
  ...{ Tab: 9, Control: 17, Escape: 27, ArrowRight: 39, x: 88 }
};
let keys: CompletionKeys | null = null;

afterEach(() => {
  keys?.listen(false);
  document.body.replaceChildren();
});

function scene() {
  const commands = new CommandRegistry();
  const done: string[] = [];
  for (const name of ['accept', 'word', 'other']) {
    commands.addCommand(name, {
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => done.push(name)
    });
  }
  const bind = (command: string, key: string, selector: string): void =>
    void commands.addKeyBinding({ command, keys: [key], selector });
  bind('accept', 'Tab', ACTIVE);
  bind('word', 'Ctrl ArrowRight', ACTIVE);
  bind('other', 'Escape', 'body');
  keys = new CompletionKeys(commands, new Set(['accept', 'word']), () =>
    done.push('dismiss')
  );
  keys.listen(true);
  const node = document.createElement('div');
  node.className = 'is-active';
  document.body.append(node);
  const seen: string[] = [];
  node.addEventListener('keydown', event => seen.push(event.key));
  const press = (key: string, init: KeyboardEventInit = {}): boolean => {
    const keyCode = KEY_CODES[key] ?? 0;
    return node.dispatchEvent(
      new KeyboardEvent('keydown', {
        ...{ key, keyCode, bubbles: true, cancelable: true },
        ...init
      })
    );
  };
  return { node, done, seen, press };
}

test('a key that is bound acts, and neither the editor nor the lab sees it', () => {
  const { done, seen, press } = scene();
  expect(press('Tab')).toBe(false);
  expect(press('ArrowRight', { ctrlKey: true })).toBe(false);
  expect(done).toEqual(['accept', 'word']);
  expect(seen).toEqual([]);
});

test('any other key dismisses it and reaches the editor; a modifier alone does nothing', () => {
  const { done, seen, press } = scene();
  expect(press('Control')).toBe(true);
  expect(done).toEqual([]);
  expect(press('Escape')).toBe(true);
  expect(press('x')).toBe(true);
  expect(press('Tab', { isComposing: true })).toBe(true);
  expect(done).toEqual(['dismiss', 'dismiss', 'dismiss']);
  expect(seen).toEqual(['Control', 'Escape', 'x', 'Tab']);
});

test('a key is bound to the editor that shows something, and only while it is listened', () => {
  const { node, done, press } = scene();
  node.className = '';
  press('Tab');
  expect(done).toEqual(['dismiss']);
  keys?.listen(false);
  press('Tab');
  node.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  expect(done).toEqual(['dismiss']);
});

test('a click sends it away', () => {
  const { node, done } = scene();
  node.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  expect(done).toEqual(['dismiss']);
});
