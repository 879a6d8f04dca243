/**
 * A long list of which only what is near the reader is rendered. The room of the rest is kept, so that the scroll bar
 * tells where one is and nothing moves under one's eyes. Used by the list of messages.
 */

import * as React from 'react';

import {
  isSamePage,
  Nearness,
  pagesOf,
  roomOf,
  TAIL,
  type IPage
} from './pages';
import { NearnessContext, useNearby } from './useNearby';

interface IProps<T> {
  readonly items: readonly T[];
  readonly scroller: React.RefObject<HTMLDivElement>;
  /** Renders an item with its key; the same function while it renders the same. */
  readonly render: (item: T, isLast: boolean) => React.JSX.Element;
}

/** The items, cut into pages. */
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
          // The page gives back the items it was given.
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
    const { place, shown, room } = useNearby(props.isTail, roomOf(page));
    const last = page.items.length - 1;
    return (
      <div
        className="shoulders-Page"
        ref={place}
        // What is rendered again on the way back is no news.
        aria-live={props.isTail ? undefined : 'off'}
        style={shown ? undefined : { height: room }}
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
