/**
 * The receivers of docs/receivers are run unchanged: each answers a webhook with a valid signature with 200 and handles it
 * once, whatever the way has done to Authorization, and answers 401 to any other. A language whose runtime is not on this
 * machine is skipped.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/free-ports.ts';
import { NOTICE_TYPES } from '../../services/domain/notices/notice.ts';
import { noticeSample } from '../../services/samples/notice-sample.ts';
import {
  isInstalled,
  RUNTIMES,
  type RunningReceiver,
  startReceiverIn,
} from '../support/receivers/documented-receivers.ts';
import { answerTo, post, signedWebhook } from '../support/receivers/signed-webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
/** A secret that a merchant of 2.2.8 chose. */
const PLAIN_SECRET = 'plain-secret-0123456789';
const RUN_MAX_MS = 120_000;
const webhook = (type: string) => signedWebhook(SECRET, type);

let running: RunningReceiver | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const installed = RUNTIMES.filter(({ probe }) => isInstalled(probe));
describe.each(installed)('the $name receiver', { timeout: RUN_MAX_MS }, (runtime) => {
  test('handles a genuine webhook once and refuses what is not genuine', async () => {
    running = await startReceiverIn(runtime, SECRET, await freePort());
    const { url, handled } = running;
    const first = webhook('fiatToCrypto');
    expect(await post(url, first)).toBe(200);
    expect(await handled(1)).toEqual([`received ${first.id} fiatToCrypto`]);
    expect(await post(url, first), 'a duplicate is acknowledged').toBe(200);

    const other = webhook('KYC');
    const wrong = SECRET.replace('A', 'B');
    expect(await post(url, { ...other, secret: wrong }), 'another secret').toBe(401);
    expect(
      await post(url, { ...other, secret: wrong, authorization: `API-Key ${SECRET}` }),
      'signed with another secret, the right Authorization',
    ).toBe(401);
    expect(await post(url, { ...other, sentBody: other.body.replace('Zoë', 'Zoe') }), 'altered body').toBe(
      401,
    );
    expect(await post(url, { ...other, at: other.at - 3600 }), 'an hour old').toBe(401);
    expect(await post(url, { ...other, at: other.at + 3600 }), 'in an hour').toBe(401);
    const bare = await fetch(url, { method: 'POST', body: other.body });
    expect(bare.status, 'no headers').toBe(401);
    const odd = { 'webhook-id': 'x', 'webhook-timestamp': 'soon', 'webhook-signature': 'é v1, v1' };
    expect((await fetch(url, { method: 'POST', body: '{', headers: odd })).status, 'odd headers').toBe(401);
    expect((await fetch(url, { method: 'POST' })).status, 'nothing').toBe(401);

    // The last one comes after all that must not be handled: when it is there, nothing else will be.
    expect(await post(url, other)).toBe(200);
    expect(await handled(2)).toEqual([`received ${first.id} fiatToCrypto`, `received ${other.id} KYC`]);
  });

  test('handles operational notices like events', async () => {
    running = await startReceiverIn(runtime, SECRET, await freePort());
    const { url, handled } = running;
    const notices = NOTICE_TYPES.map((type) => ({
      ...{ type, ...webhook(type) },
      body: Buffer.from(noticeSample(type, 'json')).toString('utf8'),
    }));
    for (const notice of notices) expect(await post(url, notice)).toBe(200);
    expect(await handled(notices.length)).toEqual(notices.map(({ id, type }) => `received ${id} ${type}`));
  });

  test('takes the signature as proof where Authorization is missing or another, and names the settings', async () => {
    running = await startReceiverIn(runtime, SECRET, await freePort());
    const { url, handled, printed } = running;
    expect(await post(url, webhook('KYC'))).toBe(200);
    expect((await handled(1)).length).toBe(1);
    expect((await printed('received')).join('\n'), 'nothing to say').not.toContain('Authorization');
    expect(await post(url, { ...webhook('KYC'), authorization: null })).toBe(200);
    const lines = (await printed('API gateways')).join('\n');
    expect(lines).toContain('no Authorization arrived');
    expect(lines).toContain('CGIPassAuth On');
    expect(lines).toContain('$http_authorization');
    expect(lines).not.toContain(SECRET);
    expect(await post(url, { ...webhook('KYC'), authorization: 'Bearer gateway' })).toBe(200);
    expect((await handled(3)).length).toBe(3);
  });

  test('reads a body in chunks, and one signature of several', async () => {
    running = await startReceiverIn(runtime, SECRET, await freePort());
    const { url, handled } = running;
    const several = (signature: string) => `v1,${Buffer.alloc(32).toString('base64')} v1a,x ${signature}`;
    for (const hook of [
      { ...webhook('KYC'), isChunked: true },
      { ...webhook('KYC'), signatures: several },
    ])
      expect(await post(url, hook)).toBe(200);
    const altered = webhook('KYC');
    expect(await post(url, { ...altered, isChunked: true, sentBody: `${altered.body} ` })).toBe(401);
    expect((await handled(2)).length).toBe(2);
  });

  test('does not apply a webhook that is older than one of the same thing, and says what it did', async () => {
    running = await startReceiverIn(runtime, SECRET, await freePort());
    const { url, handled, printed } = running;
    const of = (type: string, subjectId: string, sequence: number) => ({
      ...webhook(type),
      subjectId,
      sequence,
    });
    const [tx, other] = ['5b8e2f6a-0c1d-4e7f-9a3b-6d5c4b3a2f10', '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11'];
    const newest = of('fiatToCrypto', tx, 1_740_824_129_948_044);
    const older = of('fiatToCrypto', tx, 1_740_824_129_948_042);
    const elsewhere = of('fiatToCrypto', other, 1_740_824_129_948_043);
    const ofAnotherType = of('AML', tx, 1_740_824_129_948_041);
    const tested = of('fiatToCrypto', tx, 0);
    const later = of('fiatToCrypto', tx, 1_740_824_129_948_045);
    const results: unknown[] = [];
    for (const one of [newest, older, elsewhere, ofAnotherType, tested, newest, later])
      results.push(await answerTo(url, one));
    const [applied, dropped] = [
      { status: 200, result: 'applied' },
      { status: 200, result: 'older' },
    ];
    expect(results).toEqual([
      ...[applied, dropped, applied, applied, dropped],
      ...[{ status: 200, result: 'repeated' }, applied],
    ]);
    const inOrder = [newest, elsewhere, ofAnotherType, later].map(
      ({ id, body }) => `received ${id} ${JSON.parse(body).type}`,
    );
    expect((await handled(4)).toSorted()).toEqual(inOrder.toSorted());
    expect((await printed('older')).join('\n')).toContain(`older ${older.id} fiatToCrypto`);
  });

  test('takes two secrets while one takes the place of the other, and no third', async () => {
    const [old, rotated] = [PLAIN_SECRET, `whsec_${Buffer.alloc(32, 5).toString('base64')}`];
    running = await startReceiverIn(runtime, `${rotated} ${old}`, await freePort());
    const { url, handled, printed } = running;
    const [first, second] = [signedWebhook(old, 'KYC'), signedWebhook(rotated, 'KYC')];
    expect(await post(url, first)).toBe(200);
    expect(await post(url, second)).toBe(200);
    for (const wrong of [SECRET, `${old}0`, rotated.slice('whsec_'.length)])
      expect([wrong, await post(url, signedWebhook(wrong, 'KYC'))]).toEqual([wrong, 401]);
    expect(await post(url, { ...signedWebhook(SECRET, 'KYC'), authorization: `API-Key ${old}` })).toBe(401);
    expect(await handled(2)).toEqual([`received ${first.id} KYC`, `received ${second.id} KYC`]);
    expect((await printed('received')).join('\n'), 'both are the right Authorization').not.toContain(
      'Authorization',
    );
  });

  test('takes a secret without whsec_, whose bytes are the key', async () => {
    running = await startReceiverIn(runtime, PLAIN_SECRET, await freePort());
    expect(await post(running.url, signedWebhook(PLAIN_SECRET, 'KYC'))).toBe(200);
    expect(await post(running.url, signedWebhook(`${PLAIN_SECRET}0`, 'KYC'))).toBe(401);
  });
});

describe.each(installed.filter(({ keepsIds }) => keepsIds))('the $name receiver', (runtime) => {
  test(
    'knows after a restart which webhooks it has handled, and handles one of many at once',
    async () => {
      const port = await freePort();
      running = await startReceiverIn(runtime, SECRET, port);
      const first = webhook('KYC');
      expect(await post(running.url, first)).toBe(200);
      await running.handled(1);
      running = await running.restarted();
      expect(await post(running.url, first), 'a duplicate is acknowledged').toBe(200);
      const crowd = webhook('fiatToCrypto');
      const statuses = await Promise.all(Array.from({ length: 20 }, () => post(running?.url ?? '', crowd)));
      expect(new Set(statuses)).toEqual(new Set([200]));
      const last = webhook('KYC');
      expect(await post(running.url, last)).toBe(200);
      expect(await running.handled(2)).toEqual([
        `received ${crowd.id} fiatToCrypto`,
        `received ${last.id} KYC`,
      ]);
    },
    RUN_MAX_MS,
  );
});
