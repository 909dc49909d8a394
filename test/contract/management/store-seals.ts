/**
 * The seals of stored merchants and endpoints: what somebody without the key ring changes in the database is no base for
 * any change, is not sealed anew, and gives way to what the directory stream has.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DirectoryChange } from '../../../services/domain/directory.ts';
import { RecordSeals } from '../../../services/domain/seals/record-seals.ts';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { addKey, removeKey } from '../../../services/keys/keyring-file.ts';
import type { SnapshotCursor } from '../../../services/store/outbox.ts';
import type { Store } from '../../../services/store/store.ts';
import { createEndpoint, OPERATOR, START } from '../../support/records/journal-entries.ts';

const MERCHANT = 'a-merchant';
const BY = { at: START, actor: OPERATOR } as const;

/** A store that somebody else writes to, beside the service. */
export interface TamperedPlace {
  open(keyRing: KeyRing | null): Promise<Store>;
  /** Carries out statements on the tables themselves. */
  write(sql: string): Promise<void>;
  dispose(): Promise<void>;
}

/** Changes of an endpoint's row, each of which decides what is sent where. */
const CHANGES: readonly (readonly [what: string, set: string])[] = [
  ['the URL', `url = 'https://evil.example/hooks'`],
  ['the merchant', `merchant_id = 'another-merchant'`],
  ['the status', `status = 'disabled'`],
  ['the version', 'version = version + 1'],
  ['URL and version', `url = 'https://evil.example/hooks', version = version + 7`],
  [
    'URL, version and the version of the seal',
    `url = 'https://evil.example/', version = 9, seal_version = 9`,
  ],
  ['the filter', `subscribed_events = '["KYC"]'`],
  ['the API version', `api_version = '2.2.8'`],
  [
    'the secret, by that of a sibling',
    `secret_ciphertext = (SELECT secret_ciphertext FROM endpoint WHERE uuid = '$sibling')`,
  ],
  [
    'the prepared secret, by the one in force',
    'prepared_key_id = secret_key_id, prepared_ciphertext = secret_ciphertext',
  ],
  [
    'the headers, by the secret in force',
    `header_names = '["X-A"]', headers_key_id = secret_key_id, headers_ciphertext = secret_ciphertext`,
  ],
  ['the limit of requests', 'requests_per_second = 1'],
  ['the seal, by that of a sibling', `seal_mac = (SELECT seal_mac FROM endpoint WHERE uuid = '$sibling')`],
  [
    'the seal, to none',
    `url = 'https://evil.example/', seal_mac = NULL, seal_key_id = NULL, seal_version = NULL`,
  ],
];

