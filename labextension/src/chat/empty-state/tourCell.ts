/** Id of the failing cell in the tour's notebook; identifies the tour. */
export const TOUR_CELL = 'count-mistakes';
