/** How well turns and tools worked in this workspace: facts, rankings, failures. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { ToolUsage, TurnUsage, Usage } from '../../wire/generated';
import { Group } from '../components/components';
import { FactList, type Fact } from './FactList';
import { mostRefusedTools, slowestTools, turnsWith } from './ranking';
import { wholePercent } from './series';
import { durationText, FailuresTable, ToolsTable } from './tables';

export function Reliability({ usage }: { usage: Usage }): React.JSX.Element {
  const trans = useTrans();
  const { tools, failures } = usage;
  const slow = slowestTools(tools);
  const refused = mostRefusedTools(tools);
  return (
    <>
      {usage.turns !== null && usage.turns.turns > 0 && (
        <Group title={trans.__('Turns in this workspace')}>
          <FactList facts={turnFacts(usage, trans)} />
        </Group>
      )}
      {slow.length > 0 && (
        <Group
          title={trans.__('Slowest tools')}
          note={trans.__('5 % of the calls took at least this long.')}
        >
          <Ranking
            tools={slow}
            value={({ p95_ms }) => p95_ms ?? 0}
            text={({ p95_ms, calls }) =>
              trans._n(
                '%2 · %1 call',
                '%2 · %1 calls',
                calls,
                durationText(p95_ms)
              )
            }
          />
        </Group>
      )}
      {refused.length > 0 && (
        <Group title={trans.__('Most refused tools')}>
          <Ranking
            tools={refused}
            value={({ denied }) => denied}
            text={({ denied, calls }) =>
              trans._n(
                '%1 refused, %2 run',
                '%1 refused, %2 run',
                denied,
                calls
              )
            }
          />
        </Group>
      )}
      {failures.length > 0 && (
        <Group title={trans.__('Most frequent failures')}>
          <FailuresTable failures={failures} />
        </Group>
      )}
      <Group title={trans.__('Tools in this workspace')}>
        <ToolsTable tools={tools} />
      </Group>
    </>
  );
}

/** A bar per tool; the text beside it has the number. */
function Ranking(props: {
  tools: readonly ToolUsage[];
  value: (tool: ToolUsage) => number;
  text: (tool: ToolUsage) => string;
}): React.JSX.Element {
  const { tools, value, text } = props;
  const most = Math.max(1, ...tools.map(value));
  return (
    <ul className="shoulders-Bars">
      {tools.map(tool => (
        <li key={tool.tool}>
          <span className="shoulders-Bars-name">
            <code>{visible(tool.tool)}</code>
          </span>
          <span className="shoulders-Bars-value">{text(tool)}</span>
          <svg
            className="shoulders-Bars-bar"
            width="100%"
            height="8"
            aria-hidden="true"
          >
            <rect
              className="shoulders-Chart-bar"
              width={`${(value(tool) / most) * 100}%`}
              height="8"
              rx="2"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}

function turnFacts(
  { turns, steps, first_output: first }: Usage,
  trans: TranslationBundle
): Fact[] {
  const perTurn = steps?.per_turn ?? null;
  const median = first?.p50_ms ?? null;
  const facts: Fact[] = [];
  if (turns !== null) {
    facts.push(successFact(turns, trans));
  }
  if (steps !== null && perTurn !== null) {
    facts.push([
      trans.__('Steps per task'),
      perTurn.toFixed(1),
      trans._n('%1 model call', '%1 model calls', steps.steps)
    ]);
  }
  if (first !== null && median !== null) {
    facts.push([
      trans.__('First output'),
      durationText(median),
      trans.__('median; slowest 5 %: %1', durationText(first.p95_ms))
    ]);
  }
  return facts;
}

function successFact(turns: TurnUsage, trans: TranslationBundle): Fact {
  const rate = turns.success_rate;
  return [
    trans.__('Success rate'),
    rate === null ? '–' : trans.__('%1 %', wholePercent(rate)),
    trans._n(
      '%1 turn, %2 stopped',
      '%1 turns, %2 stopped',
      turns.turns,
      turnsWith(turns, ['cancelled', 'interrupted'])
    )
  ];
}
