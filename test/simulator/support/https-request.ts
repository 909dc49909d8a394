import { request } from 'node:https';
import { sign } from '../../../services/domain/signature.ts';

export interface Reply {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The connection's error code, or "timeout"; null when the whole answer came. */
  readonly error: string | null;
}

export interface SendOptions {
  readonly url: string;
  readonly ca: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Hangs up after so many bytes of the answer's body, or after this time without the end of the answer. */
  readonly bytesMax?: number;
  readonly giveUpMs?: number;
}

/** What the sender would send: signed, with the headers of docs/decisions.md, "Webhook requests". */
export function webhookHeaders(
  secret: string,
  body: string,
  delivery: string,
  attempt = 1,
): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `API-Key ${secret}`,
    'webhook-id': 'evt-1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(secret, 'evt-1', timestamp, body),
    'webhook-delivery-id': delivery,
    'webhook-endpoint-id': 'endpoint-1',
    'webhook-attempt': String(attempt),
  };
}

/** One verified HTTPS request. Never rejects: what went wrong is part of the reply. */
export function send(options: SendOptions): Promise<Reply> {
  const { url, ca, headers, body, bytesMax = Number.POSITIVE_INFINITY, giveUpMs = 20_000 } = options;
  return new Promise((resolve) => {
    let status: number | null = null;
    let received: Record<string, unknown> = {};
    let text = '';
    const done = (error: string | null) => {
      clearTimeout(timer);
      resolve({ status, headers: received, body: text, error });
      outgoing.destroy();
    };
    const timer = setTimeout(() => done('timeout'), giveUpMs);
    const outgoing = request(url, { method: 'POST', ca, headers, agent: false }, (incoming) => {
      status = incoming.statusCode ?? null;
      received = incoming.headers;
      incoming.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (text.length > bytesMax) done('too large');
      });
      incoming.on('end', () => done(null));
      incoming.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    outgoing.end(body);
  });
}
