import { uuidV5 } from '../ids.ts';

/** Returns the id of a cause's notice: the `webhook-id` of each of its webhooks. */
export function noticeId(cause: string): string {
  return uuidV5('notice', cause);
}
