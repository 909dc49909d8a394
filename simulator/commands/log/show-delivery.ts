import { quoted } from '../../../client/curl.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import type { EndpointName } from '../../client/endpoint-names.ts';
import type { DeliveryDetailAnswer } from '../../client/merchant-api.ts';
import { timeline } from '../../client/timeline.ts';
import type { Output } from '../../output.ts';
import { verifyRequest } from '../../receiver/verification.ts';
import type { Session } from '../../session.ts';
import { shortId } from '../wait-end.ts';
import { bodyLines } from './body-lines.ts';

export interface ShowOptions {
  readonly full: boolean;
  /** The endpoint's secret, to check the signature. */
  readonly secret?: string | undefined;
}

/** Whether the signature of a delivery is right; undefined when the secret is not known. */
export type SignatureCheck = { readonly ok: boolean; readonly detail: string } | undefined;

/** Checks the signature of the last attempt with a secret; nothing when there is none, or nothing to check. */
export function checkSignature(delivery: DeliveryDetailAnswer, secret: string | undefined): SignatureCheck {
  const last = delivery.attempts.at(-1);
  if (secret === undefined || last === undefined || delivery.body === null) return undefined;
  const entries = Object.entries(last.request_headers).map(([name, value]) => [name.toLowerCase(), value]);
  const request = { headers: Object.fromEntries(entries), body: Buffer.from(delivery.body) };
  return verifyRequest(request, secret, 0).checks.find(({ name }) => name === 'signature');
}

/** Describes a delivery: its timeline, what was sent, and what the receiver answered. */
export function describeDelivery(
  delivery: DeliveryDetailAnswer,
  endpoint: EndpointName,
  session: Session,
  { full, secret }: ShowOptions,
): string {
  const { output } = session;
  const check = checkSignature(delivery, secret);
  const parts = [timeline(delivery, endpoint, output, session.clock.now())];
  if (delivery.attempts.length > 0)
    parts.push(...(full ? wholeRequest(delivery, check, output) : request(delivery, check, output)));
  else if (full) parts.push(...body(delivery, output));
  return parts.join('\n');
}

/** Returns the commands that go on from a delivery. */
export function nextCommands({ delivery_uuid, trigger }: DeliveryDetailAnswer, full: boolean): string {
  const id = shortId(delivery_uuid);
  const get = `hookrail sim deliveries get ${id}`;
  return [
    ...(trigger === 'test' ? [] : [`  → resend: hookrail sim deliveries resend ${id}`]),
    `  → ${full ? 'as curl' : 'whole request: --full · as curl'}: ${get} --curl`,
  ].join('\n');
}

function request(delivery: DeliveryDetailAnswer, check: SignatureCheck, output: Output): readonly string[] {
  const last = delivery.attempts.at(-1);
  const ids = output.row([
    'request ',
    `webhook-id ${shortId(delivery.event_uuid)}…`,
    `webhook-attempt ${last?.number}`,
    signatureText(check, output),
  ]);
  const text = delivery.body === null ? removed(delivery) : visible(delivery.body);
  const room = output.isInteractive ? output.width - 2 : Number.POSITIVE_INFINITY;
  return [ids, `  ${text.length > room ? `${text.slice(0, room - 1)}…` : text}`];
}

function signatureText(check: SignatureCheck, output: Output): string {
  if (check === undefined) return output.paint('dim', 'signature: to check it, give --secret');
  return check.ok
    ? output.paint('green', 'signature ✓')
    : output.paint('red', `signature ✗: ${check.detail}`);
}

function wholeRequest(
  delivery: DeliveryDetailAnswer,
  check: SignatureCheck,
  output: Output,
): readonly string[] {
  const last = delivery.attempts.at(-1);
  if (last === undefined) return [];
  const heading = (text: string) => `\n${output.paint('bold', text)}`;
  const answered =
    last.response_status === null
      ? [heading('no response'), `  ${visible(last.failure_detail ?? last.failure_code ?? '')}`]
      : [
          heading(`response ${last.response_status}`),
          ...headerLines(last.response_headers ?? {}),
          '',
          ...(last.response_body ?? 'the body is no longer kept')
            .split('\n')
            .map((line) => visible(line.replace(/\r$/, ''))),
          ...(last.response_body_truncated ? ['… (only the beginning is kept)'] : []),
        ];
  return [
    heading(`request of attempt ${last.number}`),
    ...headerLines(last.request_headers),
    `  ${signatureText(check, output)}`,
    ...body(delivery, output),
    ...answered,
  ];
}

function body(delivery: DeliveryDetailAnswer, output: Output): readonly string[] {
  return ['', delivery.body === null ? removed(delivery) : bodyLines(delivery.body, output)];
}

function removed({ body_removed }: DeliveryDetailAnswer): string {
  return body_removed ? 'the body is no longer kept' : 'no body';
}

function headerLines(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).map(([name, value]) => visible(`  ${name.toLowerCase()}: ${value}`));
}

/** Returns the request of the last attempt as a curl command; a shell variable stands for the secret. */
export function asCurl(
  delivery: DeliveryDetailAnswer,
  endpoint: EndpointName,
  ca: string | undefined,
): string {
  const headers = Object.entries(delivery.attempts.at(-1)?.request_headers ?? {})
    .filter(([name]) => name.toLowerCase() !== 'authorization')
    .map(([name, value]) => `-H ${quoted(`${name.toLowerCase()}: ${value}`)}`);
  return [
    `curl ${quoted(endpoint.url ?? '')}`,
    ...(ca === undefined ? [] : [`--cacert ${quoted(ca)}`]),
    '-H "authorization: API-Key $WEBHOOK_SECRET"',
    ...headers,
    `--data-binary ${quoted(delivery.body ?? '')}`,
  ].join(' \\\n  ');
}
