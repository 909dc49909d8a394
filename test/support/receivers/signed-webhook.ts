import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { sign } from '../../../services/domain/signature.ts';

/** A webhook as hookrail sends it, and what may happen to it on its way. */
export interface SignedWebhook {
  readonly id: string;
  /** Unix seconds. */
  readonly at: number;
  readonly secret: string;
  /** Its subject and its sequence number; absent: it has no such headers. */
  readonly subjectId?: string;
  readonly sequence?: number;
  /** The text that is signed. */
  readonly body: string;
  /** The text that arrives; `body` unless it was changed on the way. */
  readonly sentBody?: string;
  /** The header Authorization as it arrives; null = none. The right one when this is left out. */
  readonly authorization?: string | null;
  /** Takes the place of the signature, or stands beside it. */
  readonly signatures?: (signature: string) => string;
  /** Sent in chunks, of which the second comes later, as gateways do it. */
  readonly isChunked?: boolean;
  /** Between the two chunks, milliseconds. */
  readonly pauseMs?: number;
}

export function signedWebhook(secret: string, type: string): SignedWebhook {
  const body = JSON.stringify({ type, subType: 'SUCCESS', uuid: randomUUID(), data: { name: 'Zoë' } });
  return { id: randomUUID(), at: Math.floor(Date.now() / 1000), secret, body };
}

/** Resolves with the status of the response. */
export async function post(url: string, webhook: SignedWebhook): Promise<number> {
  return (await answerTo(url, webhook)).status;
}

/** Resolves with the status of the response, and what the receiver says that it did. */
export function answerTo(
  url: string,
  webhook: SignedWebhook,
): Promise<{ readonly status: number; readonly result: string }> {
  const {
    id,
    at,
    secret,
    body,
    sentBody = body,
    authorization = `API-Key ${secret}`,
    isChunked,
    pauseMs = 50,
  } = webhook;
  const signature = sign(secret, id, at, body);
  const bytes = Buffer.from(sentBody);
  const headers = {
    'content-type': 'application/json',
    ...(authorization === null ? {} : { authorization }),
    'webhook-id': id,
    'webhook-timestamp': `${at}`,
    'webhook-signature': webhook.signatures?.(signature) ?? signature,
    ...(webhook.subjectId && { 'webhook-subject-id': webhook.subjectId }),
    ...(webhook.sequence !== undefined && { 'webhook-sequence': `${webhook.sequence}` }),
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes.length }),
  };
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers, agent: false }, (response) => {
      const result = `${response.headers['webhook-result'] ?? ''}`;
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, result }));
    });
    sending.once('error', reject);
    if (!isChunked) sending.end(bytes);
    else sending.write(bytes.subarray(0, 7), () => setTimeout(() => sending.end(bytes.subarray(7)), pauseMs));
  });
}

/** Returns a header of a request as it arrived, empty where it has none. */
export function headerOf(request: string, name: string): string {
  return new RegExp(`^${name}: (.*)\r$`, 'im').exec(request)?.[1] ?? '';
}
