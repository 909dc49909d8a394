import { FINAL } from '../../../client/delivery-status.ts';
import { formatCountdown } from '../../../client/duration.ts';
import { EndpointNames, endpointJson } from '../../client/endpoint-names.ts';
import type { MerchantApi } from '../../client/merchant-api.ts';
import { CommandFailure, EXIT } from '../../exit.ts';
import type { Session } from '../../session.ts';
import { shortId } from '../wait-end.ts';
import { type DeliveryNews, newsLine } from './tail.ts';

/** A delivery that a resend or a replay has made. */
interface State {
  readonly uuid: string;
  readonly status: string;
  /** Milliseconds since the epoch by this machine's clock; Infinity = no attempt is planned. */
  readonly nextAt: number;
}

export interface Requested {
  readonly waitMs: number;
  readonly isAsked: boolean;
  /** Returns whether a piece of news is of what was requested. */
  matches(news: DeliveryNews): boolean;
  /** Sends the request, once the stream is open. */
  start(): Promise<void>;
  /** Returns how many deliveries there will be; undefined while that is not known. */
  expected(): number | undefined;
}

const LOOK_MS = 50;
const STATUS_OF: Readonly<Record<string, string>> = { retry: 'failed' };

/**
 * Sends a request that makes deliveries, and shows them until they are over or the time to wait is. Throws when the user
 * asked to wait and one was given up (1) or is still open (5).
 */
export async function followRequested(
  session: Session,
  api: MerchantApi,
  requested: Requested,
): Promise<void> {
  const { output, signal } = session;
  if (requested.waitMs === 0) return requested.start();
  const names = new EndpointNames(api);
  await names.load();
  const states = new Map<string, State>();
  const over = new AbortController();
  signal.addEventListener('abort', () => over.abort(), { once: true });
  // It may have fired while the names were loaded.
  if (signal.aborted) over.abort();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    over.abort();
    open();
  };
  const reading = (async () => {
    for await (const news of api.stream({ signal: over.signal, onOpen: open, onPaused: open })) {
      if (news.kind === 'gap' || news.kind === 'end' || news.kind === 'endpoint_changed') continue;
      // The answer to the request says what to match, and the news may come before it.
      await begun;
      if (!requested.matches(news)) continue;
      take(states, news, api.clock.aheadMs);
      if (news.data.endpoint_uuid === null || news.kind === 'routed') continue;
      await names.learn(news.data.endpoint_uuid);
      const endpoint = endpointJson(names.of(news.data.endpoint_uuid));
      output.item({ kind: news.kind, ...news.data, endpoint }, () => newsLine(news, names, output));
    }
  })().catch(fail);
  const deadline = Date.now() + requested.waitMs;
  const ended = output.waiting(() => waitingFor(states, requested.expected(), Date.now()));
  try {
    await opened;
    if (failure === undefined && !signal.aborted) await requested.start();
    begin();
    while (!over.signal.aborted && Date.now() < deadline && !isOver(states, requested.expected(), deadline))
      await session.pause(LOOK_MS);
  } finally {
    begin();
    ended();
    over.abort();
    await reading;
  }
  if (failure) throw failure.error;
  if (!signal.aborted && requested.isAsked) conclude(states, requested.expected());
}

function take(states: Map<string, State>, { kind, data }: DeliveryNews, aheadMs: number): void {
  if (kind === 'skipped') return;
  const { delivery_uuid: uuid } = data;
  if (kind === 'attempt') {
    const status = STATUS_OF[data.outcome] ?? data.outcome;
    const nextAt =
      data.next_attempt_at === null ? Number.POSITIVE_INFINITY : Date.parse(data.next_attempt_at) - aheadMs;
    states.set(uuid, { uuid, status, nextAt });
  } else if (kind === 'cancelled')
    states.set(uuid, { uuid, status: 'cancelled', nextAt: Number.POSITIVE_INFINITY });
  // On Kafka an attempt may come before it.
  else if (!states.has(uuid)) states.set(uuid, { uuid, status: 'pending', nextAt: 0 });
}

function isOver(states: ReadonlyMap<string, State>, expected: number | undefined, deadline: number): boolean {
  if (expected === undefined || states.size < expected) return false;
  return [...states.values()].every(
    ({ status, nextAt }) => FINAL.includes(status) || (status === 'failed' && nextAt > deadline),
  );
}

function waitingFor(states: ReadonlyMap<string, State>, expected: number | undefined, now: number): string {
  const all = [...states.values()];
  const done = all.filter(({ status }) => FINAL.includes(status)).length;
  const soonest = Math.min(...all.filter(({ status }) => status === 'failed').map(({ nextAt }) => nextAt));
  const retry =
    soonest > now && Number.isFinite(soonest) ? `, next attempt in ${formatCountdown(soonest - now)}` : '';
  return `${done} of ${expected ?? '?'} deliveries are over${retry}`;
}

function conclude(states: ReadonlyMap<string, State>, expected: number | undefined): void {
  const all = [...states.values()];
  const lost = all.filter(({ status }) => FINAL.includes(status) && status !== 'delivered');
  const [first] = lost;
  if (first) {
    const says =
      lost.length === 1 ? 'the delivery failed' : `${lost.length} of ${all.length} deliveries failed`;
    throw new CommandFailure(EXIT.expectation, says, [`hookrail sim deliveries get ${shortId(first.uuid)}`]);
  }
  const open = all.filter(({ status }) => !FINAL.includes(status));
  const missing = Math.max(0, (expected ?? 0) - all.length);
  if (expected !== undefined && open.length + missing === 0) return;
  const [waits] = open;
  const next = waits ? `get ${shortId(waits.uuid)}` : 'list --since 10m';
  const count = open.length + missing;
  const says = count === 1 ? '1 delivery is not over yet' : `${count} deliveries are not over yet`;
  throw new CommandFailure(EXIT.timeout, says, [`hookrail sim deliveries ${next}`]);
}
