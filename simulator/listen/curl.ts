import { sign } from '../../services/domain/signature.ts';
import { authorizationOf } from '../../services/domain/webhook-request.ts';

export interface SignedRequest {
  readonly secret: string;
  /** The webhook-id. */
  readonly id: string;
  /** Unix time. */
  readonly timestampSeconds: number;
  readonly body: Uint8Array | string;
}

/** Returns the headers that make a body a webhook: credential, id, time and signature. */
export function signedHeaders({ secret, id, timestampSeconds, body }: SignedRequest): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: authorizationOf(secret),
    'webhook-id': id,
    'webhook-timestamp': `${timestampSeconds}`,
    'webhook-signature': sign(secret, id, timestampSeconds, body),
  };
}

/** Returns a curl command that posts a body with headers, for a POSIX shell. */
export function curlOf(url: string, headers: Readonly<Record<string, string>>, body: string): string {
  const parts = [
    `curl ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not --data: it would drop line breaks, and read a file for a body that begins with @.
    `--data-raw ${quoted(body)}`,
  ];
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
