import { READS } from '../../../services/store/rules/reads.ts';
import { WRITES } from '../../../services/store/rules/writes.ts';
import type { Transaction } from '../../../services/store/sql/transaction.ts';
import { OPERATOR, START } from '../../support/records/journal-entries.ts';

const MERCHANT = 'a-merchant';
const by = { at: START, actor: OPERATOR };
const sealed = { keyId: 'k1', ciphertext: 'c' };
const endpoint = {
  uuid: 'an-endpoint',
  merchantId: MERCHANT,
  url: 'https://a.example.com',
  description: '',
  subscribedEvents: null,
  apiVersion: '2.2.8',
  secret: sealed,
  secretHint: 'hint',
  publicKeySignature: false,
  legacy: false,
} as const;
const replay = {
  replayId: 'a-replay',
  merchantId: MERCHANT,
  endpointId: endpoint.uuid,
  only: 'missing',
  since: 0,
  until: START,
  types: null,
  eventIds: null,
  count: 1,
} as const;

/** Makes every kind of change that rules have, so that their statements are seen. */
export async function runWrites(tx: Transaction): Promise<void> {
  const { merchants, keys, endpoints, answers, outbox, sealings, replays } = WRITES;
  await merchants.create(tx, { merchantId: MERCHANT, name: 'm', senderAccountDetails: false });
  await merchants.update(tx, MERCHANT, { name: 'n' });
  const key = { keyId: 'k', kind: 'producer', merchantId: null, hash: Buffer.from('h'), hint: 'h' } as const;
  const unused = { name: null, revokedAt: null, lastUsedAt: null };
  await keys.create(tx, { ...key, ...unused, createdAt: START });
  await keys.setRights(tx, 'k', { types: ['KYC'] }, by);
  await keys.revoke(tx, 'k', START);
  const claimed = await answers.claim(tx, 'scope', START);
  const token = claimed.kind === 'claimed' ? claimed.token : '';
  const answer = { scope: 'scope', token, requestHash: 'r', status: 201, sealed: '{}', expiresAt: START };
  await endpoints.create(tx, endpoint, { ...by, quota: 9, answer });
  await endpoints.update(tx, MERCHANT, endpoint.uuid, { url: 'https://b.example.com' }, by);
  await endpoints.rotate(tx, MERCHANT, endpoint.uuid, { sealed, hint: 'h' }, by);
  await sealings.replace(tx, [{ kind: 'endpoint', id: endpoint.uuid, sealed, resealed: sealed }], by);
  await sealings.replace(tx, [{ kind: 'answer', id: 'scope', sealed, resealed: sealed }], by);
  const { changes } = await READS.outbox.snapshot(tx, { kind: 'endpoint', row: 0 }, 9);
  await outbox.addAgain(tx, changes);
  await outbox.addAbove(tx, [{ kind: 'endpoint', id: endpoint.uuid, above: 9 }]);
  await outbox.adopt(
    tx,
    changes.map((each) => ({ ...each, version: 99 })),
    START,
  );
  await outbox.published(tx, [1, 2]);
  await replays.create(tx, replay, by);
  await replays.advance(tx, replay.replayId, { from: null, place: '1', published: 0, leftOut: 0 });
  await replays.finish(tx, replay.replayId, { ...by, status: 'cancelled', reason: 'operator' });
  await answers.release(tx, 'other', token);
  await endpoints.remove(tx, MERCHANT, endpoint.uuid, by);
  await endpoints.setLegacy(
    tx,
    MERCHANT,
    'a-legacy',
    { url: 'https://c.example.com', secret: { sealed, hint: 'h' } },
    by,
  );
}
