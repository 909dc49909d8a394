/** Guarantee: connections share an access token, which is renewed before it ends; a fault is one line without secrets. */
import { afterEach, describe, expect, it } from 'vitest';
import { BearerTokens, TokenError } from '../../../services/kafka-client/client/bearer-tokens.ts';
import { startTokenServer, type TokenServer } from '../../support/kafka/token-server.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const SECRET = 'correct-horse';

const servers: TokenServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function tokensOf({ lifetime = 3600, secret = SECRET, scope = '' } = {}) {
  const client = { clientId: 'hookrail', clientSecret: SECRET };
  const server = await startTokenServer({ ...client, audience: 'kafka', lifetime });
  servers.push(server);
  const clock = new SimulatedClock();
  const tokens = new BearerTokens(
    { mechanism: 'oauthbearer', tokenUrl: server.url, ...client, clientSecret: secret, scope, ca: null },
    clock,
  );
  return { server, clock, tokens };
}

async function faultOf(tokens: BearerTokens): Promise<TokenError> {
  const error = await tokens.current().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TokenError)) throw new Error(`expected a TokenError, not ${error}`);
  return error;
}

describe('the access tokens of a client', () => {
  it('are asked for by client credentials, once for requests at the same time', async () => {
    const { server, tokens } = await tokensOf({ scope: 'kafka:read kafka:write' });
    const given = await Promise.all([tokens.current(), tokens.current(), tokens.current()]);
    expect(new Set(given).size).toBe(1);
    expect(server.asked.map((form) => Object.fromEntries(form))).toEqual([
      { grant_type: 'client_credentials', scope: 'kafka:read kafka:write' },
    ]);
  });

  it.each([
    [3600, 2879, 2881],
    [60, 47, 49],
    // A connection authenticates again when 3 s are left: the token must be a new one then.
    [30, 17, 19],
    [20, 9, 11],
  ])('with a lifetime of %i s are used for %i s, and renewed after %i s', async (lifetime, used, renewed) => {
    const { server, clock, tokens } = await tokensOf({ lifetime });
    const first = await tokens.current();
    await clock.advance(used * 1000);
    expect(await tokens.current()).toBe(first);
    await clock.advance((renewed - used) * 1000);
    expect(await tokens.current()).not.toBe(first);
    expect(server.asked.length).toBe(2);
  });

  it('are used to their end while the endpoint gives no new one', async () => {
    const { server, clock, tokens } = await tokensOf({ lifetime: 100 });
    const first = await tokens.current();
    server.answer({ status: 503, json: {} });
    await clock.advance(99_000);
    expect(await tokens.current()).toBe(first);
    await clock.advance(2000);
    expect((await faultOf(tokens)).kind).toBe('unreachable');
    server.answer(undefined);
    expect(await tokens.current()).not.toBe(first);
  });

  it('have a lifetime of five minutes where the endpoint tells none', async () => {
    const { server, clock, tokens } = await tokensOf();
    server.answer({ status: 200, json: { access_token: 'abc', token_type: 'bearer' } });
    expect(await tokens.current()).toBe('abc');
    server.answer({ status: 200, json: { access_token: 'def' } });
    await clock.advance(239_000);
    expect(await tokens.current()).toBe('abc');
    await clock.advance(2000);
    expect(await tokens.current()).toBe('def');
  });

  it('are refused with the words of the endpoint, without the secret that it repeats', async () => {
    const { tokens } = await tokensOf({ secret: 'wrong-horse' });
    const { kind, message, retriable } = await faultOf(tokens);
    expect({ kind, retriable }).toEqual({ kind: 'refused', retriable: false });
    expect(message).toMatch(
      /^the token endpoint http:\S+ answered 401 \(invalid_client, no client has hookrail:…\)$/,
    );
  });

  it.each([
    [{ status: 429, json: {} }, 'unreachable', /answered 429$/],
    [{ status: 500, json: { error: 'busy\nnow' } }, 'unreachable', /answered 500 \(busy now\)$/],
    [{ status: 302, json: {} }, 'refused', /answered 302$/],
    [{ status: 200, json: {} }, 'refused', /its response has no access_token$/],
    [{ status: 200, json: { access_token: 'a\u0001host=other' } }, 'refused', /no access_token$/],
    [
      { status: 200, json: { access_token: 'a', token_type: 'mac' } },
      'refused',
      /token_type is "mac", not Bearer$/,
    ],
    [
      { status: 200, json: { access_token: 'a', pad: 'x'.repeat(300_000) } },
      'unreachable',
      /does not answer/,
    ],
  ])('are not given by %j: %s', async (answer, kind, message) => {
    const { server, tokens } = await tokensOf();
    server.answer(answer);
    const fault = await faultOf(tokens);
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
  });

  it('are waited for when nobody listens', async () => {
    const { server, tokens } = await tokensOf();
    await server.close();
    const { kind, message, retriable } = await faultOf(tokens);
    expect({ kind, retriable }).toEqual({ kind: 'unreachable', retriable: true });
    expect(message).toMatch(/^the token endpoint http:\S+ does not answer \(ECONNREFUSED\)$/);
  });
});
