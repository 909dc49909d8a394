/** Checks the receivers' own log for lost, early and repeated deliveries. It never uses the system's log. */
import { ATTEMPTS_MAX, retryDelaySeconds } from '../../../services/domain/retry.ts';

/** A request as a receiver saw it. */
export interface Exchange {
  readonly deliveryId: string;
  readonly attempt: number;
  /** Milliseconds since the epoch: when the request was complete, and just before the response was sent. */
  readonly at: number;
  readonly answeredAt: number;
  readonly status: number;
  /** The receiver closed the connection before the first byte of a response: the attempt may be resent once on another. */
  readonly isCut?: boolean;
}

/** A period: requests in flight during it, or answered shortly before it, may be repeated. */
export interface RepeatWindow {
  readonly from: number;
  readonly to: number;
}

export interface Verdict {
  readonly delivered: ReadonlySet<string>;
  /** Deliveries whose last attempt was made, or which have a dead letter, without any 2xx. */
  readonly exhausted: ReadonlySet<string>;
  /** Their attempts that reached no receiver, because the connection failed. The delivery log must say so. */
  readonly unseen: number;
  readonly lost: readonly string[];
  /** One line each, with the times. */
  readonly early: readonly string[];
  readonly repeats: number;
  /** The longest time from the end of an attempt to its repeat, milliseconds. */
  readonly latestRepeatMs: number;
  /** Repeats whose first request was not in flight during any fault. */
  readonly unexplained: readonly string[];
  /** Attempts with an impossible number, or of deliveries that are not owed. */
  readonly strange: readonly string[];
  readonly requests: number;
}

/**
 * An attempt that was settled within this time before a fault may be repeated, milliseconds: capabilities.repeatsMs, and
 * the time that brokers on a busy machine take to answer a commit. Load must flow for longer than this before a fault.
 */
export const REPEATS_MS = 5000;

/** Both clocks are read in whole milliseconds. */
const ROUNDING_MS = 2;

export function judge(
  owed: readonly string[],
  exchanges: readonly Exchange[],
  windows: readonly RepeatWindow[],
  options: {
    readonly retryScale: number;
    /** REPEATS_MS by default. */
    readonly repeatsMs?: number;
    /** Deliveries with a dead letter: their last attempt may have failed before it reached a receiver. */
    readonly dead?: ReadonlySet<string>;
  },
): Verdict {
  const { repeatsMs = REPEATS_MS } = options;
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
    latestRepeatMs: 0,
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
      verdict.latestRepeatMs = Math.max(verdict.latestRepeatMs, again.at - first.answeredAt);
      const isExplained = windows.some(
        ({ from, to }) => first.at <= to && first.answeredAt >= from - repeatsMs,
      );
      if (isExplained) continue;
      const before = windows.map(({ from }) => `${from - first.answeredAt} ms before a fault`).join(', ');
      verdict.unexplained.push(
        `${deliveryId}#${first.attempt} again at ${again.at}, settled ${before || 'without faults'}: ${storyOf(log)}`,
      );
    }
  }
  verdict.strange.push(...[...byDelivery.keys()].map((id) => `${id}: not an owed delivery`));
  return verdict;
}

/** Returns how many requests may be repeated: those in flight during a fault or answered shortly before it. */
export function repeatsBound(exchanges: readonly Exchange[], windows: readonly RepeatWindow[]): number {
  return exchanges.filter(({ at, answeredAt }) =>
    windows.some(({ from, to }) => at <= to && answeredAt >= from - REPEATS_MS),
  ).length;
}

/**
 * Returns the attempts that came before the schedule allows, counted from the latest earlier attempt that arrived:
 * attempts in between may have failed before they reached a receiver.
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
    const isResent = first?.isCut === true;
    // A repeat of a repeat is explained by a fault during the first repeat.
    before.set(again.attempt, isResent ? { ...again, isCut: false } : again);
    return first && !isResent ? [{ first, again }] : [];
  });
}

function storyOf(log: readonly Exchange[]): string {
  return log
    .map(({ attempt, status, at, answeredAt }) => `${attempt}→${status} (${at}–${answeredAt})`)
    .join(' ');
}
