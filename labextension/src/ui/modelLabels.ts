/** Labels of models: name, context size and price. Used by the picker and `/model`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatPrice, formatTokens } from '../text/numberFormat';
import { visible } from '../text/hiddenCharacters';
import type { ModelInfo, ProviderHealth } from '../wire/generated';

export function modelName({ name, label }: ModelInfo): string {
  return visible(label ?? name);
}

/** Context size and price, or why the model is unavailable. */
export function modelFacts(model: ModelInfo, trans: TranslationBundle): string {
  if (model.unavailable_reason !== null) {
    return model.unavailable_reason;
  }
  const { input, output } = model.prices;
  const facts = [
    model.context_window === null
      ? ''
      : trans.__('%1 context', formatTokens(model.context_window)),
    input === null || output === null ? '' : price(input, output, trans)
  ];
  return facts.filter(fact => fact !== '').join(' · ');
}

/** Where the key of a provider is looked for, when it has none. */
export function keyNote(
  { key_name }: ProviderHealth,
  trans: TranslationBundle
): string {
  return key_name === null
    ? trans.__('No key')
    : trans.__('No key · set %1', visible(key_name));
}

function price(
  input: number,
  output: number,
  trans: TranslationBundle
): string {
  return input === 0 && output === 0
    ? trans.__('free')
    : trans.__('%1 in, %2 out per M', formatPrice(input), formatPrice(output));
}
