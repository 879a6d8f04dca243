import { CommandRegistry } from '@lumino/commands';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { captureChordShortcuts } from '../chordShortcuts';

let commands: CommandRegistry;
let done: string[];
let stop: () => void;
let editor: HTMLElement;

beforeEach(() => {
  commands = new CommandRegistry();
  done = [];
  commands.addCommand('edit', {
    execute: () => done.push('edit'),
    describedBy: { args: null }
  });
  commands.addKeyBinding({
    command: 'edit',
    keys: ['Accel ;', 'E'],
    selector: 'body'
  });
  stop = captureChordShortcuts(commands);
  document.addEventListener('keydown', behind);
  // Like Vim in normal mode, it handles every key.
  editor = document.createElement('div');
  editor.addEventListener('keydown', event => {
    done.push(`editor ${event.key}`);
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(editor);
});

afterEach(() => {
  stop();
  document.removeEventListener('keydown', behind);
  editor.remove();
});

/** JupyterLab handles keys after the editor. */
function behind(event: KeyboardEvent): void {
  commands.processKeydownEvent(event);
}

function press(key: string, keyCode: number, ctrlKey = false): void {
  editor.dispatchEvent(
    new KeyboardEvent('keydown', {
      key,
      keyCode,
      ctrlKey,
      bubbles: true,
      cancelable: true
    })
  );
}

test('an editor that takes every key leaves our shortcuts of two keys to us', () => {
  press(';', 186, true);
  press('e', 69);
  expect(done).toEqual(['edit']);
});

test('other keys stay the editor’s', () => {
  press('e', 69);
  press('s', 83, true);
  expect(done).toEqual(['editor e', 'editor s']);
});

test('a second key that is no shortcut goes to the editor, behind the first', () => {
  press(';', 186, true);
  press('z', 90);
  expect(done).toEqual(['editor ;', 'editor z']);
});