export function sealsContract(engine: string, makePlace: () => Promise<TamperedPlace>): void {
  describe(`sealed records in the ${engine} store`, () => {
    let folder: string;
    let ringFile: string;
    let ring: KeyRing;
    let place: TamperedPlace;
    let store: Store;

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'hookrail-seals-'));
      ringFile = join(folder, 'keyring.json');
      KeyRing.create(ringFile);
      ring = KeyRing.read(ringFile);
      place = await makePlace();
      store = await place.open(ring);
      await store.merchants.create({ merchantId: MERCHANT, name: MERCHANT, senderAccountDetails: false });
    });

    afterEach(async () => {
      await store.close();
      await place.dispose();
      rmSync(folder, { recursive: true });
    });

    const create = async () => {
      const uuid = randomUUID();
      await createEndpoint(store, MERCHANT, uuid, { secret: ring.seal(`of ${uuid}`, uuid) });
      return uuid;
    };

    /** Returns the changes that the store would publish now, by id. */
    const snapshot = async () => {
      const found = new Map<string, DirectoryChange>();
      for (let after: SnapshotCursor | null | undefined; after !== null; ) {
        const page = await store.outbox.snapshot(after ?? null, 100);
        for (const change of page.changes) found.set(change.id, change);
        after = page.next;
      }
      return found;
    };

    const verdictOf = (change: DirectoryChange | undefined, of = ring) =>
      change && new RecordSeals(of).verdict(change);

    /** Seals everything in steps of two. */
    const sealAll = async () => {
      let sealed = 0;
      const refused: string[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const step = await store.sealings.sealRecords({ limit: 2, ...(after ? { after } : {}) });
        sealed += step.sealed;
        refused.push(...step.refused);
        after = step.next;
      }
      return { sealed, refused };
    };

    it('are sealed by every change, in the outbox as in the store', async () => {
      const uuid = await create();
      await store.endpoints.update(MERCHANT, uuid, { url: 'https://example.com/moved' }, BY);
      await store.endpoints.rotate(MERCHANT, uuid, { sealed: ring.seal('new', uuid), hint: '…' }, BY);
      await store.merchants.update(MERCHANT, { state: 'paused' });
      await store.endpoints.setLegacy(
        MERCHANT,
        randomUUID(),
        { url: 'https://example.com/single', secret: { sealed: ring.seal('chosen', 'x'), hint: '…' } },
        BY,
      );
      const gone = await create();
      await store.endpoints.remove(MERCHANT, gone, BY);
      const pending = (await store.outbox.pending(100)).map(({ change }) => change);
      expect(pending).toHaveLength(8);
      expect(pending.map((change) => verdictOf(change))).toEqual(pending.map(() => 'valid'));
      const stored = await snapshot();
      expect(stored.size).toBe(4);
      for (const change of stored.values())
        expect([change.id, verdictOf(change)]).toEqual([change.id, 'valid']);
      expect(await store.sealings.recordCounts()).toEqual([{ keyId: 'k1', records: 4 }]);
    });

    it.each(CHANGES)('are no base for a change once somebody has changed %s', async (_what, set) => {
      const [uuid, sibling] = [await create(), await create()];
      const good = (await snapshot()).get(uuid);
      await place.write(`UPDATE endpoint SET ${set.replaceAll('$sibling', sibling)} WHERE uuid = '${uuid}'`);
      expect(verdictOf((await snapshot()).get(uuid))).not.toBe('valid');
      const owner = set.includes('merchant_id') ? 'another-merchant' : MERCHANT;
      const pending = (await store.outbox.pending(100)).length;
      const update = store.endpoints.update(owner, uuid, { description: 'mine' }, BY);
      await expect(update).rejects.toMatchObject({
        name: 'RecordRefused',
        message: expect.stringContaining(uuid),
      });
      const secret = { sealed: ring.seal('new', uuid), hint: '…' };
      await expect(store.endpoints.rotate(owner, uuid, secret, BY)).rejects.toThrow(
        'changed in the database',
      );
      addKey(ringFile);
      ring.reread();
      const [thing] = await store.sealings.notSealedWith(ring.active, { now: START, limit: 9 });
      if (thing)
        await store.sealings.replace(
          [{ ...thing, resealed: ring.seal('taken over', thing.id) }].filter(({ id }) => id === uuid),
          BY,
        );
      expect((await sealAll()).refused).toEqual([`endpoint:${uuid}`]);
      const offered = (await store.outbox.pending(100)).slice(pending).map(({ change }) => change.id);
      expect(offered).not.toContain(uuid);
      // What the stream has takes its place, whatever the version that was written.
      expect(good && (await store.outbox.adopt([good], START + 1))).toBe(1);
      expect((await snapshot()).get(uuid)).toEqual(good);
      expect(await store.endpoints.update(MERCHANT, uuid, { description: 'mine' }, BY)).toMatchObject({
        kind: 'ok',
      });
    });

    it('are deleted all the same: that sends nothing anywhere', async () => {
      const uuid = await create();
      await place.write(`UPDATE endpoint SET url = 'https://evil.example/' WHERE uuid = '${uuid}'`);
      expect(await store.endpoints.remove(MERCHANT, uuid, BY)).toMatchObject({ kind: 'ok' });
      expect(verdictOf((await snapshot()).get(uuid))).toBe('valid');
    });

    it.each([
      ['its state', `state = 'paused'`],
      ['its entitlement', 'sender_account_details = 1'],
      ['its version', 'version = 70'],
    ])('of a merchant are no base for a change once somebody has changed %s', async (_what, set) => {
      const good = (await snapshot()).get(MERCHANT);
      await place.write(`UPDATE merchant SET ${set} WHERE merchant_id = '${MERCHANT}'`);
      await expect(store.merchants.update(MERCHANT, { name: 'B' })).rejects.toThrow(
        'changed in the database',
      );
      expect(good && (await store.outbox.adopt([good], START))).toBe(1);
      expect((await snapshot()).get(MERCHANT)).toEqual(good);
      expect(await store.merchants.update(MERCHANT, { name: 'B' })).toMatchObject({ name: 'B' });
    });

    it('get the seals of a new key, deleted ones too, and need the old key no more', async () => {
      const [uuid, gone] = [await create(), await create()];
      await store.endpoints.remove(MERCHANT, gone, BY);
      const before = await snapshot();
      addKey(ringFile);
      ring.reread();
      expect(await sealAll()).toEqual({ sealed: 3, refused: [] });
      expect(await sealAll()).toEqual({ sealed: 0, refused: [] });
      expect(await store.sealings.recordCounts()).toEqual([{ keyId: ring.active, records: 3 }]);
      removeKey(ringFile, 'k1');
      const after = await snapshot();
      for (const id of [MERCHANT, uuid, gone]) {
        expect([id, verdictOf(after.get(id), KeyRing.read(ringFile))]).toEqual([id, 'valid']);
        expect(after.get(id)?.version).toBe((before.get(id)?.version ?? 0) + 1);
      }
      const offered = (await store.outbox.pending(100)).map(({ change }) => change);
      expect(offered.slice(-3).map((change) => verdictOf(change, KeyRing.read(ringFile)))).toEqual(
        Array(3).fill('valid'),
      );
    });

    it('without a seal are refused, whoever sealed them before, and a new key does not seal them', async () => {
      const [uuid, sibling] = [await create(), await create()];
      await place.write('UPDATE merchant SET seal_key_id = NULL, seal_version = NULL, seal_mac = NULL');
      await place.write(
        `UPDATE endpoint SET seal_key_id = NULL, seal_version = NULL, seal_mac = NULL WHERE uuid = '${uuid}'`,
      );
      await place.write(`UPDATE endpoint SET version = version + 1 WHERE uuid = '${sibling}'`);
      const change = (id: string) => store.endpoints.update(MERCHANT, id, { description: 'b' }, BY);
      await expect(change(uuid)).rejects.toThrow('unsealed');
      await expect(change(sibling)).rejects.toThrow('stale');
      await expect(store.merchants.update(MERCHANT, { state: 'paused' })).rejects.toThrow('unsealed');
      expect(await store.sealings.recordCounts()).toEqual([{ keyId: 'k1', records: 1 }]);
      addKey(ringFile);
      ring.reread();
      const refused = [`merchant:${MERCHANT}`, `endpoint:${uuid}`, `endpoint:${sibling}`];
      expect(await sealAll()).toEqual({ sealed: 0, refused });
    });

    it('are offered again with versions above those that are refused, where these leave room', async () => {
      const [uuid, sibling] = [await create(), await create()];
      const before = (await store.outbox.pending(100)).length;
      const kind = 'endpoint';
      const records = [
        { kind, id: uuid, above: 900 },
        { kind, id: sibling, above: Number.MAX_SAFE_INTEGER - 1 },
        { kind, id: randomUUID(), above: 5 },
      ] as const;
      expect(await store.outbox.addAbove(records)).toBe(1);
      const offered = (await store.outbox.pending(100)).slice(before).map(({ change }) => change);
      expect(offered.map((change) => [change.id, change.version, verdictOf(change)])).toEqual([
        [uuid, 901, 'valid'],
      ]);
      expect((await store.endpoints.get(MERCHANT, uuid))?.version).toBe(901);
    });

    it('are not made or changed by a process without the key ring, but for an endpoint that only fails', async () => {
      const uuid = await create();
      await store.close();
      store = await place.open(null);
      const update = store.endpoints.update(MERCHANT, uuid, { url: 'https://example.com/other' }, BY);
      await expect(update).rejects.toThrow('needs the key ring');
      await expect(store.merchants.update(MERCHANT, { state: 'paused' })).rejects.toThrow('HOOKRAIL_KEYRING');
      const another = { merchantId: 'another', name: 'B', senderAccountDetails: false };
      await expect(store.merchants.create(another)).rejects.toThrow('needs the key ring');
      expect(await store.merchants.get('another')).toBeUndefined();
      await expect(sealAll()).rejects.toThrow('HOOKRAIL_KEYRING');
    });
  });
}
