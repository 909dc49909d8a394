import type { StreamNews } from '../../../client/merchant-stream.ts';
import { EndpointNames, endpointJson } from '../../client/endpoint-names.ts';
import type { MerchantApi } from '../../client/merchant-api.ts';
import type { Session } from '../../session.ts';
import type { AboutQuery } from './filters.ts';
import { forAWhile, newsLine, sayPaused } from './tail.ts';

export interface EventTailOptions {
  /** The uuid of an endpoint. */
  readonly endpoint?: string | undefined;
  readonly type?: string | undefined;
  readonly verdict?: string | undefined;
  readonly about: AboutQuery;
  /** How long it follows; Infinity = until Ctrl-C. */
  readonly forMs: number;
}

/** Prints where each event goes as it is routed, a line for each endpoint, until Ctrl-C. */
export async function tailEvents(
  session: Session,
  api: MerchantApi,
  options: EventTailOptions,
): Promise<void> {
  const { output } = session;
  const names = new EndpointNames(api);
  await names.load();
  await forAWhile(session, options.forMs, 'waiting for events (Ctrl-C ends it)', async ({ signal }) => {
    const onPaused = sayPaused(output);
    for await (const news of api.stream({ signal, query: { ...options.about }, onPaused })) {
      if (news.kind === 'endpoint_changed') await names.load();
      if (!isRouting(news) || !isWanted(news, options)) continue;
      const { endpoint_uuid } = news.data;
      if (endpoint_uuid !== null) await names.learn(endpoint_uuid);
      const endpoint = endpoint_uuid === null ? null : endpointJson(names.of(endpoint_uuid));
      const datum = { kind: news.kind, ...news.data, endpoint };
      output.item(datum, () => newsLine(news, names, output));
    }
  });
}

type Routing = Extract<StreamNews, { kind: 'routed' | 'skipped' }>;

function isRouting(news: StreamNews): news is Routing {
  return news.kind === 'skipped' || (news.kind === 'routed' && news.data.trigger === 'live');
}

function isWanted(news: Routing, { endpoint, type, verdict }: EventTailOptions): boolean {
  if (endpoint !== undefined && news.data.endpoint_uuid !== endpoint) return false;
  if (type !== undefined && news.data.type !== type) return false;
  return verdict === undefined || (news.kind === 'routed' ? 'routed' : news.data.reason) === verdict;
}
