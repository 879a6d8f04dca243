import { describe, expect, test } from 'vitest';

import { ScrollAnchor } from '../scrollAnchor';

const HEIGHT = 100;
const TOP = 40;

/** Messages of 100 px each below `room` px, in a view 40 px below the top of the page. */
function list(room: number) {
  const scroller = document.createElement('div');
  const place = { room };
  const messages = ['a', 'b', 'c'].map((name, index) => {
    const message = document.createElement('p');
    message.className = 'shoulders-Message';
    message.textContent = name;
    Object.defineProperty(message, 'clientHeight', { value: HEIGHT });
    message.getBoundingClientRect = () =>
      new DOMRect(
        0,
        TOP + place.room + index * HEIGHT - scroller.scrollTop,
        1,
        HEIGHT
      );
    return message;
  });
  scroller.getBoundingClientRect = () => new DOMRect(0, TOP, 1, 150);
  scroller.append(...messages);
  document.body.replaceChildren(scroller);
  return { scroller, place, messages, anchor: new ScrollAnchor(scroller) };
}

describe('the place of the reader', () => {
  test('stays when something above it gets another height', () => {
    const { scroller, place, anchor } = list(500);
    scroller.scrollTop = 620;
    anchor.remember();
    place.room = 700;
    anchor.restore();
    expect(scroller.scrollTop).toBe(820);
    place.room = 650;
    anchor.restore();
    expect(scroller.scrollTop).toBe(770);
  });

  test('stays also when they scroll at that moment', () => {
    const { scroller, place, anchor } = list(500);
    scroller.scrollTop = 620;
    anchor.remember();
    scroller.scrollTop = 600;
    place.room = 700;
    anchor.remember();
    expect(scroller.scrollTop).toBe(800);
  });

  test('is not there before they scrolled, or when what they saw is gone', () => {
    const { scroller, place, messages, anchor } = list(500);
    scroller.scrollTop = 620;
    anchor.restore();
    anchor.remember();
    messages[1]?.remove();
    place.room = 700;
    anchor.restore();
    expect(scroller.scrollTop).toBe(620);
  });
});
