/** Questions of the agent, and call results supplied by the user. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import type { Event } from '../../../wire/generated';
import { act, showPanel } from '../../__tests__/harness';
import { base, button, field, log } from '../../__tests__/queries';

const answered = (seq: number, ...answer: string[]): Event => ({
  ...base,
  seq,
  type: 'clarify-answer',
  call_id: 'k1',
  answer
});
const single = (): Event[] => log('questions').slice(0, 7);

describe('a question', () => {
  test('is answered with one click on an option', async () => {
    const { server, socket, container } = await showPanel(single());
    const card = screen.getByRole('region', { name: /Which column/ });
    expect(within(card).getByRole('group').textContent).toBe('ab');
    fireEvent.click(button('b'));
    expect(server.requests.at(-1)).toEqual([
      'answerQuestion',
      's1',
      'k1',
      { answer: 'b' }
    ]);
    await act(() => socket.deliver([answered(8, 'b')]));
    expect(screen.queryByRole('button', { name: 'a' })).toBeNull();
    expect(screen.getByLabelText('Your answer').textContent).toBe('b');
    expect(container.querySelector('.shoulders-Call')).toBeNull();
  });

  test('takes several options, sent in the order they are offered', async () => {
    const { server } = await showPanel(log('question-waiting'));
    expect(button('Send')).toHaveProperty('disabled', true);
    const user = userEvent.setup();
    await user.click(button('c'));
    await user.click(button('a'));
    await user.click(button('b'));
    await user.click(button('b'));
    expect(button('a').getAttribute('aria-pressed')).toBe('true');
    expect(button('b').getAttribute('aria-pressed')).toBe('false');
    await user.click(button('Send'));
    expect(server.requests.at(-1)?.[3]).toEqual({ answer: ['a', 'c'] });
  });

  test('is answered by the next message, as the input says', async () => {
    const { server } = await showPanel(log('question-waiting'));
    expect(field().placeholder).toBe('Answer…');
    fireEvent.change(field(), { target: { value: 'None of them' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    const sent = server.requests.find(([name]) => name === 'sendMessage');
    expect(sent?.[2]).toMatchObject({ text: 'None of them' });
  });

  test('of an interrupted turn can still be answered', async () => {
    const events = log('question-answered-by-message');
    const { server, socket } = await showPanel(events.slice(0, 10));
    expect(screen.getByRole('region', { name: 'Interrupted' })).toBeTruthy();
    fireEvent.click(button('a'));
    fireEvent.click(button('Send'));
    expect(server.requests.at(-1)?.[0]).toBe('answerQuestion');
    await act(() => socket.deliver(events.slice(10)));
    expect(screen.getByLabelText('Your answer').textContent).toBe('All but c');
    expect(field().placeholder).toBe('Add something for the next step…');
  });

  test('answered in another page says so to the second', async () => {
    const { server, socket } = await showPanel(single());
    server.fail({ code: 'already_answered' }, 409);
    fireEvent.click(button('a'));
    await act(() => {});
    expect(screen.queryByRole('alert')).toBeNull();
    expect(
      screen.getByText('This question has already been answered.')
    ).toBeTruthy();
    await act(() => socket.deliver([answered(8, 'b')]));
    expect(screen.getByLabelText('Your answer').textContent).toBe('b');
    expect(
      screen.getByText('This question has already been answered.')
    ).toBeTruthy();
  });

  test('of a turn that ended is not asked any more', async () => {
    const end: Event = {
      ...base,
      seq: 8,
      type: 'turn-end',
      exit: 'cancelled',
      error: null,
      summary: null
    };
    await showPanel([...single(), end]);
    expect(screen.getByText('Not answered')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'a' })).toBeNull();
    expect(field().placeholder).toBe('Ask about your notebook…');
  });

  test('is text of the model: nothing in it runs or loads', async () => {
    const events = single().map(event =>
      event.type === 'clarify-request'
        ? {
            ...event,
            question: 'Which <img src=x onerror="alert(1)"> **one**?'
          }
        : event
    );
    const { container } = await showPanel(events);
    const card = container.querySelector('.shoulders-Question');
    expect(card?.querySelector('img')).toBeNull();
    expect(card?.querySelector('strong')?.textContent).toBe('one');
  });
});

describe('a result the user supplies', () => {
  test('is text, or an error', async () => {
    const { server, container } = await showPanel(log('results-from-user'));
    const cards = container.querySelectorAll('.shoulders-ToolResultForm');
    expect(cards).toHaveLength(1); // The other call has its result.
    expect(cards[0]?.textContent).toContain('Cell 1 · a.ipynb');
    const user = userEvent.setup();
    await user.type(screen.getByLabelText('Result of Run cell 1'), '42');
    await user.click(button('Send result'));
    expect(server.requests.at(-1)).toEqual([
      'supplyResult',
      's1',
      'k2',
      { content: '42', ok: true }
    ]);
    await user.click(button('Send as error'));
    expect(server.requests.at(-1)?.[3]).toEqual({
      content: '42',
      ok: false
    });
  });
});
