import { curlOf } from '../../client/curl.ts';
import { formatDuration } from '../../client/duration.ts';
import { visible, visibleLines } from '../../services/domain/text/visible-text.ts';
import type { Attempt, DeliveryDetail, Endpoint } from '../api/shapes.ts';
import { sentHeaders } from '../delivery/sent-headers.ts';

interface Told {
  readonly delivery: DeliveryDetail;
  readonly endpoint: Endpoint | undefined;
  /** The sentence of cause and remedy. */
  readonly explanation: string;
  readonly savedAt: string;
}

/** Returns a delivery as Markdown for a support ticket, with all that helps the receiver, and without the secret. */
export function ticketOf({ delivery, endpoint, explanation, savedAt }: Told): string {
  const { type, subType, attempts, body } = delivery;
  const last = attempts.at(-1);
  const facts = Object.entries(delivery).flatMap(([name, value]) =>
    typeof value === 'object' || name === 'body' ? [] : [`${name}: ${visible(String(value))}`],
  );
  const headers = last === undefined ? {} : sentHeaders(last.request_headers);
  return [
    `# Webhook ${type}/${subType}: ${delivery.status}`,
    explanation,
    `Saved from hookrail at ${savedAt}. All times are UTC. The secret is not in this file. Characters that hide or reorder text
are spelt out, as \\u202e and the like.`,
    '## Delivery',
    block([...facts, `url: ${visible(endpoint?.url ?? 'the endpoint was deleted')}`].join('\n')),
    '## Attempts',
    block(attempts.map(lineOf).join('\n') || 'None yet.'),
    ...attempts.flatMap((attempt) => responseOf(attempt, delivery.body_removed)),
    ...(last === undefined
      ? []
      : [`## Headers of the request, attempt ${last.number}`, block(headerLines(headers))]),
    '## Body of the request',
    body === null ? gone(delivery.body_removed) : block(visibleLines(body)),
    ...(endpoint === undefined || body === null || last === undefined
      ? []
      : ['## Send it again by hand', block(visibleLines(curlOf(endpoint.url, headers, body)))]),
    '## Verify the signature',
    `Compute HMAC-SHA256 over webhook-id, webhook-timestamp and the body, joined by full stops, with the secret of the
endpoint. The body must be the bytes that arrived, before any parser. Compare the result, in base64 after "v1,", with
webhook-signature. Each attempt has a timestamp and a signature of its own: an old one fails a check of its age.
`,
  ].join('\n\n');
}

function lineOf({ number, started_at, duration_ms, response_status, failure_code, failure_detail }: Attempt) {
  const answer = response_status === null ? 'no response' : `HTTP ${response_status}`;
  const failure = [failure_code, failure_detail].filter((part) => part !== null).join(': ');
  return visible(
    `${number}  ${started_at}  ${answer} after ${formatDuration(duration_ms)}  ${failure}`.trimEnd(),
  );
}

function responseOf(attempt: Attempt, isRemoved: boolean): readonly string[] {
  const { number, response_headers: headers, response_body: body } = attempt;
  return [
    `### Response to attempt ${number}`,
    block(headers === null ? 'No response.' : headerLines(headers) || 'No headers.'),
    ...(headers === null ? [] : [body === null ? gone(isRemoved) : block(visibleLines(body) || 'Empty.')]),
  ];
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => visible(`${name}: ${value}`))
    .join('\n');
}

function gone(isRemoved: boolean): string {
  return isRemoved ? 'The body is no longer kept.' : 'There is no body.';
}

/** A block of text: its fence is longer than any in the text, so nothing of it becomes markup. */
function block(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
