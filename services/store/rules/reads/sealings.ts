import type { SealedSecret } from '../../../domain/endpoint.ts';
import type { SealedThing, Sealings } from '../../maintenance.ts';
import { parseSealingCursor } from '../../rows/sealing-cursor.ts';
import type { Statements } from '../../sql/statements.ts';
import { PAGE_MAX } from './page.ts';

/* Reads of what the key ring has sealed, by key. Endpoints are walked by row number, responses by scope. */

/** The first part of the names of the columns that have a sealed value of an endpoint. */
export const SECRET_COLUMNS = { endpoint: 'secret', prepared: 'prepared', headers: 'headers' } as const;
type SecretKind = keyof typeof SECRET_COLUMNS;

type SealCount = Awaited<ReturnType<Sealings['counts']>>[number];
type Found = SealedThing & { readonly cursor: string };

export async function sealCounts({ dialect, rows }: Statements, now: number): ReturnType<Sealings['counts']> {
  const key = dialect.answerKeyId;
  const found = await rows<{ kind: 'endpoints' | 'answers'; keyId: string; count: number }>(
    `SELECT 'endpoints' AS kind, "keyId", count(*) AS count FROM (
       SELECT secret_key_id AS "keyId" FROM endpoint WHERE deleted_at IS NULL
       UNION ALL SELECT prepared_key_id FROM endpoint
       WHERE deleted_at IS NULL AND prepared_key_id <> secret_key_id
       UNION ALL SELECT headers_key_id FROM endpoint
       WHERE deleted_at IS NULL AND headers_key_id <> secret_key_id
       AND (prepared_key_id IS NULL OR headers_key_id <> prepared_key_id)) AS secrets GROUP BY "keyId"
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

async function secretsNotSealedWith(
  rows: Statements['rows'],
  kind: SecretKind,
  [after, keyId, limit]: readonly [number, string, number],
): Promise<Found[]> {
  const column = SECRET_COLUMNS[kind];
  const found = await rows<SealedSecret & { readonly seq: number; readonly uuid: string }>(
    `SELECT seq, uuid, ${column}_key_id AS "keyId", ${column}_ciphertext AS ciphertext FROM endpoint
     WHERE seq > $1 AND ${column}_key_id <> $2 AND deleted_at IS NULL ORDER BY seq LIMIT $3`,
    [after, keyId, limit],
  );
  return found.map(({ seq, uuid, keyId, ciphertext }) => ({
    kind,
    id: uuid,
    sealed: { keyId, ciphertext },
    cursor: `${kind}:${seq}`,
  }));
}

export async function notSealedWith(
  { dialect, rows }: Statements,
  ...[keyId, options]: Parameters<Sealings['notSealedWith']>
): Promise<Found[]> {
  const { scope, ...places } = parseSealingCursor(options.after);
  const limit = Math.min(options.limit, PAGE_MAX);
  const found: Found[] = [];
  for (const kind of ['endpoint', 'prepared', 'headers'] as const) {
    const after = places[kind];
    if (after !== null)
      found.push(...(await secretsNotSealedWith(rows, kind, [after, keyId, limit - found.length])));
    if (found.length === limit) return found;
  }
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
