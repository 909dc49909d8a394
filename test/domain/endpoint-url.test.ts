/**
 * Guarantee: a URL that the syntax gate lets through is a plain https URL of a DNS name on an allowed port, in one
 * canonical form; every known trick to smuggle an address, a credential or a second host past a parser is refused.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkEndpointUrl, ENDPOINT_URL_RULES } from '../../services/domain/endpoint-url.ts';
import { NOTHING_EXEMPT, parseEgressAllow } from '../../services/egress/egress.ts';
import inputs from '../support/ssrf-inputs.json' with { type: 'json' };

const production = { ports: [443, 8443], allow: NOTHING_EXEMPT };
const sandbox = { ports: [443, 8443], allow: parseEgressAllow('127.0.0.0/8,::1/128,localhost,receiver') };
const rule = (url: string, policy = production) => {
  const verdict = checkEndpointUrl(url, policy);
  return verdict.ok ? verdict.url : verdict.rule;
};

describe('the list of hostile URLs', () => {
  test('has the expected verdicts', () => {
    expect(inputs.length).toBeGreaterThan(100);
    expect(new Set(inputs.map((input) => input.expected))).toEqual(
      new Set(['ACCEPT', 'REJECT', 'IP-PUBLIC', 'BLOCK-AT-DIAL']),
    );
  });

  test.each(inputs)('gets $expected for $url ($class)', ({ url, expected }) => {
    // BLOCK-AT-DIAL: a name may be stored; where it leads is checked at every connection.
    const stored = expected === 'ACCEPT' || expected === 'BLOCK-AT-DIAL';
    expect(checkEndpointUrl(url, production).ok).toBe(stored);
  });
});

describe('the rules for endpoint URLs', () => {
  test.each([
    ['HTTPS://hooks.merchant-a.com/', 'https_only'],
    ['http://hooks.merchant-a.com/', 'https_only'],
    ['https:///hooks.merchant-a.com/', 'malformed'],
    ['https://', 'malformed'],
    ['https://@hooks.merchant-a.com/', 'userinfo'],
    ['https://hooks.merchant-a.com/#', 'fragment'],
    ['https://hooks.merchant-a.com/?q=a%23b#x', 'fragment'],
    ['https://hooks.merchant-a.com./', 'malformed'],
    ['https://hooks.merchant-a.com:99999/', 'malformed'],
    ['https://-hooks.merchant-a.com/', 'malformed'],
    ['https://*.merchant-a.com/', 'malformed'],
    ['https://a,b.merchant-a.com/', 'malformed'],
    ['https://hooks.merchant-a.com:8444/', 'port'],
    ['https://8.8.8.8/', 'address_literal'],
    ['https://0x7f.1/', 'address_literal'],
    ['https://127。0。0。1/', 'address_literal'],
    ['https://merchant/', 'single_label'],
    ['https://hooks.home.arpa/', 'reserved_name'],
    ['https://svc.cluster.local/', 'reserved_name'],
    ['https://hooks.EXAMPLE/', 'reserved_name'],
    ['https://kubernetes.default.svc/', 'reserved_name'],
    ['https://web.default.svc.cluster/', 'reserved_name'],
    ['https://registry.docker/', 'reserved_name'],
    ['https://ip-10-0-0-1.ec2/', 'reserved_name'],
    ['https://wiki.intra/', 'reserved_name'],
    ['https://wiki.priv/', 'reserved_name'],
    ['https://fritz.box/', 'reserved_name'],
    ['https://web.service.consul/', 'reserved_name'],
    ['https://host.tailnet.ts.net/', 'reserved_name'],
    ['https://METADATA.goog/', 'reserved_name'],
    ['https://metadata.tencentyun.com/', 'reserved_name'],
    ['https://vm.abc.internal.cloudapp.net/', 'reserved_name'],
    ['https://hooks.merchant\u00ad-a.com/', 'forbidden_character'],
    ['https://hooks.merchant-a.com/\u3164', 'forbidden_character'],
    ['https://hooks.merchant-a.com/\u202ex', 'forbidden_character'],
    ['https://hooks.merchant-a.com/\ud800', 'forbidden_character'],
    [`https://hooks.merchant-a.com/${'ü'.repeat(1000)}`, 'length'],
  ])('refuse %s by %s', (url, expected) => expect(rule(url)).toBe(expected));

  test.each([
    ['https://hooks.merchant-a.com', 'https://hooks.merchant-a.com/'],
    ['https://Hooks.Merchant-A.com:443/X', 'https://hooks.merchant-a.com/X'],
    ['https://hooks.merchant-a.com/a/../b?c=d%20e', 'https://hooks.merchant-a.com/b?c=d%20e'],
    ['https://bücher.merchant-a.com/ü', 'https://xn--bcher-kva.merchant-a.com/%C3%BC'],
    ['https://hooks.merchant-a.com/@x', 'https://hooks.merchant-a.com/@x'],
    ['https://svc.merchant-a.com/', 'https://svc.merchant-a.com/'],
    ['https://local.internal.merchant-a.com/', 'https://local.internal.merchant-a.com/'],
    ['https://merchant.box/', 'https://merchant.box/'],
    ['https://merchant.goog/', 'https://merchant.goog/'],
    ['https://merchants.net/', 'https://merchants.net/'],
    ['https://nots.net/', 'https://nots.net/'],
    ['https://web.cloudapp.net/', 'https://web.cloudapp.net/'],
  ])('let %s be stored as %s', (url, canonical) => expect(rule(url)).toBe(canonical));

  test('have a separate code for the scheme', () => {
    expect(checkEndpointUrl('ftp://hooks.merchant-a.com/', production)).toMatchObject({
      code: 'url_scheme_not_https',
    });
    expect(checkEndpointUrl('https://localhost/', production)).toMatchObject({ code: 'url_not_allowed' });
  });
});

describe('the exemptions of a sandbox', () => {
  test.each([
    ['https://localhost:44321/hook', 'https://localhost:44321/hook'],
    ['https://LOCALHOST/', 'https://localhost/'],
    ['https://127.1:9000/', 'https://127.0.0.1:9000/'],
    ['https://[::1]:9000/', 'https://[::1]:9000/'],
    ['https://receiver:8000/', 'https://receiver:8000/'],
  ])('let %s be stored as %s', (url, canonical) => expect(rule(url, sandbox)).toBe(canonical));

  test.each([
    ['http://localhost/', 'https_only'],
    ['https://user@localhost/', 'userinfo'],
    ['https://foo.localhost/', 'reserved_name'],
    ['https://10.0.0.1/', 'address_literal'],
    ['https://[::2]/', 'address_literal'],
    ['https://hooks.merchant-a.com:9000/', 'port'],
  ])('do not cover %s, which breaks %s', (url, expected) => expect(rule(url, sandbox)).toBe(expected));
});

test('every accepted URL is in canonical form, and is accepted again unchanged', () => {
  const pieces = fc.constantFrom(
    'https://',
    'a.com',
    '127.0.0.1',
    '@',
    ':443',
    ':22',
    '/',
    '#',
    '?',
    '%',
    '[::1]',
    '.',
  );
  const text = fc.oneof(
    fc.webUrl(),
    fc.array(fc.oneof(pieces, fc.string()), { maxLength: 8 }).map((p) => p.join('')),
  );
  const urls = text.map((tail) => (tail.startsWith('http') ? tail : `https://${tail}`));
  let accepted = 0;
  fc.assert(
    fc.property(urls, (raw) => {
      const verdict = checkEndpointUrl(raw, production);
      if (!verdict.ok) {
        expect(ENDPOINT_URL_RULES).toContain(verdict.rule);
        return;
      }
      accepted += 1;
      const url = new URL(verdict.url);
      expect(verdict.url).toMatch(/^https:\/\/[a-z0-9_.-]+(:8443)?\/[\x21-\x7e]*$/);
      expect([url.username, url.password, url.hash]).toEqual(['', '', '']);
      expect(checkEndpointUrl(verdict.url, production)).toEqual(verdict);
    }),
    { numRuns: 2000 },
  );
  expect(accepted).toBeGreaterThan(20);
});
