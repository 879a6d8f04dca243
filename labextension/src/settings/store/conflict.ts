/** The error of a change that conflicts with another page's. Thrown by the store; views word it. */

import { ApiError } from '../../client/http';

const MESSAGE = 'changed-elsewhere';

/** The stored value is not the one the user saw. */
export function changedElsewhere(): ApiError {
  return new ApiError(409, {
    code: 'conflict',
    message: MESSAGE,
    hint: null,
    retryable: false,
    details: null,
    provider: null,
    model: null,
    request_id: null
  });
}

/** Whether an error is this conflict. */
export function isChangedElsewhere(error: { message: string }): boolean {
  return error.message === MESSAGE;
}
