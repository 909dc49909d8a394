import type { SealedSecret } from '../../../domain/endpoint.ts';
import type { Actor } from '../../change.ts';
import type { Resealed, SealedThing, Sealings } from '../../maintenance.ts';
import { type EndpointRow, toEndpoint, toEndpointChange } from '../../rows/endpoint-rows.ts';
import { isSound } from '../../rows/record-seals.ts';
import { parseSealingCursor } from '../../rows/sealing-cursor.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import { addToAudit, addToOutbox } from '../management/outbox-writes.ts';
import { SELECT_ENDPOINT } from '../management/select-endpoint.ts';
import { recordSealings } from './record-sealing.ts';

type SealCount = Awaited<ReturnType<Sealings['counts']>>[number];
type Found = SealedThing & { readonly cursor: string };

const PAGE_MAX = 1000;

/** Values sealed by the key ring. Endpoints are walked by row number, responses by scope. */
export function makeSealings(database: PostgresDatabase): Sealings {
  return {
    counts: (now) =>
      database.read(async ({ rows }) => {
        const counts = new Map<string, SealCount>();
        const found = await rows<{ kind: 'endpoints' | 'answers'; keyId: string; count: number }>(COUNTS, [
          Math.floor(now),
        ]);
        for (const { kind, keyId, count } of found) {
          const known = counts.get(keyId) ?? { keyId, endpoints: 0, answers: 0 };
          counts.set(keyId, { ...known, [kind]: count });
        }
        return [...counts.values()];
      }),
    notSealedWith: (keyId, options) => notSealedWith(database, keyId, options),
    replace: (things, options) => database.transaction((tx) => replace(tx, things, options)),
    ...recordSealings(database),
  };
}

/** The key of a response; null where it is no JSON, and so was not sealed by the key ring. */
const ANSWER_KEY = `CASE WHEN sealed LIKE '{%"keyId"%}' THEN sealed::json ->> 'keyId' END`;

const COUNTS = `SELECT 'endpoints' AS kind, secret_key_id AS "keyId", count(*) AS count FROM endpoint
  WHERE deleted_at IS NULL GROUP BY secret_key_id
  UNION ALL SELECT 'answers', ${ANSWER_KEY}, count(*) FROM answer
  WHERE expires_at > $1 AND ${ANSWER_KEY} IS NOT NULL GROUP BY 2`;

const ENDPOINTS = `SELECT seq, uuid, secret_key_id AS "keyId", secret_ciphertext AS ciphertext FROM endpoint
  WHERE seq > $1 AND secret_key_id <> $2 AND deleted_at IS NULL ORDER BY seq LIMIT $3`;

const ANSWERS = `SELECT scope, sealed FROM answer WHERE scope > $1 AND expires_at > $2
  AND ${ANSWER_KEY} <> $3 ORDER BY scope LIMIT $4`;

function notSealedWith(
  database: PostgresDatabase,
  keyId: string,
  options: Parameters<Sealings['notSealedWith']>[1],
): Promise<Found[]> {
  const { endpoint, scope } = parseSealingCursor(options.after);
  const limit = Math.min(options.limit, PAGE_MAX);
  return database.read(async ({ rows }) => {
    const endpoints =
      endpoint === null
        ? []
        : await rows<SealedSecret & { readonly seq: number; readonly uuid: string }>(ENDPOINTS, [
            endpoint,
            keyId,
            limit,
          ]);
    const found: Found[] = endpoints.map((row) => ({
      kind: 'endpoint',
      id: row.uuid,
      sealed: { keyId: row.keyId, ciphertext: row.ciphertext },
      cursor: `endpoint:${row.seq}`,
    }));
    if (found.length === limit) return found;
    const answers = await rows<{ readonly scope: string; readonly sealed: string }>(ANSWERS, [
      scope,
      Math.floor(options.now),
      keyId,
      limit - found.length,
    ]);
    for (const row of answers) {
      const sealed = JSON.parse(row.sealed) as SealedSecret;
      found.push({ kind: 'answer', id: row.scope, sealed, cursor: `answer:${row.scope}` });
    }
    return found;
  });
}

/**
 * Replaces secrets with newly sealed ones. Compare and set by the sealed text itself: a rotation in between has changed
 * that text, and wins; any other change of the endpoint does not matter.
 */
async function replace(
  tx: Transaction,
  things: readonly Resealed[],
  { at, actor }: { readonly at: number; readonly actor: Actor },
): Promise<{ readonly endpoints: number; readonly answers: number }> {
  let endpoints = 0;
  let answers = 0;
  // In one order, so that two that replace do not wait in a circle.
  for (const thing of [...things].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    if (thing.kind === 'endpoint') endpoints += await replaceEndpoint(tx, thing);
    else answers += await replaceAnswer(tx, thing);
  }
  if (endpoints + answers > 0) {
    const details = { sealedWith: things[0]?.resealed.keyId, endpoints, answers };
    await addToAudit(tx, { at, actor, merchantId: null, action: 'keyring.rewrap', details });
  }
  return { endpoints, answers };
}

async function replaceEndpoint(tx: Transaction, { id, sealed, resealed }: Resealed): Promise<number> {
  const stored = await tx.first<EndpointRow>(`${SELECT_ENDPOINT} AND e.uuid = $1 FOR UPDATE OF e`, [id]);
  if (!stored || !isSound(tx.seals, toEndpointChange({ ...stored, deleted_at: null }))) return 0;
  // Not updated_at, which merchants see: the secret is the same.
  const replaced = await tx.change(
    `UPDATE endpoint SET secret_key_id = $2, secret_ciphertext = $3, version = next_version(version)
     WHERE uuid = $1 AND secret_key_id = $4 AND secret_ciphertext = $5 AND deleted_at IS NULL`,
    [id, resealed.keyId, resealed.ciphertext, sealed.keyId, sealed.ciphertext],
  );
  if (replaced === 0) return 0;
  const row = await tx.first<EndpointRow>(`${SELECT_ENDPOINT} AND e.uuid = $1`, [id]);
  if (!row) throw new Error(`endpoint ${id} is gone within its own change`);
  await addToOutbox(tx, { kind: 'endpoint', id, version: row.version, value: toEndpoint(row) });
  return 1;
}

function replaceAnswer(tx: Transaction, { id, sealed, resealed }: Resealed): Promise<number> {
  return tx.change('UPDATE answer SET sealed = $3 WHERE scope = $1 AND sealed = $2', [
    id,
    JSON.stringify(sealed),
    JSON.stringify(resealed),
  ]);
}
