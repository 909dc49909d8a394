/** A wrong configuration is one clear line that names the variable and what to do. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../services/config/config.ts';

describe('the configuration', () => {
  it('has a default for everything', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      environment: 'sandbox',
      engine: 'sqlite',
      dataDir: './data',
      keyRingFile: 'data/keyring.json',
      api: {
        port: 8080,
        rateLimitPerMinute: 6000,
        testRateLimitPerMinute: 600,
        endpointQuota: 100,
        streamsPerKey: 10,
        trustedProxies: [],
      },
      operations: { port: 8081 },
      sender: { retryScale: 1, totalTimeoutMs: 10_000, connectTimeoutMs: 3000 },
      egress: { ports: [443, 8443] },
      autoDisable: { withoutSuccessMs: 24 * 3_600_000, failedAttempts: 20 },
    });
  });

  it('waits longer in production before an endpoint is disabled', () => {
    const { autoDisable } = readConfig({ HOOKRAIL_ENVIRONMENT: 'production' });
    expect(autoDisable).toEqual({ withoutSuccessMs: 72 * 3_600_000, failedAttempts: 100 });
  });

  it.each([
    [
      'a Service named hookrail',
      {
        HOOKRAIL_SERVICE_HOST: '10.96.12.7',
        HOOKRAIL_SERVICE_PORT: '8080',
        HOOKRAIL_SERVICE_PORT_HTTP: '8080',
        HOOKRAIL_PORT: 'tcp://10.96.12.7:8080',
        HOOKRAIL_PORT_8080_TCP: 'tcp://10.96.12.7:8080',
        HOOKRAIL_PORT_8080_TCP_PROTO: 'tcp',
        HOOKRAIL_PORT_8080_TCP_PORT: '8080',
        HOOKRAIL_PORT_8080_TCP_ADDR: '10.96.12.7',
      },
    ],
    [
      'Services named hookrail-api and hookrail-ops',
      {
        HOOKRAIL_API_SERVICE_HOST: 'fd00::7',
        HOOKRAIL_API_PORT: 'tcp://[fd00::7]:80',
        HOOKRAIL_OPS_PORT: 'udp://10.0.0.1:9',
        HOOKRAIL_OPS_PORT_9_UDP_ADDR: '10.0.0.1',
      },
    ],
    [
      'a link of Docker',
      {
        HOOKRAIL_DB_PORT: 'tcp://172.17.0.5:5432',
        HOOKRAIL_DB_NAME: '/web/hookrail_db',
        HOOKRAIL_DB_ENV_PG_VERSION: '15',
      },
    ],
  ])('ignores what an orchestrator sets for %s, and names it', (_, links) => {
    const config = readConfig({ ...links, HOOKRAIL_OPERATOR: 'ann' });
    expect(config).toMatchObject({ api: { port: 8080 }, operations: { port: 8081 }, operator: 'ann' });
    expect(config.ignored).toEqual(Object.keys(links));
  });

  it('takes a port that is given beside a Service of that name', () => {
    const config = readConfig({ HOOKRAIL_API_SERVICE_HOST: '10.96.12.7', HOOKRAIL_API_PORT: '9000' });
    expect(config.api.port).toBe(9000);
    expect(config.ignored).toEqual(['HOOKRAIL_API_SERVICE_HOST']);
  });

  it.each([
    ['HOOKRAIL_SERVICE_HOST', 'hookrail.internal'],
    ['HOOKRAIL_API_SERVICE_PORT', '8080'],
    ['HOOKRAIL_PORT', '8080'],
    ['HOOKRAIL_STOER_PORT', '5432'],
    ['HOOKRAIL_DB_NAME', '/web/hookrail_db'],
  ])('refuses %s=%s, which no orchestrator sets so', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`${name} is not a variable of hookrail`);
  });

  it('ignores every variable of the tests', () => {
    const support = globSync('test/support/**/*.ts');
    const files = ['.ci/run', 'package.json', 'vitest.config.ts', 'test/tiers.ts', ...support];
    const named = files.flatMap(
      (file) => readFileSync(file, 'utf8').match(/HOOKRAIL_(REQUIRE|TEST)_\w+/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(8);
    for (const name of [...named, 'HOOKRAIL_REQUIRE_ANYTHING'])
      expect(() => readConfig({ [name]: '1' })).not.toThrow();
    for (const name of ['HOOKRAIL_REQUIRE', 'HOOKRAIL_REQUIRES_KAFKA'])
      expect(() => readConfig({ [name]: '1' })).toThrow('is not a variable of hookrail');
  });

  it.each([
    [
      'HOOKRAIL_API_PROT',
      '1',
      'HOOKRAIL_API_PROT is not a variable of hookrail; did you mean HOOKRAIL_API_PORT?',
    ],
    ['HOOKRAIL_API_PORT', '80a', 'HOOKRAIL_API_PORT="80a" must be a number from 0 to 65535'],
    ['HOOKRAIL_API_PORT', '', 'HOOKRAIL_API_PORT="" must be a number from 0 to 65535'],
    ['HOOKRAIL_API_PORT', '1.5', 'HOOKRAIL_API_PORT="1.5" must be a whole number'],
    ['HOOKRAIL_ENVIRONMENT', 'prod', 'HOOKRAIL_ENVIRONMENT="prod" must be one of sandbox, production'],
    ['HOOKRAIL_RETRY_SCALE', '0.5', 'HOOKRAIL_RETRY_SCALE="0.5" must be a number from 1 to 1000000'],
    ['HOOKRAIL_EGRESS_PORTS', '443,x', 'HOOKRAIL_EGRESS_PORTS="443,x" must be a number from 1 to 65535'],
    [
      'HOOKRAIL_TRUSTED_PROXIES',
      '10.0.0.1,proxy.internal',
      'HOOKRAIL_TRUSTED_PROXIES="10.0.0.1,proxy.internal" must be addresses and CIDRs (10.0.0.0/8); "proxy.internal" is neither',
    ],
    ['HOOKRAIL_TRUSTED_PROXIES', '10.0.0.0/33', '"10.0.0.0/33" is neither'],
    ['HOOKRAIL_TRUSTED_PROXIES', '10.0.0.0/8/8', '"10.0.0.0/8/8" is neither'],
    ['HOOKRAIL_TRUSTED_PROXIES', 'fe80::1%eth0', '"fe80::1%eth0" is neither'],
    [
      'HOOKRAIL_TRUSTED_PROXIES',
      '0.0.0.0/0',
      '"0.0.0.0/0" is every address, so every client could name its own',
    ],
    ['HOOKRAIL_TRUSTED_PROXIES', '::/0', '"::/0" is every address, so every client could name its own'],
  ])('refuses %s=%s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(message);
  });

  it('accepts addresses and CIDRs of proxies', () => {
    const { api } = readConfig({ HOOKRAIL_TRUSTED_PROXIES: '10.0.3.7, 10.0.4.0/24,fd00::/8,::1' });
    expect(api.trustedProxies).toEqual(['10.0.3.7', '10.0.4.0/24', 'fd00::/8', '::1']);
  });

  it('keeps bodies as long as their rows unless a shorter time is set, and never longer', () => {
    const days = (all: string, bodies?: string) =>
      readConfig({
        HOOKRAIL_RETENTION_DAYS: all,
        ...(bodies === undefined ? {} : { HOOKRAIL_BODY_RETENTION_DAYS: bodies }),
      }).bodyRetentionMs / 86_400_000;
    expect([days('20'), days('20', '0'), days('20', '7'), days('20', '20')]).toEqual([20, 20, 7, 20]);
    expect(() => days('20', '21')).toThrow(
      'HOOKRAIL_BODY_RETENTION_DAYS="21" exceeds HOOKRAIL_RETENTION_DAYS (20)',
    );
  });

  it.each(['HOOKRAIL_RETRY_SCALE', 'HOOKRAIL_EGRESS_ALLOW', 'HOOKRAIL_EXTRA_CA_FILE'])(
    'refuses %s in production',
    (name) => {
      const environment = { HOOKRAIL_ENVIRONMENT: 'production', [name]: '10' };
      expect(() => readConfig(environment)).toThrow(`${name} is for the sandbox only`);
    },
  );
});
