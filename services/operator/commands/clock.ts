import { timestamp, timestampOrNull } from '../../api/endpoint-json.ts';
import type { Broker, Delays } from '../../broker/broker.ts';
import type { AddToAudit } from '../../management/audit.ts';
import type { Clock } from '../../process/clock.ts';
import { pollUntil } from '../../process/poll-until.ts';
import { SandboxClock } from '../../process/sandbox-clock.ts';
import type { FeedAttempt, FeedDelivery, FeedEntry } from '../../store/feed.ts';
import type { Store } from '../../store/store.ts';
import type { Arguments } from './arguments.ts';
import { on, type SandboxTime } from './command.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** The longest wait for attempts that are under way: several times what one may take. */
const QUIET_MS_MAX = 60_000;
const QUIET_EVERY_MS = 5;
/** The longest wait for tasks that are being read. */
const READ_MS_MAX = 2000;
/** The farthest that one command moves the clock: older entries of the delivery log would be deleted unseen. */
const AHEAD_MS_MAX = 30 * 86_400_000;
/** The most entries of the feed in one answer; the others are in the next. */
const PAGES_MAX = 10;
const PAGE_ENTRIES = 1000;

interface ClockDeps {
  readonly clock: Clock;
  /** Absent where other machines measure the delays: there the clock is shown, and cannot be moved. */
  readonly delays?: Delays | undefined;
  readonly store: Pick<Store, 'feed' | 'outbox'>;
}

type Step = Parameters<SandboxTime['step']>[0];

interface MovableDeps extends ClockDeps {
  readonly clock: SandboxClock;
  readonly delays: Delays;
}

const PLACE = {
  merchant: { type: 'uuid', describe: 'Also what the feed of this merchant has' },
  after: { type: 'text', describe: 'Only what it has after this position' },
} as const satisfies Arguments;

/** The commands that show and move the clock of a sandbox: the simulator gives them. A production service has none. */
export const CLOCK_COMMANDS = {
  'clock show': on('clock', {
    describe: 'Show the clock of a sandbox',
    isRead: true,
    args: PLACE,
    hasNoLine: true,
    run: (clock, given) => clock.show(given),
  }),
  'clock step': on('clock', {
    describe: 'Move the clock of a sandbox to the next due time, and wait for what becomes due',
    args: { until: { type: 'text', required: true, describe: 'To this time at most' }, ...PLACE },
    hasNoLine: true,
    run: (clock, given, audit) => clock.step(given, audit),
  }),
};

export function sandboxTime({
  clock,
  broker: { delays },
  store,
}: Omit<ClockDeps, 'delays'> & { readonly broker: Pick<Broker, 'delays'> }): SandboxTime {
  const deps = { clock, delays, store };
  let isMoving = false;
  return {
    show: (place) => shown(deps, place),
    step: async (given, audit) => {
      if (isMoving) throw new OperatorError("another command moves the sandbox's clock: wait until it ends");
      isMoving = true;
      try {
        return await step(movable(deps), given, audit);
      } finally {
        isMoving = false;
      }
    },
  };
}

function movable({ clock, delays, store }: ClockDeps): MovableDeps {
  if (clock instanceof SandboxClock && delays) return { clock, delays, store };
  throw new OperatorError(
    'the clock cannot be moved on Kafka, whose brokers measure the delays: ' +
      'use a sandbox on SQLite, or start with HOOKRAIL_RETRY_SCALE=1000',
  );
}

/**
 * Moves the clock on to the next due time, to `until` at most, and waits until every attempt that became due has ended
 * and is recorded. So what follows an attempt is due by when that one ended, as without the move.
 */
async function step(deps: MovableDeps, given: Step, audit: AddToAudit): Promise<unknown> {
  const { clock, delays } = deps;
  const until = untilOf(given, clock.wall());
  await quiet(deps);
  const due = delays.nextDue();
  const target = due === null ? until : Math.min(until, clock.wall(due));
  // Rounded up: never early.
  const ms = Math.ceil(target - clock.wall());
  if (ms > 0) {
    await audit('clock.step', { by_ms: ms });
    await clock.advance(ms, (moved) => delays.bringForward(ms, moved));
  }
  await quiet(deps);
  return shown(deps, given);
}

