import { createHash, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { HOUR_MS, OPERATOR, START } from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const DAY_MS = 24 * HOUR_MS;
const PLATFORM = { kind: 'api_key', keyId: 'plk' } as const;

const hashOf = (token: string) => new Uint8Array(createHash('sha256').update(token).digest());

function newSession(given: { readonly merchantId?: string; readonly createdAt?: number } = {}) {
  const { merchantId = 'a-merchant', createdAt = START } = given;
  const session = {
    sessionId: randomUUID(),
    merchantId,
    access: 'write' as const,
    person: 'Ann Ägäis',
    refreshUrl: 'https://platform.example/webhooks',
    createdAt,
    linkExpiresAt: createdAt + HOUR_MS,
  };
  return { session, created: { ...session, linkHash: hashOf(session.sessionId), lifeMs: 8 * HOUR_MS } };
}

export function portalSessionsContract(test: StoreUnderTest): void {
  it('opens a session with its link once, and finds it by its token until it is forgotten', async () => {
    const { session, created } = newSession();
    await test.store.portalSessions.create(created, PLATFORM);
    const spend = (token: string, at = START + 5) =>
      test.store.portalSessions.open(created.linkHash, { tokenHash: hashOf(token), at });
    const opened = { ...session, openedAt: START + 5, expiresAt: START + 5 + 8 * HOUR_MS, revokedAt: null };
    const both = await Promise.all([spend('one'), spend('other')]);
    expect(both.filter((each) => each !== undefined)).toEqual([opened]);
    const winner = both[0] === undefined ? 'other' : 'one';
    const loser = winner === 'one' ? 'other' : 'one';
    await test.crashAndReopen();
    const { portalSessions } = test.store;
    expect(await portalSessions.findByToken(hashOf(winner))).toEqual(opened);
    expect(await portalSessions.findByToken(hashOf(loser))).toBeUndefined();
    expect(await spend('a third')).toBeUndefined();
    // Ended, and still told apart from one that never was.
    await portalSessions.create(newSession({ createdAt: START + DAY_MS }).created, PLATFORM);
    expect(await portalSessions.findByToken(hashOf(winner))).toEqual(opened);
    await portalSessions.create(newSession({ createdAt: START + 31 * DAY_MS }).created, PLATFORM);
    expect(await portalSessions.findByToken(hashOf(winner))).toBeUndefined();
  });

  it('opens none with an unknown link, one that has expired, or one that was revoked', async () => {
    const { portalSessions } = test.store;
    const { session, created } = newSession();
    await portalSessions.create(created, PLATFORM);
    const options = { tokenHash: hashOf('token'), at: START + HOUR_MS };
    expect(await portalSessions.open(created.linkHash, options)).toBeUndefined();
    expect(await portalSessions.open(hashOf('unknown'), { ...options, at: START })).toBeUndefined();
    const { merchantId, sessionId } = session;
    const by = { at: START + 1, actor: OPERATOR };
    expect(await portalSessions.revoke({ merchantId: 'another', sessionId }, by)).toBe(0);
    expect(await portalSessions.revoke({ merchantId, sessionId }, by)).toBe(1);
    expect(await portalSessions.revoke({ merchantId, sessionId }, by)).toBe(0);
    expect(await portalSessions.open(created.linkHash, { ...options, at: START + 2 })).toBeUndefined();
    expect(await portalSessions.findByToken(options.tokenHash)).toBeUndefined();
  });

  it('lists what is open or may be opened, ends all of a merchant, and writes who did what to the audit', async () => {
    const { portalSessions, audit } = test.store;
    const [first, second, stranger] = [newSession(), newSession(), newSession({ merchantId: 'another' })];
    for (const { created } of [first, second, stranger]) await portalSessions.create(created, PLATFORM);
    const token = { tokenHash: hashOf('token'), at: START + 5 };
    await portalSessions.open(first.created.linkHash, token);
    const listed = async (at: number) =>
      (await portalSessions.list('a-merchant', { at, limit: 10 })).map(({ sessionId }) => sessionId);
    const [one, two] = [first.session.sessionId, second.session.sessionId];
    expect(await listed(START + 6)).toEqual([two, one]);
    expect(await listed(START + 2 * HOUR_MS)).toEqual([one]);
    expect(await listed(START + 9 * HOUR_MS)).toEqual([]);
    const by = { at: START + 7, actor: OPERATOR };
    expect(await portalSessions.revoke({ merchantId: 'a-merchant' }, by)).toBe(2);
    expect(await portalSessions.findByToken(token.tokenHash)).toMatchObject({ revokedAt: START + 7 });
    expect(await listed(START + 8)).toEqual([]);
    expect(await portalSessions.list('another', { at: START, limit: 10 })).toHaveLength(1);
    const entries = await audit.list({ limit: 10, merchantId: 'a-merchant' });
    const person = { kind: 'portal', sessionId: one, person: 'Ann Ägäis' };
    const about = ({ action, actor, details }: (typeof entries)[number]) => [
      action,
      actor,
      details.sessionId,
    ];
    expect(entries.map(about).sort()).toEqual(
      [
        ['portal_session.create', PLATFORM, one],
        ['portal_session.create', PLATFORM, two],
        ['portal_session.open', person, one],
        ['portal_session.revoke', OPERATOR, one],
        ['portal_session.revoke', OPERATOR, two],
      ].sort(),
    );
    expect(JSON.stringify(entries)).not.toContain(Buffer.from(first.created.linkHash).toString('hex'));
  });
}
