/** The error of a change that conflicts with another page's. Thrown by the store; views word it. */

import { ApiError, plainError } from '../../client/http';

const MESSAGE = 'changed-elsewhere';

/** The stored value is not the one the user saw. */
export function changedElsewhere(): ApiError {
  return new ApiError(409, plainError(MESSAGE, false, 'conflict'));
}

/** Whether an error is this conflict. */
export function isChangedElsewhere(error: { message: string }): boolean {
  return error.message === MESSAGE;
}
