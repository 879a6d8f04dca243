import { nullTranslator } from '@jupyterlab/translation';
import { act, cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import * as React from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { PromptView } from '../PromptView';
import { FakeTarget, Scene } from './fixtures';

const FENCE = '````';

afterEach(cleanup);

function show(scene: Scene) {
  const openTalk = vi.fn<(id: string) => void>();
  const say = vi.fn<(text: string) => void>();
  render(
    <PromptView
      edit={scene.edit}
      trans={nullTranslator.load('x')}
      Icon={() => null}
      openConversation={openTalk}
      announce={say}
    />
  );
  return { openTalk, say, user: userEvent.setup() };
}

const button = (name: string) => screen.getByRole('button', { name });

/** Submit through the model, as the field does; the answer comes in one piece. */
async function answer(scene: Scene, text: string, isWhole = true) {
  await act(async () => {
    await scene.ask('shorter');
    scene.streamText(`${FENCE}python\n${text}\n${isWhole ? FENCE : ''}`);
    scene.endTurn();
  });
}

describe('the prompt of an edit in place', () => {
  test('asks on Enter, and not on Shift+Enter', async () => {
    const scene = new Scene(new FakeTarget('a = 1'));
    const { user } = show(scene);
    const submit = vi.spyOn(scene.edit, 'submit').mockResolvedValue();
    const field = screen.getByRole('textbox', { name: 'Change this cell' });
    await user.type(field, 'shorter{Shift>}{Enter}{/Shift}please{Enter}');
    expect(scene.edit.instruction).toBe('shorter\nplease');
    expect(submit).toHaveBeenCalledTimes(1);
  });

  test('gives the decision the focus it had, says what came, and accepts by keyboard', async () => {
    const target = new FakeTarget('a = 1');
    const scene = new Scene(target);
    const { user, say } = show(scene);
    screen.getByRole('textbox').focus();
    await answer(scene, 'a = 2');
    expect(say).toHaveBeenCalledWith('Lines: 1 added, 1 removed');
    expect(button('Accept')).toBe(document.activeElement);
    await user.keyboard('{Enter}');
    expect(target.source).toBe('a = 2');
  });

  test('takes no focus from a user who types elsewhere', async () => {
    const scene = new Scene(new FakeTarget('a = 1'));
    show(scene);
    await answer(scene, 'a = 2');
    expect(button('Accept')).not.toBe(document.activeElement);
  });

  test('accepts with Ctrl+Enter, and with Enter on the same instruction', async () => {
    for (const keys of ['{Control>}{Enter}{/Control}', '{Enter}']) {
      const target = new FakeTarget('a = 1');
      const scene = new Scene(target);
      scene.edit.type('shorter');
      const { user } = show(scene);
      await answer(scene, 'a = 2');
      screen.getByRole('textbox').focus();
      await user.keyboard(keys);
      expect(target.source).toBe('a = 2');
      cleanup();
    }
  });

  test('steps back with Esc: from the answer, then from the prompt', async () => {
    const scene = new Scene(new FakeTarget('a = 1'));
    const { user } = show(scene);
    await act(() => scene.ask('shorter'));
    expect(screen.getByText('Writing…')).toBeTruthy();
    screen.getByRole('textbox').focus();
    await user.keyboard('{Escape}');
    expect(scene.edit.stage.kind).toBe('asking');
    expect(scene.isOver).toBe(false);
    await user.keyboard('{Escape}');
    expect(scene.isOver).toBe(true);
  });

  test('offers no acceptance of what clashes, is cut off, or is the same', async () => {
    const clash = new FakeTarget('a = 1');
    const scene = new Scene(clash);
    show(scene);
    await answer(scene, 'a = 2');
    act(() => clash.become('a = 3'));
    expect(screen.getByRole('alert').textContent).toContain('in the meantime');
    expect(screen.queryByRole('button', { name: 'Accept' })).toBeNull();
    expect(button('Replace my text')).toBeTruthy();
    cleanup();

    const cut = new Scene(new FakeTarget('a = 1'));
    show(cut);
    await answer(cut, 'a = 2', false);
    expect(screen.getByRole('alert').textContent).toContain('cut off');
    expect(screen.queryByRole('button', { name: 'Accept' })).toBeNull();
    cleanup();

    const same = new Scene(new FakeTarget('a = 1'));
    show(same);
    await answer(same, 'a = 1');
    expect(screen.getByText('Nothing needs to change.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Accept' })).toBeNull();
  });

  test('tells what went wrong and leads to the conversation', async () => {
    const scene = new Scene(new FakeTarget('a = 1'));
    const { user, openTalk } = show(scene);
    await act(async () => {
      await scene.ask('shorter');
      scene.endTurn('error', { message: 'Overloaded.', hint: 'Try later.' });
    });
    expect(screen.getByRole('alert').textContent).toContain(
      'Overloaded. Try later.'
    );
    await user.click(button('Show in chat'));
    expect(openTalk).toHaveBeenCalledWith('made-0');
  });

  test.each([
    ['read-only-document', 'This notebook cannot be changed: it is read-only.'],
    ['read-only-cell', 'This cell cannot be changed: it is locked.']
  ] as const)('says why it cannot begin: %s', (refusal, words) => {
    const target = new FakeTarget('a = 1');
    target.refused = refusal;
    show(new Scene(target));
    expect(screen.getByRole('alert').textContent).toBe(words);
    expect(button('Generate (Enter)')).toHaveProperty('disabled', true);
  });

  test('spells out characters that hide in a new cell', async () => {
    const scene = new Scene(new FakeTarget('a = 1'), 'insert');
    show(scene);
    await answer(scene, 'b = "\u202e"');
    expect(
      screen.getByLabelText('New cell, not inserted yet').textContent
    ).toBe('b = "⟨U+202E⟩"');
  });
});
