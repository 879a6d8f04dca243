/** Summary of a folder's settings in one sentence. Used by the chat panel's bar. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { TrustItem } from '../wire/generated';
import { hostText } from './items';

/** Hosts named in the sentence; the review names all. */
const HOSTS = 2;
/** Characters shown of a host. */
const HOST_LENGTH = 60;

/**
 * The items that wait for a decision, for example: This folder brings its own AI settings: 2 permission rules,
 * instructions.
 */
export function trustSentence(
  items: readonly TrustItem[],
  trans: TranslationBundle
): string {
  const list = parts(items, trans).join(', ');
  const changed = items.filter(({ state }) => state === 'changed').length;
  if (changed === items.length) {
    return trans.__(
      'This folder’s AI settings have changed since you reviewed them: %1.',
      list
    );
  }
  return changed === 0
    ? trans.__('This folder has its own AI settings: %1.', list)
    : trans.__(
        'This folder has its own AI settings: %1. Some have changed since you reviewed them.',
        list
      );
}

function parts(
  items: readonly TrustItem[],
  trans: TranslationBundle
): readonly string[] {
  const of = (kind: TrustItem['kind']): readonly TrustItem[] =>
    items.filter(item => item.kind === kind);
  const servers = of('provider');
  const settings = of('setting');
  const known = hostsOf(servers);
  const more = hostsOf(settings).filter(host => !known.includes(host));
  const counted: readonly (readonly [number, (n: number) => string])[] = [
    [
      of('rule').length,
      n => trans._n('%1 permission rule', '%1 permission rules', n)
    ],
    [
      servers.length,
      n => at(trans._n('%1 model server', '%1 model servers', n), known, trans)
    ],
    [of('model').length, n => trans._n('%1 model', '%1 models', n)],
    [
      settings.length,
      n => at(trans._n('%1 setting', '%1 settings', n), more, trans)
    ],
    [
      of('instructions').length,
      n => trans._n('instructions', '%1 instruction files', n)
    ],
    [of('skill').length, n => trans._n('%1 skill', '%1 skills', n)],
    [of('memory').length, () => trans.__('memory')],
    [of('program').length, n => trans._n('%1 MCP server', '%1 MCP servers', n)]
  ];
  return counted.filter(([n]) => n > 0).map(([n, words]) => words(n));
}

/** A count followed by the hosts. */
function at(
  counted: string,
  hosts: readonly string[],
  trans: TranslationBundle
): string {
  if (hosts.length === 0) {
    return counted;
  }
  const named = hosts.slice(0, HOSTS).map(shortened).join(', ');
  const rest = hosts.length - HOSTS;
  return rest > 0
    ? trans.__('%1 (%2 and %3 more)', counted, named, rest)
    : trans.__('%1 (%2)', counted, named);
}

function hostsOf(items: readonly TrustItem[]): readonly string[] {
  const hosts = items.flatMap(({ host }) => (host === null ? [] : [host]));
  return [...new Set(hosts)].map(hostText);
}

/** The end of a long host identifies its owner. */
function shortened(host: string): string {
  return host.length > HOST_LENGTH ? `…${host.slice(-HOST_LENGTH)}` : host;
}
