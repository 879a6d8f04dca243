/** The choice of the embedding model. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { useTrans } from '../../ui/hooks';
import type { EmbedderChoice, Settings } from '../../wire/generated';
import { SelectSetting, type IOption } from '../components/fields';

export function EmbedderSetting(props: {
  settings: Settings;
  /** The models that can be used now; null while they are not known. */
  models: readonly EmbedderChoice[] | null;
}): React.JSX.Element {
  const trans = useTrans();
  const { settings, models } = props;
  return (
    <SelectSetting
      settings={settings}
      area="search"
      name="embedder"
      label={trans.__('Embedding model')}
      options={[
        { value: '', title: trans.__('Chosen automatically') },
        ...modelOptions(models, settings.values.search.embedder, trans)
      ]}
    />
  );
}

/** The models, and the one in the setting where it is not among them. */
function modelOptions(
  models: readonly EmbedderChoice[] | null,
  named: string,
  trans: TranslationBundle
): readonly IOption[] {
  const all = models ?? [];
  const chosen =
    all.find(({ id }) => id === named) ??
    all.find(({ is_chosen }) => is_chosen && named !== '');
  const options = all.map(model => ({
    value: model === chosen ? named : model.id,
    title: titleOf(model, trans)
  }));
  if (named === '' || chosen !== undefined) {
    return options;
  }
  const name = visible(named);
  const title = models === null ? name : trans.__('%1 (not available)', name);
  return [...options, { value: named, title }];
}

function titleOf(
  { model, host, is_local }: EmbedderChoice,
  trans: TranslationBundle
): string {
  const place = is_local ? trans.__('on this machine') : visible(host);
  return `${visible(model)} · ${place}`;
}
