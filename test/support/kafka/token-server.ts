import { createSign, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface TokenServerOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  /** Seconds. */
  readonly lifetime: number;
  /** Seconds by which the brokers' clocks are ahead: their sessions end that much earlier than the endpoint says. */
  readonly ahead?: number;
}

interface Answer {
  readonly status: number;
  readonly json: object;
}

/** An OAuth 2.0 token endpoint for client credentials, with keys of its own. */
export interface TokenServer {
  readonly url: string;
  /** The form of each request, in order. */
  readonly asked: readonly URLSearchParams[];
  /** Writes the public keys for the brokers (RFC 7517). */
  writeKeys(file: string): void;
  /** Answers this from now on; undefined: tokens. */
  answer(instead: Answer | undefined): void;
  close(): Promise<void>;
}

/** Starts an endpoint on a free port of this machine. */
export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const { clientId, clientSecret, audience, lifetime, ahead = 0 } = options;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const asked: URLSearchParams[] = [];
  let instead: Answer | undefined;

  const token = () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      sub: clientId,
      aud: audience,
      iat: now,
      exp: now + lifetime - ahead,
      jti: `${asked.length}`,
    };
    const text = [{ alg: 'RS256', kid: 'tests', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
  };
  const answerTo = (authorization: string | undefined): Answer => {
    if (instead) return instead;
    const expected = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    if (authorization !== expected) {
      const given = Buffer.from(authorization?.slice(6) ?? '', 'base64').toString();
      return { status: 401, json: { error: 'invalid_client', error_description: `no client has ${given}` } };
    }
    return { status: 200, json: { access_token: token(), token_type: 'Bearer', expires_in: lifetime } };
  };

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    asked.push(new URLSearchParams(Buffer.concat(parts).toString()));
    const { status, json } = answerTo(request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    asked,
    writeKeys: (file) => {
      const key = { ...publicKey.export({ format: 'jwk' }), kid: 'tests', use: 'sig', alg: 'RS256' };
      writeFileSync(file, JSON.stringify({ keys: [key] }));
    },
    answer: (given) => {
      instead = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
