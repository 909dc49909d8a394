import { formatDuration } from '../../../client/duration.ts';
import type { StreamNews, StreamPause } from '../../../client/merchant-stream.ts';
import { limitReached } from '../../client/api-client.ts';
import { EndpointNames, endpointJson } from '../../client/endpoint-names.ts';
import type { DeliveryAnswer, MerchantApi } from '../../client/merchant-api.ts';
import type { Output } from '../../output.ts';
import { shortened, whySkipped } from '../../scenario/live-lines.ts';
import type { Session } from '../../session.ts';
import { shortId } from '../wait-end.ts';
import { deliveryItem, deliveryLine } from './delivery-lines.ts';
import type { AboutQuery } from './filters.ts';

export interface TailFilter {
  /** The uuid of an endpoint. */
  readonly endpoint?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: string | undefined;
}

export interface TailOptions extends TailFilter {
  readonly about: AboutQuery;
  /** RFC 3339; older deliveries from then on are listed first. */
  readonly since?: string | undefined;
  /** How long it follows; Infinity = until Ctrl-C. */
  readonly forMs: number;
}

export type DeliveryNews = Extract<StreamNews, { kind: 'routed' | 'attempt' | 'cancelled' | 'skipped' }>;

/** The status that a piece of news gives its delivery. */
const STATUS_OF: Readonly<Record<string, string>> = { retry: 'failed' };
const LISTED_MAX = 10_000;

/** Prints what happens to deliveries until Ctrl-C. With `since`, what happened before comes first, nothing twice. */
export async function tail(session: Session, api: MerchantApi, options: TailOptions): Promise<void> {
  const names = new EndpointNames(api);
  await names.load();
  await forAWhile(session, options.forMs, 'waiting for deliveries (Ctrl-C ends it)', (over) =>
    follow(api, names, options, session.output, over),
  );
}

