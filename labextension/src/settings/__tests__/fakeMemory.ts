/** The routes of the memory, in memory. */

import type { IMemoryApi } from '../store/memory';
import type {
  MemoryChange,
  MemoryStatement,
  MemoryView,
  OperationUndone,
  PostMemory
} from '../../wire/generated';

export function statement(
  id: string,
  text: string,
  more: Partial<MemoryStatement> = {}
): MemoryStatement {
  return {
    id,
    text,
    scope: id.startsWith('p') ? 'person' : 'workspace',
    date: '2026-11-29',
    session_id: null,
    section: '',
    state: 'trusted',
    ...more
  };
}

export class FakeMemory implements IMemoryApi {
  enabled = true;
  statements: readonly MemoryStatement[] = [];
  readonly asked: unknown[][] = [];

  async memory(): Promise<MemoryView> {
    const file = (scope: MemoryStatement['scope']): MemoryView['files'][0] => ({
      scope,
      path:
        scope === 'person' ? '~/.shoulders/memory.md' : '.shoulders/memory.md',
      text: this.statements.length === 0 ? null : '- As in the file.\n',
      statements: this.statements.filter(each => each.scope === scope),
      error: null
    });
    return {
      enabled: this.enabled,
      files: this.enabled ? [file('person'), file('workspace')] : []
    };
  }

  async add(body: PostMemory): Promise<MemoryChange> {
    this.asked.push(['add', body]);
    const { text, scope, preference = false } = body;
    const id = `${scope[0]}-${this.asked.length}`;
    const section = preference ? 'Preferences' : '';
    return this.changed(
      statement(id, text, { section }),
      'remembered',
      this.statements
    );
  }

  async edit(id: string, text: string): Promise<MemoryChange> {
    this.asked.push(['edit', id, text]);
    const before = this.statements;
    const known = this.known(id);
    this.statements = before.filter(each => each.id !== id);
    return this.changed({ ...known, text }, 'edited', before);
  }

  async remove(id: string): Promise<MemoryChange> {
    this.asked.push(['remove', id]);
    const before = this.statements;
    this.statements = before.filter(each => each.id !== id);
    const removed = before.find(each => each.id === id);
    return this.noted(removed ?? statement(id, ''), 'forgot', before);
  }

  async undo(operation: string): Promise<OperationUndone> {
    this.asked.push(['undo', operation]);
    this.statements = this.earlier.get(operation) ?? [];
    return { undone: [operation], kept: [] };
  }

  private known(id: string): MemoryStatement {
    return (
      this.statements.find(each => each.id === id) ?? statement(id, 'unknown')
    );
  }

  private changed(
    now: MemoryStatement,
    kind: MemoryChange['kind'],
    before: readonly MemoryStatement[]
  ): MemoryChange {
    this.statements = [...this.statements, now];
    return this.noted(now, kind, before);
  }

  private noted(
    now: MemoryStatement,
    kind: MemoryChange['kind'],
    before: readonly MemoryStatement[]
  ): MemoryChange {
    const operation_id = `o${this.asked.length}`;
    this.earlier.set(operation_id, before);
    return { kind, statement: now, previous: null, operation_id, near: [] };
  }

  private readonly earlier = new Map<string, readonly MemoryStatement[]>();
}
