/** Switches between the versions of an edited message. */

import * as React from 'react';

import type { Versions as AllVersions } from '../../model/sessions/messageBranches';
import { BranchesContext } from './branches';
import { IconButton } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';

export function VersionSwitcher({
  seq
}: {
  seq: number;
}): React.JSX.Element | null {
  const { versions } = React.useContext(BranchesContext);
  const all = versions.get(seq);
  return all === undefined ? null : <StepButton seq={seq} all={all} />;
}

function StepButton(props: {
  seq: number;
  all: AllVersions;
}): React.JSX.Element {
  const trans = useTrans();
  const { seq, all } = props;
  const { show, lastSwitch } = React.useContext(BranchesContext);
  const index = all.indexOf(seq);
  const ref = React.useRef<HTMLDivElement>(null);
  const by = lastSwitch?.seq === seq ? lastSwitch.by : 0;
  React.useLayoutEffect(() => {
    if (by !== 0) {
      const [back, on] = ref.current?.querySelectorAll('button') ?? [];
      const [wanted, other] = by < 0 ? [back, on] : [on, back];
      (wanted?.disabled === false ? wanted : other)?.focus();
    }
  }, [by]);
  const walk = (step: number): void => {
    const next = all[index + step];
    if (next !== undefined) {
      show(next, step);
    }
  };
  return (
    <div
      className="shoulders-Versions"
      role="group"
      aria-label={trans.__('Versions of this message')}
      ref={ref}
    >
      <IconButton
        icon="caret-left"
        label={trans.__('Earlier version')}
        disabled={index === 0}
        onClick={() => walk(-1)}
      />
      <span>{trans.__('%1 of %2', index + 1, all.length)}</span>
      <IconButton
        icon="caret-right"
        label={trans.__('Later version')}
        disabled={index === all.length - 1}
        onClick={() => walk(1)}
      />
    </div>
  );
}
