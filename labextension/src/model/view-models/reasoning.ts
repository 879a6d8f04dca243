/** Reasoning that comes in several pieces one after another is one section. Pure; used by the agent's message. */

import type { ReasoningView } from '../../wire/generated';
import type { MessageItem } from './conversationItems';

/** What is shown: items, or reasoning as one. */
export type Section =
  | MessageItem
  | {
      readonly kind: 'reasoning';
      readonly key: string;
      readonly parts: readonly ReasoningView[];
    };

/** The items with consecutive reasoning in one section. */
export function withReasoning(items: readonly MessageItem[]): Section[] {
  const sections: Section[] = [];
  for (const item of items) {
    const last = sections.at(-1);
    if (item.kind !== 'part' || item.part.type !== 'reasoning') {
      sections.push(item);
    } else if (last?.kind === 'reasoning') {
      const parts = [...last.parts, item.part];
      sections[sections.length - 1] = { ...last, parts };
    } else {
      const { key, part } = item;
      sections.push({ kind: 'reasoning', key, parts: [part] });
    }
  }
  return sections;
}
