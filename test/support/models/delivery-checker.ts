/** Judges what receivers saw: lost, early, repeated. From their own log, never the system's. */
import { ATTEMPTS_MAX, retryDelaySeconds } from '../../../services/domain/retry.ts';

/** A request as a receiver saw it. */
export interface Exchange {
  readonly deliveryId: string;
  readonly attempt: number;
  /** Milliseconds since the epoch: when the request was complete, and when its answer was about to be sent. */
  readonly at: number;
  readonly answeredAt: number;
  readonly status: number;
  /** The receiver ended the connection before the first byte of a response: the attempt may go on, once, on another. */
  readonly isCut?: boolean;
}

/** A time in which what was in flight, or answered just before, may be repeated. */
export interface RepeatWindow {
  readonly from: number;
  readonly to: number;
}

export interface Verdict {
  readonly delivered: ReadonlySet<string>;
  /** The last attempt was made or a dead letter is stored, and none had a 2xx. */
  readonly exhausted: ReadonlySet<string>;
  /** Attempts of these that never came here: connections that failed. The delivery log must say so. */
  readonly unseen: number;
  readonly lost: readonly string[];
  /** One line each, with the times. */
  readonly early: readonly string[];
  readonly repeats: number;
  /** Repeats whose first request no fault had in flight. */
  readonly unexplained: readonly string[];
  /** Attempts above the last, or to deliveries that nobody is owed. */
  readonly strange: readonly string[];
  readonly requests: number;
}

/** Clocks are read in whole milliseconds at both ends. */
const ROUNDING_MS = 2;

export function judge(
  owed: readonly string[],
  exchanges: readonly Exchange[],
  windows: readonly RepeatWindow[],
  options: {
    readonly retryScale: number;
    readonly repeatsMs: number;
    /** Deliveries with a dead letter: their last attempt may have failed before it came to a receiver. */
    readonly dead?: ReadonlySet<string>;
  },
): Verdict {
  const byDelivery = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const known = byDelivery.get(exchange.deliveryId);
    if (known) known.push(exchange);
    else byDelivery.set(exchange.deliveryId, [exchange]);
  }
  const verdict = {
    delivered: new Set<string>(),
    exhausted: new Set<string>(),
    unseen: 0,
    lost: [] as string[],
    early: [] as string[],
    repeats: 0,
    unexplained: [] as string[],
    strange: [] as string[],
    requests: exchanges.length,
  };
  for (const deliveryId of owed) {
    const log = (byDelivery.get(deliveryId) ?? []).sort((a, b) => a.at - b.at);
    byDelivery.delete(deliveryId);
    const attempts = new Set(log.map(({ attempt }) => attempt));
    if (log.some(({ status }) => status >= 200 && status < 300)) verdict.delivered.add(deliveryId);
    else if (attempts.has(ATTEMPTS_MAX) || options.dead?.has(deliveryId)) {
      verdict.exhausted.add(deliveryId);
      verdict.unseen += ATTEMPTS_MAX - attempts.size;
    } else verdict.lost.push(`${deliveryId}: ${storyOf(log)}`);
    if (log.some(({ attempt }) => attempt < 1 || attempt > ATTEMPTS_MAX)) verdict.strange.push(storyOf(log));
    verdict.early.push(...earlyOf(log, options.retryScale));
    for (const { first, again } of repeatsOf(log)) {
      verdict.repeats += 1;
      const isExplained = windows.some(
        ({ from, to }) => first.at <= to && first.answeredAt >= from - options.repeatsMs,
      );
      if (!isExplained)
        verdict.unexplained.push(`${deliveryId}#${first.attempt} again at ${again.at}: ${storyOf(log)}`);
    }
  }
  verdict.strange.push(...[...byDelivery.keys()].map((id) => `${id}: nobody is owed it`));
  return verdict;
}

/** How many requests may be repeated: those that a fault had in flight or had just been answered. */
export function repeatsBound(
  exchanges: readonly Exchange[],
  windows: readonly RepeatWindow[],
  repeatsMs: number,
): number {
  return exchanges.filter(({ at, answeredAt }) =>
    windows.some(({ from, to }) => at <= to && answeredAt >= from - repeatsMs),
  ).length;
}

/**
 * An attempt that came before the schedule allows, counted from the last one that had been answered by then: one in
 * between may have failed before it came here.
 */
function earlyOf(log: readonly Exchange[], retryScale: number): string[] {
  return log.flatMap((exchange) => {
    const before = log.filter(({ attempt, at }) => attempt < exchange.attempt && at <= exchange.at);
    if (before.length === 0) return [];
    const last = Math.max(...before.map(({ attempt }) => attempt));
    const ends = before.filter(({ attempt }) => attempt === last).map(({ answeredAt }) => answeredAt);
    let dueAt = Math.min(...ends);
    for (let retry = last; retry < exchange.attempt; retry += 1) {
      dueAt += (retryDelaySeconds(retry) * 1000) / retryScale;
    }
    if (exchange.at >= dueAt - ROUNDING_MS) return [];
    return [
      `${exchange.deliveryId}#${exchange.attempt} came ${dueAt - exchange.at} ms early: ${storyOf(log)}`,
    ];
  });
}

function repeatsOf(log: readonly Exchange[]): { readonly first: Exchange; readonly again: Exchange }[] {
  const before = new Map<number, Exchange>();
  return log.flatMap((again) => {
    const first = before.get(again.attempt);
    const goesOn = first?.isCut === true;
    // A repeat of a repeat is explained by what had the repeat in flight.
    before.set(again.attempt, goesOn ? { ...again, isCut: false } : again);
    return first && !goesOn ? [{ first, again }] : [];
  });
}

function storyOf(log: readonly Exchange[]): string {
  return log
    .map(({ attempt, status, at, answeredAt }) => `${attempt}→${status} (${at}–${answeredAt})`)
    .join(' ');
}
