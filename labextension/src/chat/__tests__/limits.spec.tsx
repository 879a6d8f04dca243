/** Turns that pause or end at a budget or context limit. */

import { fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { noBudget, problem } from '../../model/__tests__/fakes';
import type { BudgetState, Event } from '../../wire/generated';
import { act, showPanel } from './harness';
import { base, button, log } from './queries';

const limited = (
  change: Partial<BudgetState['limits'][number]>
): BudgetState => ({
  ...noBudget,
  limits: noBudget.limits.map(limit =>
    limit.scope === 'turn' ? { ...limit, ...change } : limit
  )
});

describe('a turn at a limit of money', () => {
  test('continues with a higher one', async () => {
    const { server, container } = await showPanel(log('paused'));
    const card = container.querySelector('.shoulders-Pause');
    expect(card?.textContent).toContain('$0.52 of $0.50 spent.');
    expect(screen.getByText('Paused at a limit')).toBeTruthy();
    fireEvent.click(button('Continue, up to $0.78'));
    expect(server.requests.at(-1)).toEqual([
      'resume',
      's1',
      { decision: 'resume', limit_micro_usd: 780_000 }
    ]);
  });

  test('takes an amount of the user', async () => {
    const { server } = await showPanel(log('paused'));
    const user = userEvent.setup();
    await user.click(button('Other amount…'));
    await user.keyboard('3{Enter}');
    expect(server.requests.at(-1)?.[2]).toEqual({
      decision: 'resume',
      limit_micro_usd: 3_000_000
    });
  });

  test('says what the administrator allows and offers no more', async () => {
    const { container } = await showPanel(log('paused'), server => {
      server.budget = limited({ administrator_micro_usd: 900_000 });
    });
    expect(container.textContent).toContain('administrator allows up to $0.90');
    expect(button('Up to $0.90')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Up to $1.10' })).toBeNull();
  });

  test('can be stopped', async () => {
    const { server } = await showPanel(log('paused'));
    fireEvent.click(button('Stop here'));
    expect(server.requests.at(-1)?.[2]).toEqual({ decision: 'discard' });
  });

  test('that went on shows the limit as a remark', async () => {
    const resumed: Event = {
      ...base,
      seq: 8,
      type: 'turn-resume',
      model: 'demo/demo',
      provider: 'demo',
      mode: 'ask',
      step_limit: 25,
      is_stand_in: false
    };
    const { container } = await showPanel([...log('paused'), resumed]);
    expect(container.querySelector('.shoulders-Pause')).toBeNull();
    expect(container.querySelector('.shoulders-Remark')?.textContent).toContain(
      '$0.52 are spent'
    );
  });
});

describe('a turn that has outgrown its model', () => {
  const tooLong = (): Event[] =>
    log('paused').map(event =>
      event.type === 'notice'
        ? { ...event, code: 'compaction_ask', text: 'It does not fit.' }
        : event
    );

  test('continues with a summary', async () => {
    const { server, container } = await showPanel(tooLong());
    const card = container.querySelector('.shoulders-Pause');
    expect(card?.textContent).toContain('It does not fit.');
    expect(card?.textContent).not.toContain('$');
    fireEvent.click(button('Summarise and continue'));
    expect(server.requests.at(-1)).toEqual([
      'resume',
      's1',
      { decision: 'resume' }
    ]);
  });

  test('can be stopped', async () => {
    const { server } = await showPanel(tooLong());
    fireEvent.click(button('Stop here'));
    expect(server.requests.at(-1)?.[2]).toEqual({ decision: 'discard' });
  });
});

describe('the budget', () => {
  const exhausted = (administrator: boolean): Event[] => [
    ...log('paused').slice(0, 5),
    {
      ...base,
      seq: 6,
      type: 'turn-end',
      exit: 'budget_exhausted',
      summary: null,
      error: {
        ...problem,
        code: 'budget_exhausted',
        message: 'All is spent.',
        details: { scope: 'month', administrator }
      }
    }
  ];

  test('is changed from the turn it ended', async () => {
    const { server } = await showPanel(exhausted(false), server => {
      server.budget = limited({
        user_micro_usd: 500_000,
        administrator_micro_usd: 2_000_000
      });
    });
    const user = userEvent.setup();
    await user.click(button('Change the budget…'));
    await act(() => {});
    const dialog = screen.getByRole('dialog', { name: 'Budget' });
    expect(dialog.textContent).toContain('your administrator’s limit: $2.00');
    const month = screen.getByLabelText('Per month, in dollars');
    expect(document.activeElement).toBe(month);
    expect(screen.getByLabelText('Per turn')).toHaveProperty('value', '0.50');
    await user.type(month, 'much');
    expect(button('Save')).toHaveProperty('disabled', true);
    await user.clear(month);
    await user.type(month, '7.5{Enter}');
    await act(() => {});
    expect(server.requests.at(-1)).toEqual([
      'putBudget',
      {
        month_micro_usd: 7_500_000,
        day_micro_usd: null,
        session_micro_usd: null,
        turn_micro_usd: 500_000
      }
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('that is refused says why and keeps what was written', async () => {
    const { server } = await showPanel(exhausted(false));
    const user = userEvent.setup();
    await user.click(button('Change the budget…'));
    await act(() => {});
    await user.type(screen.getByLabelText('Per day'), '9');
    server.fail({ message: 'Your administrator allows $5.00.' }, 422);
    await user.click(button('Save'));
    await act(() => {});
    const dialog = screen.getByRole('dialog');
    expect(dialog.textContent).toContain('Your administrator allows $5.00.');
    expect(screen.getByLabelText('Per day')).toHaveProperty('value', '9');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('is said once: the remarks before the end are not repeated', async () => {
    const paused = log('paused');
    const said = paused[5];
    const text = said?.type === 'notice' ? said.text : '';
    const nearly: Event = {
      ...base,
      seq: 6,
      type: 'notice',
      level: 'warning',
      code: 'budget_80',
      text: '104 % is spent.',
      call_id: null,
      details: null
    };
    const end: Event = {
      ...base,
      seq: 9,
      type: 'turn-end',
      exit: 'budget_exhausted',
      summary: null,
      error: { ...problem, code: 'budget_exhausted', message: text }
    };
    const later = paused.slice(5).map(event => ({
      ...event,
      seq: event.seq + 1
    }));
    const { container } = await showPanel([
      ...paused.slice(0, 5),
      nearly,
      ...later,
      end
    ]);
    expect(container.querySelector('.shoulders-Remark')).toBeNull();
    expect(screen.getAllByText(text)).toHaveLength(1);
  });

  test('of the administrator is not offered to be changed', async () => {
    await showPanel(exhausted(true));
    expect(screen.getByText('All is spent.')).toBeTruthy();
    expect(
      screen.queryByRole('button', { name: 'Change the budget…' })
    ).toBeNull();
  });
});
