/**
 * Guarantee: when the sender's own network is down, no attempt is counted; a few dead receivers are not taken for
 * that.
 */
import { describe, expect, test } from 'vitest';
import { connectFailureOf, type NetworkSign } from '../../services/sender/http/connect-failure.ts';
import { NetworkWatch } from '../../services/sender/network-watch.ts';

const to = (name: string) => ({ endpointId: `endpoint ${name}`, origin: `https://${name}.example` });
const failures = (watch: NetworkWatch, sign: NetworkSign, count: number, now: number) =>
  Array.from({ length: count }, (_, i) => watch.isOurFault(sign, to(`${i}`), 0, now));

describe('the sender’s own network', () => {
  test('is suspected once twenty endpoints are silent and none was reached, and not before', () => {
    const watch = new NetworkWatch();
    expect(failures(watch, 'silent', 19, 0)).not.toContain(true);
    expect(watch.isOurFault('silent', to('0'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('one more'), 0, 2)).toBe(true);
    expect(watch.isOurFault('silent', to('one more'), 200, 3)).toBe(false);
  });

  test('is cleared by any receiver that answers, and by time', () => {
    const watch = new NetworkWatch();
    failures(watch, 'silent', 30, 0);
    expect(watch.isOurFault('reached', to('b'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('a'), 0, 2)).toBe(false);
    expect(failures(watch, 'silent', 30, 5000)).not.toContain(true);
    expect(watch.isOurFault('silent', to('a'), 0, 10_002)).toBe(true);
    expect(watch.isOurFault('silent', to('a'), 0, 40_000)).toBe(false);
  });

  test('is not cleared by an unknown name, a blocked address or a refusal of the egress proxy', () => {
    const watch = new NetworkWatch();
    failures(watch, 'silent', 30, 0);
    watch.isOurFault('no_such_name', to('gone'), 0, 1);
    expect(watch.isOurFault('unknown', to('blocked'), 0, 1)).toBe(false);
    expect(watch.isOurFault('silent', to('0'), 0, 2)).toBe(true);
  });

  test('is suspected when the resolver knows none of twenty names, but not for a merchant with one wrong name', () => {
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

describe('a failed connection', () => {
  test.each([
    'ENETUNREACH',
    'EHOSTUNREACH',
    'ENETDOWN',
    'EHOSTDOWN',
    'EADDRNOTAVAIL',
    'EACCES',
    'EPERM',
    'ETIMEDOUT',
  ])('for want of a route to an address (%s) does not count as a reached receiver', (code) => {
    expect(connectFailureOf(Object.assign(new Error(code), { code })).facts.sign).toBe('silent');
  });

  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])(
    'because of %s is an own fault, and shows nothing about the network',
    (code) => {
      const { facts } = connectFailureOf(Object.assign(new Error(code), { code }));
      expect(facts).toEqual({ ownFault: 'machine_limit', sign: 'unknown' });
    },
  );

  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'CERT_HAS_EXPIRED'])(
    'because of %s counts as answered',
    (code) => {
      expect(connectFailureOf(Object.assign(new Error(code), { code })).facts).toEqual({});
    },
  );
});