/** Runs work until a time has passed, or until Ctrl-C; the controller that it gets says so. */
export async function forAWhile(
  { output, signal }: Session,
  forMs: number,
  text: string,
  work: (over: AbortController) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = forMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(end, forMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const ended = output.waiting(() => text);
  try {
    await work(over);
  } finally {
    ended();
    clearTimeout(timer);
    end();
  }
}

async function follow(
  api: MerchantApi,
  names: EndpointNames,
  options: TailOptions,
  output: Output,
  over: AbortController,
): Promise<void> {
  /** Attempts of each delivery that were listed: the stream may bring them again. */
  const listed = new Map<string, number>();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const onPaused = sayPaused(output);
  const { signal } = over;
  const stream = api.stream({ signal, query: { ...options.about }, onOpen: open, onPaused });
  // The list is read once the stream is open, so that nothing is lost in between.
  const list = async () => {
    await opened;
    const deliveries = options.since === undefined ? [] : await listBefore(api, options);
    for (const delivery of deliveries) {
      await names.learn(delivery.endpoint_uuid);
      listed.set(delivery.delivery_uuid, delivery.attempts_made);
      output.item(deliveryItem(delivery, names), () =>
        deliveryLine(delivery, names, output, api.clock.now()),
      );
    }
  };
  let failure: { readonly error: unknown } | undefined;
  const listing = list().catch((error: unknown) => {
    failure = { error };
    over.abort();
  });
  for await (const news of stream) {
    await listing;
    await show(news, { names, options, listed, output });
  }
  if (failure) throw failure.error;
}

interface Showing {
  readonly names: EndpointNames;
  readonly options: TailFilter;
  readonly listed: ReadonlyMap<string, number>;
  readonly output: Output;
}

/** Prints one piece of news, if it is wanted. */
async function show(news: StreamNews, { names, options, listed, output }: Showing): Promise<void> {
  if (news.kind === 'endpoint_changed') return names.load();
  if (news.kind === 'end') return;
  if (news.kind === 'gap') {
    const text = `something before this is missing (${news.data.reason}): hookrail sim deliveries list has it`;
    return output.item({ kind: 'gap', ...news.data }, () => output.paint('yellow', output.asTyped(text)));
  }
  const { data } = news;
  if (!isWanted(news, options)) return;
  if (news.kind === 'attempt' && news.data.attempt <= (listed.get(news.data.delivery_uuid) ?? 0)) return;
  if (news.kind === 'routed' && listed.has(news.data.delivery_uuid)) return;
  if (data.endpoint_uuid !== null) await names.learn(data.endpoint_uuid);
  const endpoint = data.endpoint_uuid === null ? null : endpointJson(names.of(data.endpoint_uuid));
  // A person wants the result of a delivery; that it was made goes without saying.
  if (news.kind === 'routed' && options.status !== 'pending' && output.format === 'pretty') return;
  output.item({ kind: news.kind, ...data, endpoint }, () => newsLine(news, names, output));
}

function isWanted(news: DeliveryNews, { endpoint, type, status }: TailFilter): boolean {
  const { data } = news;
  if (endpoint !== undefined && data.endpoint_uuid !== endpoint) return false;
  if (type !== undefined && data.type !== type) return false;
  return status === undefined || statusOf(news) === status;
}

function statusOf(news: DeliveryNews): string {
  if (news.kind === 'attempt') return STATUS_OF[news.data.outcome] ?? news.data.outcome;
  return news.kind === 'routed' ? 'pending' : news.kind;
}

/** Returns the line of a piece of news. */
export function newsLine(news: DeliveryNews, names: EndpointNames, output: Output): string {
  const { data } = news;
  const mark = markOf(news, output);
  const time = output.paint('dim', new Date(data.at).toISOString().slice(11, 19));
  const name = data.endpoint_uuid === null ? undefined : names.of(data.endpoint_uuid);
  const label = name === undefined || name.isOnly ? [] : [shortened(name.label)];
  const id = news.kind === 'skipped' ? [] : [output.paint('dim', shortId(news.data.delivery_uuid))];
  const cells = [
    `${time} ${mark} ${data.type}/${data.subType}`,
    ...label,
    ...resultOf(news, name?.apiVersion),
    ...id,
  ];
  return output.row(cells);
}

function markOf(news: DeliveryNews, output: Output): string {
  if (news.kind === 'routed') return '→';
  if (news.kind !== 'attempt') return output.paint('yellow', '-');
  return news.data.outcome === 'delivered' ? output.paint('green', '✓') : output.paint('red', '✗');
}

function resultOf(news: DeliveryNews, apiVersion: string | null | undefined): readonly string[] {
  switch (news.kind) {
    case 'routed':
      return ['routed'];
    case 'cancelled':
      return [`cancelled: ${news.data.reason.replaceAll('_', ' ')}`];
    case 'skipped':
      return [
        `skipped: ${news.data.reason === 'no_endpoint' ? 'the merchant has no endpoints' : whySkipped(news.data.reason, apiVersion ?? null)}`,
      ];
    case 'attempt': {
      const { response_status, failure_code, duration_ms, attempt, outcome, next_attempt_at, started_at } =
        news.data;
      const result = `${response_status ?? failure_code} in ${formatDuration(duration_ms)}`;
      const number = attempt > 1 ? [`attempt ${attempt}`] : [];
      if (outcome === 'delivered') return [result, ...number];
      if (next_attempt_at === null) return [`${result}, given up`, ...number];
      const waitMs = Date.parse(next_attempt_at) - Date.parse(started_at) - duration_ms;
      return [`${result}, retry in ${formatDuration(Math.max(0, waitMs))}`, ...number];
    }
  }
}

/** Returns what happened since a time, oldest first. */
async function listBefore(api: MerchantApi, options: TailOptions): Promise<readonly DeliveryAnswer[]> {
  const { endpoint: endpoint_uuid, type, status, since } = options;
  const filter = { ...options.about, endpoint_uuid, type, status, since, limit: LISTED_MAX } as Parameters<
    MerchantApi['deliveries']
  >[0];
  return [...(await api.deliveries(filter))].reverse();
}

/** Returns what says that the stream pauses. */
export function sayPaused(output: Output): (pause: StreamPause) => void {
  return ({ reason, waitMs }) => {
    if (reason === 'limited') output.warn(limitReached(waitMs));
    else output.remark(`the connection to the API is lost; trying again in ${formatDuration(waitMs)}`);
  };
}
