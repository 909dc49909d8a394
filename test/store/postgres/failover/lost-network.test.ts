/**
 * Guarantee: on a network that was cut without closing connections, calls end in time, and the next ones use new connections. When
 * that was during a commit, the caller hears that the result is not known; the journal's position and the
 * Idempotency-Key tell what became of it.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { openPostgresStore } from '../../../../services/store/postgres/postgres-store.ts';
import { type Store, StoreUnavailable } from '../../../../services/store/store.ts';
import { TEST_POLICY } from '../../../contract/store-place.ts';
import { eventually } from '../../../support/eventually.ts';
import { TcpLine } from '../../../support/faults/tcp-line.ts';
import { describeWithPostgres } from '../../../support/postgres/suites.ts';
import {
  createEndpoint,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  newEndpoint,
  OPERATOR,
  routed,
} from '../../../support/records/journal-entries.ts';
import { TEST_RING } from '../../../support/records/key-ring.ts';
import { type PostgresPlace, postgresPlace } from '../postgres-place.ts';

/** A call that gets no answer ends after ten seconds; the server ends its transaction after as many. */
const TEST_MS = 90_000;
const MERCHANT = 'a-merchant';
const at = (first: number, last = first) => ({ partition: 'p', first, last });

await describeWithPostgres('on a network that was cut without closing connections', (createDatabase) => {
  let place: PostgresPlace;
  let line: TcpLine;
  /** Behind the line. */
  let store: Store;
  let beside: Store;
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
    const url = new URL(place.database.url);
    line = await TcpLine.open(Number(url.port));
    url.hostname = '127.0.0.1';
    url.port = `${line.port}`;
    store = await openPostgresStore({
      ...{ address: parsePostgresUrl(url.href, undefined), clock: systemClock(), connectionsMax: 3 },
      ...{ healthPolicy: TEST_POLICY, keyRing: TEST_RING, leafMs: HOUR_MS },
    });
    beside = await place.open();
  });
  afterEach(async () => {
    // Connections that are silent do not hold up the end.
    await Promise.all([store.close(), beside.close()]);
    line.close();
    await place.dispose();
  });

  it(
    'calls reject, and the next ones use new connections',
    async () => {
      const uuid = randomUUID();
      await createEndpoint(store, MERCHANT, uuid);
      // Several connections are open and idle, all of which are silent from now on.
      await Promise.all([1, 2, 3].map(() => store.endpoints.get(MERCHANT, uuid)));
      line.silence();
      const cut = store.endpoints.get(MERCHANT, uuid);
      await expect(cut).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(cut).rejects.toMatchObject({ state: 'away' });
      expect(store.status().reachable).toBe(false);
      line.heal();
      expect(await store.endpoints.get(MERCHANT, uuid)).toMatchObject({ uuid });
      await eventually('it is reachable', () => store.status().reachable);
    },
    TEST_MS,
  );

  for (const lost of ['answer', 'request'] as const)
    it(
      `a change whose commit has lost its ${lost} is reported as unknown, and its Idempotency-Key shows the result`,
      async () => {
        const now = Date.now();
        // It makes the leaf of today, in a transaction of its own.
        await createEndpoint(store, MERCHANT, randomUUID(), {}, now);
        const scope = 'key 1';
        const claim = await store.answers.claim(scope, now);
        if (claim.kind !== 'claimed') throw new Error(claim.kind);
        const { token } = claim;
        const answer = {
          scope,
          token,
          requestHash: 'h',
          status: 201,
          sealed: '{}',
          expiresAt: now + HOUR_MS,
        };
        const uuid = randomUUID();
        const isLost = line.loseNext(lost, 'COMMIT');
        const created = store.endpoints.create(newEndpoint(MERCHANT, uuid), {
          ...{ at: now, actor: OPERATOR, quota: 100 },
          answer,
        });
        created.catch(() => {});
        await isLost;
        await expect(created).rejects.toMatchObject({ name: 'StoreUnavailable', state: 'unknown' });
        await expect(created).rejects.toThrow('whether the change was kept is not known');
        // As the API does; it waits for the transaction, and must not end the claim of a change that was kept.
        await store.answers.release(scope, token).catch(() => {});
        const again = await eventually(
          'the transaction has ended',
          () => store.answers.claim(scope, now).catch(() => null),
          TEST_MS,
        );
        const isKept = lost === 'answer';
        expect(again).toMatchObject(isKept ? { kind: 'stored', status: 201 } : { kind: 'claimed' });
        expect(await store.endpoints.get(MERCHANT, uuid)).toEqual(
          isKept ? expect.objectContaining({ uuid }) : undefined,
        );
      },
      TEST_MS,
    );

  for (const lost of ['answer', 'request'] as const)
    it(
      `a journal batch whose commit has lost its ${lost} is recorded once`,
      async () => {
        const endpointId = randomUUID();
        await createEndpoint(store, MERCHANT, endpointId);
        const batch = (n: number) => [
          routed(eventNumber(MERCHANT, n), [endpointId]),
          failed(head(eventNumber(MERCHANT, n), endpointId)),
        ];
        await store.log.applyJournal([{ ...at(1, 2), entries: batch(1) }]);
        const isLost = line.loseNext(lost, 'COMMIT');
        const next = { ...at(3, 4), after: 2 };
        const recorded = store.log.applyJournal([{ ...next, entries: batch(2) }]);
        recorded.catch(() => {});
        await isLost;
        await expect(recorded).rejects.toMatchObject({ state: 'unknown' });
        // As the journal's consumer does. Another recorder may have the partition by then.
        await eventually(
          'it is recorded',
          () =>
            beside.log.applyJournal([{ ...next, entries: batch(2) }]).then(
              () => true,
              () => false,
            ),
          TEST_MS,
        );
        expect(await store.log.positionOf('p')).toBe(4);
        expect((await store.endpoints.get(MERCHANT, endpointId))?.failureCount).toBe(2);
      },
      TEST_MS,
    );
});
