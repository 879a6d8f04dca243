import { act, render } from '@testing-library/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import * as React from 'react';

import { PagedList } from '../PagedList';
import { PAGE, TAIL } from '../pages';

/** Reports nearness as the test says; jsdom has no layout. */
class FakeObserver {
  static last: FakeObserver;
  readonly observed = new Set<Element>();

  constructor(private readonly tell: IntersectionObserverCallback) {
    FakeObserver.last = this;
  }
  observe(element: Element): void {
    this.observed.add(element);
  }
  unobserve(element: Element): void {
    this.observed.delete(element);
  }
  disconnect(): void {
    this.observed.clear();
  }
  say(index: number, isIntersecting: boolean, width = 300): void {
    const target = [...this.observed][index];
    const rootBounds = { width };
    const entry = { target, isIntersecting, rootBounds };
    act(() =>
      this.tell(
        [entry as unknown as IntersectionObserverEntry],
        this as unknown as IntersectionObserver
      )
    );
  }
}

beforeEach(() => {
  vi.stubGlobal('IntersectionObserver', FakeObserver);
  return () => vi.unstubAllGlobals();
});

const item = (name: string, isLast: boolean): React.JSX.Element => (
  <p key={name}>
    <button>{isLast ? `${name} (last)` : name}</button>
  </p>
);

function List({ items }: { items: readonly string[] }): React.JSX.Element {
  const scroller = React.useRef<HTMLDivElement>(null);
  return (
    <div ref={scroller}>
      <PagedList items={items} scroller={scroller} render={item} />
    </div>
  );
}

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `item ${index}`);

const shown = (page: HTMLElement): string[] =>
  [...page.querySelectorAll('button')].map(button => button.textContent);

describe('a long list', () => {
  test('renders its end, and what comes near', () => {
    const { container } = render(<List items={names(60)} />);
    expect(shown(container)).toHaveLength(PAGE * TAIL);
    expect(shown(container).at(-1)).toBe('item 59 (last)');
    FakeObserver.last.say(0, true);
    expect(shown(container).slice(0, PAGE)).toEqual(names(PAGE));
    FakeObserver.last.say(0, false);
    expect(shown(container)).toHaveLength(PAGE * TAIL);
  });

  test('keeps the room of what is not rendered', () => {
    const { container } = render(<List items={names(60)} />);
    const page = container.querySelector<HTMLElement>('.shoulders-Page');
    expect(page?.style.height).toMatch(/^\d+px$/);
    Object.defineProperty(page, 'offsetHeight', { value: 1234 });
    FakeObserver.last.say(0, true);
    expect(page?.style.height).toBe('');
    FakeObserver.last.say(0, false);
    expect(page?.style.height).toBe('1234px');
  });

  test('leaves what the reader is in, has opened or typed into', () => {
    const { container } = render(<List items={names(60)} />);
    for (const index of [0, 1, 2]) {
      FakeObserver.last.say(index, true);
    }
    const pages = container.querySelectorAll('.shoulders-Page');
    pages[0]?.querySelector('button')?.focus();
    pages[1]?.querySelector('button')?.setAttribute('aria-expanded', 'true');
    for (const index of [0, 1, 2]) {
      FakeObserver.last.say(index, false);
    }
    expect([...pages].slice(0, 4).map(page => page.childElementCount)).toEqual([
      PAGE,
      PAGE,
      0,
      0
    ]);
  });

  test('changes nothing while it is hidden', () => {
    const { container } = render(<List items={names(60)} />);
    FakeObserver.last.say(0, true);
    FakeObserver.last.say(0, false, 0);
    expect(shown(container)).toContain('item 0');
  });

  test('is news at its end only', () => {
    const { container } = render(<List items={names(60)} />);
    const live = [...container.querySelectorAll('.shoulders-Page')].map(page =>
      page.getAttribute('aria-live')
    );
    expect(live.slice(0, -TAIL)).toEqual(Array(8).fill('off'));
    expect(live.slice(-TAIL)).toEqual(Array(TAIL).fill(null));
  });

  test('renders a page again only when an item of it is another', () => {
    const drawn = vi.fn(item);
    const scroller = { current: null };
    const list = (items: readonly string[]) => (
      <PagedList items={items} scroller={scroller} render={drawn} />
    );
    const { rerender } = render(list(names(9)));
    drawn.mockClear();
    rerender(list([...names(9), 'new']));
    expect(drawn.mock.calls.map(([name]) => name)).toEqual([
      ...names(9).slice(PAGE),
      'new'
    ]);
  });
});
