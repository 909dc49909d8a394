/**
 * Guarantee: when our own network is down, nobody's attempts are burnt; a few dead receivers do not look like that.
 */
import { describe, expect, test } from 'vitest';
import { connectFailureOf, type NetworkSign } from '../../services/sender/http/connect-failure.ts';
import { NetworkWatch } from '../../services/sender/network-watch.ts';

const to = (name: string) => ({ endpointId: `endpoint ${name}`, origin: `https://${name}.example` });
const failures = (watch: NetworkWatch, sign: NetworkSign, count: number, now: number) =>
  Array.from({ length: count }, (_, i) => watch.isOurFault(sign, to(`${i}`), 0, now));

describe('our own network', () => {
  test('is suspected when twenty endpoints are silent and nobody was reached, and not before', () => {
    const watch = new NetworkWatch();
    expect(failures(watch, 'silent', 19, 0)).not.toContain(true);
    expect(watch.isOurFault('silent', to('0'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('one more'), 0, 2)).toBe(true);
    expect(watch.isOurFault('silent', to('one more'), 200, 3)).toBe(false);
  });

  test('is cleared by anybody who answers, and by time', () => {
    const watch = new NetworkWatch();
    failures(watch, 'silent', 30, 0);
    expect(watch.isOurFault('reached', to('b'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('a'), 0, 2)).toBe(false);
    expect(failures(watch, 'silent', 30, 5000)).not.toContain(true);
    expect(watch.isOurFault('silent', to('a'), 0, 10_002)).toBe(true);
    expect(watch.isOurFault('silent', to('a'), 0, 40_000)).toBe(false);
  });

  test('is not cleared by a name that does not exist, a blocked address or a refusal of the egress proxy', () => {
    const watch = new NetworkWatch();
    failures(watch, 'silent', 30, 0);
    watch.isOurFault('no_such_name', to('gone'), 0, 1);
    expect(watch.isOurFault('unknown', to('blocked'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('0'), 0, 2)).toBe(true);
  });

  test('is suspected when the resolver knows none of twenty names, and not for a merchant with one wrong name', () => {
    const oneName = new NetworkWatch();
    const endpoints = Array.from({ length: 100 }, (_, i) => ({
      ...to(`${i}`),
      origin: 'https://gone.example',
    }));
    const judged = endpoints.map((each) => oneName.isOurFault('no_such_name', each, 0, 0));
    expect(judged).not.toContain(true);
    expect(failures(new NetworkWatch(), 'no_such_name', 20, 0).at(-1)).toBe(true);
  });
});

describe('a connection that fails', () => {
  test.each([
    'ENETUNREACH',
    'EHOSTUNREACH',
    'ENETDOWN',
    'EHOSTDOWN',
    'EADDRNOTAVAIL',
    'EACCES',
    'EPERM',
    'ETIMEDOUT',
  ])('because there is no way to an address (%s) shows no receiver', (code) => {
    expect(connectFailureOf(Object.assign(new Error(code), { code })).facts.sign).toBe('silent');
  });

  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('for %s is our own, and shows nothing', (code) => {
    const { facts } = connectFailureOf(Object.assign(new Error(code), { code }));
    expect(facts).toEqual({ ownFault: 'machine_limit', sign: 'unknown' });
  });

  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'CERT_HAS_EXPIRED'])('for %s was answered', (code) => {
    expect(connectFailureOf(Object.assign(new Error(code), { code })).facts).toEqual({});
  });
});
