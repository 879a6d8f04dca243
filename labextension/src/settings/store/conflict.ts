/** The failure of a change that met another page's: views say it in words. Thrown by the store. */

import { ApiError } from '../../client/http';

const MESSAGE = 'changed-elsewhere';

/** What is stored is not what the user saw. */
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

/** Whether this is that failure. */
export function isChangedElsewhere(error: { message: string }): boolean {
  return error.message === MESSAGE;
}
