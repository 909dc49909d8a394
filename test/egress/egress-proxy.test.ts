/** The egress proxy's URL: only what a connection through it can use is accepted, and an error never shows the password. */
import { describe, expect, test } from 'vitest';
import { parseEgressProxy } from '../../services/egress/egress-proxy.ts';

describe('the setting HOOKRAIL_EGRESS_PROXY', () => {
  test.each([
    ['proxy:3128', 'must be an http:// URL, not proxy://'],
    ['https://user:hunter2@proxy', 'must be an http:// URL, not https://'],
    ['http://user:hunter2@proxy/path', 'must end after its host and port'],
    ['http://user:hunter2@', 'is not a URL'],
  ])('rejects %s: %s, without showing the password', (text, message) => {
    const parse = () => parseEgressProxy(text);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow('hunter2');
  });

  test('is parsed into host, port and credentials', () => {
    expect(parseEgressProxy('')).toBeNull();
    expect(parseEgressProxy('http://proxy')).toEqual({ host: 'proxy', port: 80, authorization: null });
    expect(parseEgressProxy('http://[::1]:3128')).toMatchObject({ host: '::1', port: 3128 });
  });
});
