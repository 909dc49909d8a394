import { visible } from '../../../services/domain/text/visible-text.ts';
import type { Advice } from '../../client/advice.ts';
import type { EndpointAnswer } from '../../client/merchant-api.ts';
import { paintStatus } from '../../client/timeline.ts';
import type { Output } from '../../output.ts';

/** Describes an endpoint: what it is, and for one that gets nothing since when and after which failure. */
export function describeEndpoint(endpoint: EndpointAnswer, output: Output): string {
  const { signing_secret: secret, failure_count: failures } = endpoint;
  const rows = [
    ['endpoint', endpoint.uuid],
    ['url', visible(endpoint.url)],
    ['description', visible(endpoint.description)],
    ['status', paintStatus(endpoint.status, output) + sinceWhen(endpoint)],
    [endpoint.kind === 'operational' ? 'notices' : 'events', endpoint.subscribed_events?.join(', ') ?? 'all'],
    ['api version', endpoint.api_version],
    ['signatures', endpoint.public_key_signature ? 'v1, v1a' : 'v1'],
    ['secret', secret ? output.paint('bold', secret) : endpoint.secret_hint],
  ];
  const { prepared_secret_hint: prepared, secret_prepared_at: at } = endpoint;
  if (endpoint.format) rows.push(['format', endpoint.format]);
  if (prepared) rows.push(['prepared', visible(`${prepared}  ${at ?? ''}`.trimEnd())]);
  const { headers = [], requests_per_second: limit } = endpoint;
  if (headers.length > 0) rows.push(['headers', visible(headers.map(({ name }) => name).join(', '))]);
  if (limit) rows.push(['limit', `${limit} requests per second`]);
  if (failures > 0) rows.push(['failures', `${failures} since the last success`]);
  if (endpoint.last_failure_at && (failures > 0 || endpoint.status !== 'active')) {
    const { code, response_status } = endpoint.last_failure ?? { code: '', response_status: null };
    rows.push(['last failure', visible(`${endpoint.last_failure_at}  ${response_status ?? code}`.trimEnd())]);
    rows.push(['last success', endpoint.last_success_at ?? 'none']);
  }
  return output.table(rows);
}

function sinceWhen({ status, disabled_at, disabled_reason }: EndpointAnswer): string {
  const reason = disabled_reason ? ` (${visible(disabled_reason)})` : '';
  return status === 'active' || !disabled_at ? reason : ` since ${disabled_at}${reason}`;
}

/** Returns the commands that let an endpoint get webhooks again, and bring back what it did not get. */
export function bringBack(endpoint: EndpointAnswer): Advice | undefined {
  if (endpoint.status === 'active') return undefined;
  const id = endpoint.uuid.slice(0, 8);
  const since = endpoint.last_success_at ?? endpoint.created_at;
  // A 410 ends a delivery at once; all other failures use up its attempts.
  const ended = endpoint.disabled_reason === 'gone' ? 'refused' : 'exhausted';
  const seeWhy = endpoint.last_failure_at
    ? [`what failed: hookrail sim deliveries list --endpoint ${id} --status ${ended}`]
    : [];
  const next = [
    ...seeWhy,
    `to deliver to it again: hookrail sim endpoints enable ${id}`,
    `to see what it missed: hookrail sim missed --endpoint ${id} --since ${since}`,
  ];
  return { says: 'events are not delivered to it until it is enabled', next };
}
