import { apiKeyHint, hashApiKey, newApiKey } from '../../../services/domain/api-key.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { fanOut } from '../../../services/router/fan-out.ts';
import type { PublishRights } from '../../../services/store/store.ts';
import type { TestApi } from './test-api.ts';

/** Creates a producer's key in the store and returns it with its id. */
export async function producerKey(
  { store }: Pick<TestApi, 'store'>,
  rights: PublishRights = {},
): Promise<{ readonly keyId: string; readonly key: string }> {
  const key = newApiKey('producer', 'sandbox', systemRandom.bytes(32));
  const keyId = systemRandom.uuid();
  await store.keys.create({
    ...{ keyId, kind: 'producer', merchantId: null, hash: hashApiKey(key), hint: apiKeyHint(key) },
    ...{ name: null, createdAt: Date.now(), revokedAt: null, lastUsedAt: null },
    ...rights,
  });
  return { keyId, key };
}

/** Routes the api's events as a router does. */
export async function routeEvents({ broker, directory }: TestApi): Promise<void> {
  const acceptsSimulated = true;
  await broker.events.consume(
    (received) => fanOut(received, { directory, acceptsSimulated, now: Date.now() }),
    { inFlightMax: 100 },
  );
}

/** Records the api's journal as a recorder does. */
export async function recordJournal({ broker, store }: TestApi): Promise<void> {
  await broker.journal.consume(
    async (batch) => store.log.applyJournal([batch]),
    async (partition) => store.log.positionOf(partition),
    { batchMax: 100 },
  );
}
