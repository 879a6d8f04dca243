/**
 * A long list of which only what is near the reader is rendered. The room of the rest is kept, so that the scroll bar
 * tells where one is and nothing moves under one's eyes. Used by the list of messages.
 */

import * as React from 'react';

import {
  isHeld,
  isSamePage,
  Nearness,
  pagesOf,
  roomOf,
  TAIL,
  type IPage
} from './pages';

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
    <>
      {pages.map((page, index) => (
        <Page
          key={page.start}
          page={page as IPage<unknown>}
          nearness={nearness}
          isTail={index >= pages.length - TAIL}
          isLast={index === pages.length - 1}
          // The page gives back the items it was given.
          render={render as IPageProps['render']}
        />
      ))}
    </>
  );
}

interface IPageProps {
  readonly page: IPage<unknown>;
  readonly nearness: Nearness;
  readonly isTail: boolean;
  readonly isLast: boolean;
  readonly render: (item: unknown, isLast: boolean) => React.JSX.Element;
}

const Page = React.memo(
  function Page(props: IPageProps): React.JSX.Element {
    const { page, isLast, render } = props;
    const { place, shown, room } = useShown(props);
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
    before.nearness === after.nearness &&
    before.isTail === after.isTail &&
    before.isLast === after.isLast &&
    before.render === after.render &&
    isSamePage(before.page, after.page)
);

/** Whether a page is rendered; else the room it is given. */
function useShown({ page, nearness, isTail }: IPageProps): {
  place: React.RefObject<HTMLDivElement>;
  shown: boolean;
  room: number;
} {
  const place = React.useRef<HTMLDivElement>(null);
  const [near, setNear] = React.useState(isTail);
  const [room, setRoom] = React.useState(() => roomOf(page));
  React.useEffect(() => {
    const { current } = place;
    if (current === null) {
      return;
    }
    return nearness.watch(current, isNear => {
      if (!isNear && isHeld(current)) {
        return;
      }
      // Many pages may come near at once: what the user does goes first.
      React.startTransition(() => {
        if (!isNear) {
          setRoom(current.offsetHeight);
        }
        setNear(isNear);
      });
    });
  }, [nearness]);
  const shown = near || isTail;
  usePlaceKept(place, shown, room);
  return { place, shown, room };
}

/** Whether the browser keeps its place when something above it has another height. */
const ANCHORS =
  typeof CSS !== 'undefined' && CSS.supports('overflow-anchor', 'auto');

/** Where the browser does not keep the place: move on by what a page above the view grew when it was rendered. */
function usePlaceKept(
  place: React.RefObject<HTMLDivElement>,
  shown: boolean,
  room: number
): void {
  const before = React.useRef(shown);
  React.useLayoutEffect(() => {
    const page = place.current;
    const scroller = page?.closest('.shoulders-Messages-scroller') ?? null;
    const isNew = shown && !before.current;
    before.current = shown;
    if (ANCHORS || !isNew || page === null || scroller === null) {
      return;
    }
    const { top } = page.getBoundingClientRect();
    if (top + room <= scroller.getBoundingClientRect().top) {
      scroller.scrollTop += page.offsetHeight - room;
    }
  }, [place, shown, room]);
}

function useNearness(scroller: React.RefObject<HTMLDivElement>): Nearness {
  const [nearness] = React.useState(() => new Nearness(scroller));
  React.useEffect(() => () => nearness.dispose(), [nearness]);
  return nearness;
}
