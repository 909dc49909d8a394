import { FINAL } from '../../client/delivery-status.ts';
import { formatCountdown } from '../../client/duration.ts';
import type { Watched, WatchedDelivery } from '../client/watch-news.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Session } from '../session.ts';

/** Sorts after every time. */
const LAST = '~';

interface End {
  readonly exitCode: typeof EXIT.expectation | typeof EXIT.timeout;
  readonly says: string;
  readonly next: string;
}

/**
 * Ends a command that has followed deliveries. With `--wait` (`isAsked`), a delivery that was given up is a failure with
 * exit code 1, and one that is still open with 5; without it, a person is told.
 */
export function endWait(
  { output, signal, clock }: Session,
  watched: readonly Watched[],
  isAsked: boolean,
): void {
  if (signal.aborted) return;
  const end = endOf(watched, clock.now());
  if (end === undefined) return;
  if (isAsked) throw new CommandFailure(end.exitCode, end.says, [end.next]);
  output.remark(`${end.says}\n  → ${end.next}`);
}

/** Returns the number of digits of an id that tell it apart. */
export function shortId(uuid: string): string {
  return uuid.slice(0, 8);
}

/**
 * Returns what is left to be said of the deliveries at `now` (the service's time); undefined when all were delivered, or
 * none was made.
 */
function endOf(watched: readonly Watched[], now: number): End | undefined {
  const deliveries = watched.flatMap((each) => [...each.deliveries.values()]);
  const lost = deliveries.filter((delivery) => delivery !== null && isLost(delivery));
  const [first] = lost;
  if (first) {
    const one = `${first.type}/${first.subType} was ${endWord(first)}${at(first)}`;
    const says = lost.length === 1 ? one : `${lost.length} deliveries were given up`;
    return { exitCode: EXIT.expectation, says, next: getCommand(first) };
  }
  const unrouted = watched.filter(({ routed }) => !routed).length;
  const open = deliveries.filter((delivery) => !FINAL.includes(delivery?.status ?? ''));
  if (open.length === 0 && unrouted === 0) return undefined;
  const soonest = open
    .filter((delivery) => delivery !== null)
    .sort((a, b) => (a.next_attempt_at ?? LAST).localeCompare(b.next_attempt_at ?? LAST))[0];
  const says = [
    ...(unrouted === 0 ? [] : [`${counted(unrouted, 'event')} not routed yet`]),
    ...(open.length === 0
      ? []
      : [
          `${open.length === 1 ? '1 delivery waits' : `${open.length} deliveries wait`}${when(soonest, now)}`,
        ]),
  ].join('; ');
  const next = soonest ? getCommand(soonest) : 'list pending ones: hookrail sim deliveries list';
  return { exitCode: EXIT.timeout, says, next };
}

function isLost({ status }: WatchedDelivery): boolean {
  return status !== 'delivered' && FINAL.includes(status);
}

function endWord({ status, cancel_reason }: WatchedDelivery): string {
  if (status === 'cancelled') return `cancelled (${cancel_reason?.replaceAll('_', ' ')})`;
  return status === 'refused' ? 'refused with 410' : 'given up after the last attempt';
}

function at({ endpoint }: WatchedDelivery): string {
  return endpoint.isOnly ? '' : ` at ${endpoint.label}`;
}

function when(delivery: WatchedDelivery | undefined, now: number): string {
  if (delivery?.next_attempt_at == null) return '';
  const waitMs = Date.parse(delivery.next_attempt_at) - now;
  const due = waitMs > 0 ? `in ${formatCountdown(waitMs)}` : 'is due';
  return `: attempt ${delivery.attempts_made + 1} ${due}${at(delivery)}`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`;
}

function getCommand({ delivery_uuid }: WatchedDelivery): string {
  return `hookrail sim deliveries get ${shortId(delivery_uuid)}`;
}