async function quiet({ clock, delays, store }: MovableDeps): Promise<void> {
  const isQuiet = async () =>
    delays.isQuiet() && (await store.outbox.pending(1)).length === 0 && delays.isQuiet();
  if (await pollUntil(clock, isQuiet, { everyMs: QUIET_EVERY_MS, atMostMs: QUIET_MS_MAX })) return;
  throw new OperatorError(
    `deliveries have been under way for ${QUIET_MS_MAX / 1000} s: the clock moves when they have ended`,
  );
}

/** Waiting tasks are read from the file after a start, and whenever memory has none of them. */
async function nextDue(clock: Clock, delays: Delays): Promise<number | null> {
  const isKnown = () => delays.nextDue() !== null || delays.isQuiet();
  await pollUntil(clock, isKnown, { everyMs: QUIET_EVERY_MS, atMostMs: READ_MS_MAX });
  return delays.nextDue();
}

/** The clock's state and, for a merchant, what the feed has after a position. */
async function shown({ clock, delays, store }: ClockDeps, { merchant, after }: Omit<Step, 'until'>) {
  const due = delays === undefined ? null : await nextDue(clock, delays);
  const wall = clock.wall();
  const state = {
    can_move: clock instanceof SandboxClock && delays !== undefined,
    now: timestamp(wall),
    ahead_ms: Math.round(wall - clock.system(wall)),
    next_due_at: timestampOrNull(due === null ? null : clock.wall(due)),
  };
  if (merchant === undefined) return state;
  if (after === undefined) return { ...state, position: await store.feed.head(merchant), entries: [] };
  const { position, entries } = await entriesAfter(store, merchant, after);
  return { ...state, position, entries };
}

/** Returns the entries of a merchant's feed, in pages, and the position after them. */
async function entriesAfter({ feed }: Pick<Store, 'feed'>, merchantId: string, after: string) {
  const entries: object[] = [];
  let position = after;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await feed.read(merchantId, { after: position, limit: PAGE_ENTRIES });
    entries.push(...page.entries.flatMap(entryJson));
    position = page.next;
    if (page.entries.length === 0) break;
  }
  return { position, entries };
}

/** The attempts, the deliveries that ended without one, and the endpoints that were disabled. */
function entryJson(entry: FeedEntry): object[] {
  switch (entry.kind) {
    case 'attempt':
      return [{ kind: 'attempt', ...attemptJson(entry.attempt), ...deliveryJson(entry.delivery) }];
    case 'cancelled':
      return [
        {
          kind: 'cancelled',
          at: timestamp(entry.at),
          ...deliveryJson(entry.delivery),
          reason: entry.reason,
        },
      ];
    case 'endpoint_changed':
      if (entry.change !== 'auto_disabled') return [];
      return [{ kind: 'auto_disabled', at: timestamp(entry.at), endpoint_uuid: entry.endpointId }];
    default:
      return [];
  }
}

const attemptJson = (attempt: FeedAttempt) => ({
  at: timestamp(attempt.startedAt),
  number: attempt.number,
  outcome: attempt.outcome,
  duration_ms: attempt.durationMs,
  response_status: attempt.responseStatus,
  failure_code: attempt.failureCode,
  next_attempt_at: timestampOrNull(attempt.nextAttemptAt),
});

const deliveryJson = (delivery: FeedDelivery) => ({
  type: delivery.type,
  sub_type: delivery.subType,
  delivery_uuid: delivery.deliveryId,
  endpoint_uuid: delivery.endpointId,
});

function untilOf({ until }: Step, now: number): number {
  const time = Date.parse(until);
  if (Number.isNaN(time)) throw new UsageError('until: must be a time such as 2030-01-31T08:00:00Z');
  if (time > now + AHEAD_MS_MAX) throw new UsageError('until: at most 30 days from now');
  return time;
}
