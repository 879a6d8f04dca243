/**
 * A long list that renders only the pages near the viewport. The others keep their height, so that neither the scroll
 * bar nor the content jumps. Used by the list of messages.
 */

import * as React from 'react';

import {
  isSamePage,
  Nearness,
  pagesOf,
  estimatedHeight,
  TAIL,
  type IPage
} from './pages';
import { NearnessContext, useNearby } from './useNearby';

interface IProps<T> {
  readonly items: readonly T[];
  readonly scroller: React.RefObject<HTMLDivElement>;
  /** Renders an item with its key; pass the same function while it renders the same. */
  readonly render: (item: T, isLast: boolean) => React.JSX.Element;
}

/** The items, divided into pages. */
export function PagedList<T>(props: IProps<T>): React.JSX.Element {
  const { items, scroller, render } = props;
  const nearness = useNearness(scroller);
  const pages = pagesOf(items);
  return (
    <NearnessContext.Provider value={nearness}>
      {pages.map((page, index) => (
        <Page
          key={page.start}
          page={page as IPage<unknown>}
          isTail={index >= pages.length - TAIL}
          isLast={index === pages.length - 1}
          // A page passes its own items.
          render={render as IPageProps['render']}
        />
      ))}
    </NearnessContext.Provider>
  );
}

interface IPageProps {
  readonly page: IPage<unknown>;
  readonly isTail: boolean;
  readonly isLast: boolean;
  readonly render: (item: unknown, isLast: boolean) => React.JSX.Element;
}

const Page = React.memo(
  function Page(props: IPageProps): React.JSX.Element {
    const { page, isLast, render } = props;
    const { place, shown, height } = useNearby(
      props.isTail,
      estimatedHeight(page)
    );
    const last = page.items.length - 1;
    return (
      <div
        className="shoulders-Page"
        data-start={page.start}
        ref={place}
        // Content rendered again while scrolling is not announced.
        aria-live={props.isTail ? undefined : 'off'}
        style={shown ? undefined : { height }}
      >
        {shown &&
          page.items.map((item, index) =>
            render(item, isLast && index === last)
          )}
      </div>
    );
  },
  (before, after) =>
    before.isTail === after.isTail &&
    before.isLast === after.isLast &&
    before.render === after.render &&
    isSamePage(before.page, after.page)
);

function useNearness(scroller: React.RefObject<HTMLDivElement>): Nearness {
  const [nearness] = React.useState(() => new Nearness(scroller));
  React.useEffect(() => () => nearness.dispose(), [nearness]);
  return nearness;
}
