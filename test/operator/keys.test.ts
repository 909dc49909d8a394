/** The operator's commands on keys: what a key names, and what a producer may publish with it. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_SCOPES } from '../../services/domain/access/platform-scopes.ts';
import { parseApiKey } from '../../services/domain/api-key.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
let hookrail: Hookrail | null = null;

const where = () =>
  hookrail ? besides(setup.environment, hookrail) : { ...setup.environment, HOOKRAIL_OPS_PORT: '1' };
const operator = (...argv: string[]) => runTool(where(), ...argv);
const json = (...argv: string[]) => toolAnswer(where(), ...argv);
const keyOf = async (keyId: string) =>
  (await json('keys', 'list')).find((key: { keyId: string }) => key.keyId === keyId);

describe.each(['asking a running service', 'opening the store'])('the keys commands, %s,', (mode) => {
  beforeAll(async () => {
    setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
    if (mode === 'asking a running service') hookrail = await startHookrail(setup.environment);
  });
  afterAll(async () => {
    await hookrail?.stop();
    hookrail = null;
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  it('give a key of the platform the scopes that are named, all, or the one of before', async () => {
    const create = (...argv: string[]) => json('keys', 'create', '--platform', ...argv);
    const named = await create('--scopes', 'merchants:read,replays:write');
    expect(parseApiKey(named.key)).toMatchObject({ ok: true, kind: 'platform' });
    expect((await keyOf(named.keyId)).scopes).toEqual(['merchants:read', 'replays:write']);
    expect((await create('--scopes', 'all')).scopes).toEqual(PLATFORM_SCOPES);
    expect((await create()).scopes).toEqual(['portal:write']);
    const refused = async (...argv: string[]) => (await operator('keys', 'create', ...argv)).err;
    expect(await refused('--platform', '--scopes', 'merchant:read')).toContain('did you mean');
    expect(await refused('--producer', '--scopes', 'all')).toContain('give --platform');
    expect(await refused('--platform', '--scopes', 'all,merchants:read')).toContain('all stands alone');
  });

  it('close a merchant once that is confirmed, and make no key for it then', async () => {
    const { merchantId } = await json('merchants', 'create', '--name', 'Short-lived');
    const close = ['merchants', 'close', merchantId, '--reason', 'it left', '--erase'];
    expect((await operator(...close)).err).toContain('Short-lived');
    expect(await json(...close, '--yes')).toMatchObject({ merchantId, state: 'closed' });
    expect(await json(...close, '--yes')).toMatchObject({ state: 'closed' });
    expect(await json('merchants', 'get', merchantId)).toMatchObject({ state: 'closed', keys: [] });
    for (const line of [
      ['merchants', 'resume', merchantId],
      ['keys', 'create', '--merchant', merchantId],
    ])
      expect((await operator(...line)).err).toContain(`merchant ${merchantId} is closed`);
    const actions = (await json('audit', 'list', '--merchant', merchantId)).map(
      ({ action }: { action: string }) => action,
    );
    expect(actions).toEqual(['merchant.close', 'merchant.erase', 'merchant.create']);
  });

  it('show a key once and revoke it once', async () => {
    const made = await json('keys', 'create', '--merchant', setup.merchantId);
    expect(parseApiKey(made.key)).toMatchObject({ ok: true, kind: 'merchant', environment: 'sandbox' });
    const producer = await json('keys', 'create', '--producer');
    expect(parseApiKey(producer.key)).toMatchObject({ ok: true, kind: 'producer', environment: 'sandbox' });
    expect(await keyOf(producer.keyId)).toMatchObject({
      environment: 'sandbox',
      types: null,
      merchants: null,
    });
    const listed = await operator('keys', 'list', '--output', 'json');
    expect(listed.out).not.toContain(made.key);
    expect((await json('keys', 'revoke', made.keyId)).keyId).toBe(made.keyId);
    const again = await operator('keys', 'revoke', made.keyId);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('keys list')]);
  });

  it('give a producer lists of types and merchants, show them, and change either', async () => {
    const lists = ['--types', 'KYC,AML', '--merchants', setup.merchantId];
    const { keyId } = await json('keys', 'create', '--producer', '--name', 'onboarding', ...lists);
    expect(await keyOf(keyId)).toMatchObject({ types: ['KYC', 'AML'], merchants: [setup.merchantId] });
    const more = await json('keys', 'set', keyId, '--types', 'KYC', 'KYB', '--types', 'KYC');
    expect(more).toMatchObject({ types: ['KYC', 'KYB'], merchants: [setup.merchantId] });
    expect(await json('keys', 'set', keyId, '--merchants', 'all')).toMatchObject({
      types: ['KYC', 'KYB'],
      merchants: null,
    });
    const [{ details, action }] = await json('audit', 'list', '--limit', '1');
    expect([action, details.keyId, details.types]).toEqual(['api_key.set', keyId, ['KYC', 'KYB']]);
    expect((await operator('keys', 'list')).out).toContain('types=KYC, KYB');
  });

  it.each([
    [['--types', 'KYS'], 'did you mean KYB, KYC'],
    [['--types', 'KY\u0421'], '"KY\u0421" is not an event type; did you mean KYB, KYC'],
    [['--types', 'kyc'], 'did you mean KYC'],
    [['--types', 'KYC,fiatToCripto'], 'did you mean fiatToCrypto'],
    [['--types', 'KYC,,AML'], 'types: must be'],
    [['--types', ''], 'types: must be'],
    [['--types', 'all,KYC'], 'all stands alone'],
    [['--types', '__proto__'], 'is not an event type'],
    [['--merchants', 'nobody'], 'there is no merchant "nobody"', 1],
    [['--merchants', '<almost>'], 'did you mean <merchant>', 1],
  ])('refuse %j with a line that helps', async (argv, hint, exit = 2) => {
    const { merchantId } = setup;
    const almost = `${merchantId.slice(0, -1)}${merchantId.endsWith('0') ? '1' : '0'}`;
    const given = argv.map((word) => word.replace('<almost>', almost));
    for (const line of [
      ['keys', 'create', '--producer', ...given],
      ['keys', 'set', crypto.randomUUID(), ...given],
    ]) {
      const { code, err } = await operator(...line);
      expect([code, err]).toEqual([exit, expect.stringContaining(hint.replace('<merchant>', merchantId))]);
    }
  });

  it('refuse lists of a merchant’s key, a change of nothing, and a key that is not there', async () => {
    const merchant = await operator('keys', 'create', '--merchant', setup.merchantId, '--types', 'KYC');
    expect([merchant.code, merchant.err]).toEqual([2, expect.stringContaining('--producer')]);
    const { keyId } = await json('keys', 'create', '--merchant', setup.merchantId);
    for (const [exit, argv, hint] of [
      [1, [keyId, '--types', 'KYC'], 'there is no producer’s key'],
      [1, [crypto.randomUUID(), '--types', 'KYC'], 'keys list'],
      [2, [keyId], 'nothing to set'],
    ] as const) {
      const { code, err } = await operator('keys', 'set', ...argv);
      expect([code, err]).toEqual([exit, expect.stringContaining(hint.replace('’', "'"))]);
    }
  });
});
