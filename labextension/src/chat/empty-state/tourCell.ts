/** Id of the tour's cell that fails; no other notebook is likely to have one like it. Recognises the tour. */
export const TOUR_CELL = 'count-mistakes';
