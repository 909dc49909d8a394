import type { SealedSecret } from '../../../domain/endpoint.ts';
import type { SealedThing, Sealings } from '../../maintenance.ts';
import { parseSealingCursor } from '../../rows/sealing-cursor.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from '../page.ts';

/* Reads of what the key ring has sealed, by key. Endpoints are walked by row number, responses by scope. */

type SealCount = Awaited<ReturnType<Sealings['counts']>>[number];
type Found = SealedThing & { readonly cursor: string };

export async function sealCounts({ dialect, rows }: Statements, now: number): ReturnType<Sealings['counts']> {
  const key = dialect.answerKeyId;
  const found = await rows<{ kind: 'endpoints' | 'answers'; keyId: string; count: number }>(
    `SELECT 'endpoints' AS kind, secret_key_id AS "keyId", count(*) AS count FROM endpoint
     WHERE deleted_at IS NULL GROUP BY secret_key_id
     UNION ALL SELECT 'answers', ${key}, count(*) FROM answer
     WHERE expires_at > $1 AND ${key} IS NOT NULL GROUP BY 2`,
    [Math.floor(now)],
  );
  const counts = new Map<string, SealCount>();
  for (const { kind, keyId, count } of found) {
    const known = counts.get(keyId) ?? { keyId, endpoints: 0, answers: 0 };
    counts.set(keyId, { ...known, [kind]: count });
  }
  return [...counts.values()];
}

/** Counts records by the key of their seal. */
export function recordCounts({ rows }: Statements): ReturnType<Sealings['recordCounts']> {
  return rows(
    `SELECT "keyId", count(*) AS records FROM (
       SELECT seal_key_id AS "keyId" FROM merchant UNION ALL SELECT seal_key_id FROM endpoint) AS records
     WHERE "keyId" IS NOT NULL GROUP BY "keyId" ORDER BY "keyId"`,
  );
}

export async function notSealedWith(
  { dialect, rows }: Statements,
  ...[keyId, options]: Parameters<Sealings['notSealedWith']>
): Promise<Found[]> {
  const { endpoint, scope } = parseSealingCursor(options.after);
  const limit = Math.min(options.limit, PAGE_MAX);
  const endpoints =
    endpoint === null
      ? []
      : await rows<SealedSecret & { readonly seq: number; readonly uuid: string }>(
          `SELECT seq, uuid, secret_key_id AS "keyId", secret_ciphertext AS ciphertext FROM endpoint
           WHERE seq > $1 AND secret_key_id <> $2 AND deleted_at IS NULL ORDER BY seq LIMIT $3`,
          [endpoint, keyId, limit],
        );
  const found: Found[] = endpoints.map((row) => ({
    kind: 'endpoint',
    id: row.uuid,
    sealed: { keyId: row.keyId, ciphertext: row.ciphertext },
    cursor: `endpoint:${row.seq}`,
  }));
  if (found.length === limit) return found;
  const answers = await rows<{ readonly scope: string; readonly sealed: string }>(
    `SELECT scope, sealed FROM answer WHERE scope > $1 AND expires_at > $2 AND ${dialect.answerKeyId} <> $3
     ORDER BY scope LIMIT $4`,
    [scope, Math.floor(options.now), keyId, limit - found.length],
  );
  for (const row of answers) {
    const sealed = JSON.parse(row.sealed) as SealedSecret;
    found.push({ kind: 'answer', id: row.scope, sealed, cursor: `answer:${row.scope}` });
  }
  return found;
}
