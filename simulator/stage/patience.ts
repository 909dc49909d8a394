import { formatDuration } from '../../client/duration.ts';
import { retryDelaySeconds } from '../../services/domain/retry.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Outcome } from '../scenario/expectations.ts';

/** The sandbox in which seven attempts and an auto-disabled endpoint are seen within seconds. */
const COMPRESSED =
  'HOOKRAIL_RETRY_SCALE=20000 HOOKRAIL_AUTO_DISABLE_HOURS=0.0005 HOOKRAIL_ATTEMPT_TIMEOUT_SECONDS=2 hookrail start';

/** Something that this sandbox cannot show in the time that there is: no fault of what is checked. */
export class NotCheckable extends CommandFailure {
  constructor(message: string) {
    super(EXIT.timeout, message, [`start a sandbox with short times: ${COMPRESSED}`]);
  }
}

/** The retries that follow attempt n fail too: how long until the last one is over, milliseconds. */
function scheduleAfter(attempt: number, attemptsMax: number): number {
  let seconds = 0;
  for (let n = attempt; n < attemptsMax; n += 1) seconds += retryDelaySeconds(n);
  return seconds * 1000;
}

const ATTEMPTS_MAX = 7;

/**
 * Returns how long a delivery still takes to fail for the seventh time, milliseconds, at the pace that its next attempt
 * shows; undefined when it has not failed yet.
 */
export function timeToExhaust({ attempts, endedAt, nextAttemptAt }: Outcome): number | undefined {
  if (nextAttemptAt === null || attempts === 0 || attempts >= ATTEMPTS_MAX) return undefined;
  const scaledMs = Math.max(1, nextAttemptAt - endedAt);
  const scale = Math.max(1, (retryDelaySeconds(attempts) * 1000) / scaledMs);
  return scheduleAfter(attempts, ATTEMPTS_MAX) / scale;
}

/** Says that seven attempts take longer than the time to wait. */
export function tooSlow(remainingMs: number): NotCheckable {
  return new NotCheckable(
    `this sandbox retries too slowly to see seven attempts: they would take ${formatDuration(remainingMs)} more`,
  );
}
