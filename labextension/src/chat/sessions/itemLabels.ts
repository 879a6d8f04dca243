/** Labels for kinds, sources and states of conversations. Used by lists and tabs. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Session } from '../../wire/generated';

type Kind = Session['kind'];
type Source = Session['source'];

export const KINDS = [
  'chat',
  'task',
  'run',
  'scheduled',
  'kernel',
  'agent'
] as const satisfies readonly Kind[];

export const SOURCES = [
  'chat',
  'task',
  'http',
  'cli',
  'kernel',
  'schedule',
  'watcher',
  'delegate',
  'mcp',
  'acp'
] as const satisfies readonly Source[];

export function nameOfKind(kind: Kind, trans: TranslationBundle): string {
  switch (kind) {
    case 'chat':
      return trans.__('Chats');
    case 'task':
      return trans.__('Task threads');
    case 'run':
      return trans.__('Runs');
    case 'scheduled':
      return trans.__('Scheduled runs');
    case 'kernel':
      return trans.__('From a kernel');
    case 'agent':
      return trans.__('Other agents');
  }
}

export function nameOfSource(source: Source, trans: TranslationBundle): string {
  switch (source) {
    case 'chat':
      return trans.__('Chat panel');
    case 'task':
      return trans.__('Notebook or file');
    case 'http':
      return trans.__('HTTP');
    case 'cli':
      return trans.__('Command line');
    case 'kernel':
      return trans.__('Kernel');
    case 'schedule':
      return trans.__('Schedule');
    case 'watcher':
      return trans.__('Watcher');
    case 'delegate':
      return trans.__('Sub-agent');
    case 'mcp':
      return trans.__('MCP client');
    case 'acp':
      return trans.__('Editor (ACP)');
  }
}

/** Label of a conversation's status. */
export function nameOfStatus(
  status: Session['status'],
  trans: TranslationBundle
): string {
  switch (status) {
    case 'idle':
      return trans.__('Open');
    case 'running':
      return trans.__('Working');
    case 'waiting':
      return trans.__('Waiting for you');
    case 'error':
      return trans.__('Failed');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'resolved':
      return trans.__('Resolved');
  }
}
