/**
 * Guarantee: docs/platform/embed.mjs, which is written against openapi.yaml alone, takes a merchant through its life, on both
 * stores; and what it has done is in the audit with its key and its person.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { onDatabase, startTestApi, type TestApi, type TestApiOptions } from '../support/api/test-api.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';

const SCRIPT = fileURLToPath(new URL('../../docs/platform/embed.mjs', import.meta.url));
const SCRIPT_MS_MAX = 120_000;

const run = async ({ api, keys }: TestApi) => {
  const env = {
    PATH: process.env.PATH,
    HOOKRAIL_BASE_URL: api.url,
    HOOKRAIL_PLATFORM_KEY: keys.platform,
    PERSON: 'Ann Ägäis',
  };
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { env, timeout: SCRIPT_MS_MAX });
  return stdout.trim().split('\n');
};

function scriptSuite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  test('takes a merchant from its creation to its end', { timeout: 2 * SCRIPT_MS_MAX }, async () => {
    const api = await start({});
    try {
      const lines = await run(api);
      const merchantId = lines[0]?.split(' ')[1] ?? '';
      expect(lines).toEqual([
        `merchant ${merchantId}`,
        expect.stringMatching(/^key backend sk_sandbox_\w{4}…\w{4} in use$/),
        expect.stringMatching(/^key spare sk_sandbox_\w{4}…\w{4} revoked$/),
        expect.stringMatching(/^endpoint \S+ https:\/\/hooks\.example\.com\/acme$/),
        expect.stringMatching(/^console write until /),
        'pause paused',
        'resume active',
        'replay completed counted 0 published 0',
        'close closed',
      ]);
      const entries = await api.store.audit.list({ merchantId, limit: 100 });
      const byPlatform = entries.filter(
        ({ actor }) => actor.kind === 'api_key' && actor.keyId === api.keyIds.platform,
      );
      expect(byPlatform.map(({ action }) => action).reverse()).toEqual([
        'merchant.create',
        'api_key.create',
        'api_key.create',
        'api_key.revoke',
        'portal_session.create',
        'merchant.update',
        'merchant.update',
        'replay.create',
        'api_key.revoke',
        'portal_session.revoke',
        'endpoint.delete',
        'merchant.close',
      ]);
      expect(new Set(byPlatform.map(({ actor }) => 'person' in actor && actor.person))).toEqual(
        new Set(['Ann Ägäis']),
      );
    } finally {
      await api.close();
    }
  });
}

describe('the script on SQLite', () => scriptSuite(startTestApi));

await describeWithPostgres('the script on PostgreSQL', (createDatabase) => {
  scriptSuite(onDatabase(createDatabase));
});
