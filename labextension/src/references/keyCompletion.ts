/**
 * Completion of citation keys at the caret: a list under it, by keyboard or mouse. JupyterLab's completer is not used,
 * because it waits for the kernel in Markdown cells too. Loaded when the first citation is typed.
 */

import type { EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';

import { visible } from '../text/hiddenCharacters';
import { keyContext, type IKeyContext } from '../text/citationSyntax';
import type { Reference } from '../wire/generated';
import type { ReferenceLibrary } from './library';
import { matching, shortAuthors } from './matching';

const MOST = 12;
const ID = 'shoulders-citation-keys';

/** The one list of the page. */
export class KeyCompletion {
  constructor(
    private readonly library: ReferenceLibrary,
    private readonly trans: TranslationBundle
  ) {}

  /** The text or the caret of an editor has changed. */
  async update(view: EditorView): Promise<void> {
    this.view = view;
    await this.library.load();
    const context = contextAt(view);
    if (this.view !== view || context === null || !view.hasFocus) {
      this.close();
      return;
    }
    const all = this.library.references;
    const found = matching(all, context.prefix, MOST);
    const isComplete = found[0]?.key === context.prefix;
    if (found.length === 0 || isComplete) {
      this.close();
      return;
    }
    this.context = context;
    this.found = found;
    this.active = 0;
    this.show(view);
  }

  /** Whether the list is shown. */
  get isOpen(): boolean {
    return this.list !== null;
  }

  close(): void {
    this.list?.remove();
    this.list = null;
    this.view?.contentDOM.removeAttribute('aria-activedescendant');
    window.removeEventListener('keydown', this.onKey, true);
    window.removeEventListener('mousedown', this.onMouse, true);
    window.removeEventListener('wheel', this.onMouse, true);
  }

  private show(view: EditorView): void {
    const isNew = this.list === null;
    const list = this.list ?? document.createElement('div');
    list.className = 'jp-ThemedContainer shoulders-KeyList';
    list.id = ID;
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', this.trans.__('References'));
    list.replaceChildren(
      ...this.found.map((reference, at) => this.option(reference, at))
    );
    if (isNew) {
      document.body.append(list);
      this.list = list;
      window.addEventListener('keydown', this.onKey, true);
      window.addEventListener('mousedown', this.onMouse, true);
      window.addEventListener('wheel', this.onMouse, true);
    }
    this.point(0);
    const at = view.coordsAtPos(view.state.selection.main.head);
    if (at !== null) {
      const below = at.bottom + list.offsetHeight < window.innerHeight;
      list.style.top = `${below ? at.bottom + 2 : at.top - list.offsetHeight - 2}px`;
      const most = window.innerWidth - list.offsetWidth - 8;
      list.style.left = `${Math.max(0, Math.min(at.left, most))}px`;
    }
  }

  private option(reference: Reference, at: number): HTMLElement {
    const row = document.createElement('div');
    row.className = 'shoulders-KeyList-option';
    row.id = `${ID}-${at}`;
    row.setAttribute('role', 'option');
    const key = part('shoulders-KeyList-key', reference.key);
    const about = part(
      'shoulders-KeyList-about',
      [shortAuthors(reference.authors), reference.year, reference.title]
        .filter(Boolean)
        .join(' · ')
    );
    row.append(key, about);
    row.addEventListener('mousedown', event => {
      event.preventDefault();
      this.pick(reference);
    });
    return row;
  }

  private point(active: number): void {
    this.active = active;
    const rows = [...(this.list?.children ?? [])];
    rows.forEach((row, at) =>
      row.setAttribute('aria-selected', String(at === active))
    );
    rows[active]?.scrollIntoView({ block: 'nearest' });
    this.view?.contentDOM.setAttribute(
      'aria-activedescendant',
      `${ID}-${active}`
    );
  }

  private pick({ key }: Reference): void {
    const { context, view } = this;
    this.close();
    if (view === null || context === null) {
      return;
    }
    const { head } = view.state.selection.main;
    const from = head - context.prefix.length;
    const next = view.state.doc.sliceString(head, head + 1);
    const close = next === '' || next === '\n' ? context.close : '';
    view.dispatch({
      changes: { from, to: head, insert: key + close },
      selection: { anchor: from + key.length + close.length },
      userEvent: 'input.complete'
    });
    view.focus();
  }

  /** Before JupyterLab's own keys, which listen on the document. */
  private readonly onKey = (event: KeyboardEvent): void => {
    const count = this.found.length;
    const chosen = this.found[this.active];
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    switch (event.key) {
      case 'ArrowDown':
        this.point((this.active + 1) % count);
        break;
      case 'ArrowUp':
        this.point((this.active + count - 1) % count);
        break;
      case 'Enter':
      case 'Tab':
        if (event.shiftKey || chosen === undefined) {
          return;
        }
        this.pick(chosen);
        break;
      case 'Escape':
        this.close();
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  private readonly onMouse = (event: Event): void => {
    if (
      !(event.target instanceof Node) ||
      this.list?.contains(event.target) !== true
    ) {
      this.close();
    }
  };

  private list: HTMLElement | null = null;
  private view: EditorView | null = null;
  private context: IKeyContext | null = null;
  private found: readonly Reference[] = [];
  private active = 0;
}

/** The key that is typed at the caret. */
export function contextAt({ state }: EditorView): IKeyContext | null {
  const { empty, head } = state.selection.main;
  if (!empty) {
    return null;
  }
  const line = state.doc.lineAt(head);
  return keyContext(line.text.slice(0, head - line.from));
}

function part(className: string, text: string): HTMLElement {
  const node = document.createElement('span');
  node.className = className;
  node.textContent = visible(text);
  return node;
}
