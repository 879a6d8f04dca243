/** While an input method is composing, Enter and Esc belong to it and send, stop or close nothing. */

import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../../model/__tests__/reducerFixtures';
import { act, showPanel } from '../../__tests__/harness';

const button = (name: string) => screen.getByRole('button', { name });
const composing = (element: HTMLElement, key: string) =>
  act(() => void fireEvent.keyDown(element, { key, isComposing: true }));

describe('the keys of an input method', () => {
  test('stop no turn', async () => {
    const { server } = await showPanel(fixture('parallel-calls').events);
    const field = screen.getByPlaceholderText(/…$/);
    await composing(field, 'Escape');
    expect(server.requests.some(([name]) => name === 'cancel')).toBe(false);
    await act(() => void fireEvent.keyDown(field, { key: 'Escape' }));
    expect(server.requests.at(-1)).toEqual(['cancel', 's1']);
  });

  test('leave a queued message open that is being changed', async () => {
    const { server } = await showPanel(fixture('queued-messages').events);
    await act(() => void fireEvent.click(button('Edit')));
    const field = screen.getByRole('textbox', { name: 'Queued message' });
    fireEvent.change(field, { target: { value: 'ato' } });
    await composing(field, 'Enter');
    await composing(field, 'Escape');
    expect(field.isConnected).toBe(true);
    expect(server.requests.some(([name]) => name === 'editMessage')).toBe(
      false
    );
  });

  test('leave a sent message open that is being changed', async () => {
    await showPanel(fixture('streamed-text').events);
    const [edit] = screen.getAllByRole('button', { name: /^Edit/ });
    await act(() => void fireEvent.click(edit ?? document.body));
    const field = screen.getByRole('textbox', { name: 'Message' });
    await composing(field, 'Escape');
    expect(field.isConnected).toBe(true);
  });
});
