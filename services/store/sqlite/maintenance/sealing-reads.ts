import type { Database } from 'better-sqlite3';
import type { SealedSecret } from '../../../domain/endpoint.ts';
import { SEALED_MARK_ID } from '../../../domain/seals/record-seals.ts';
import type { SealedThing, Sealings } from '../../maintenance.ts';
import { parseSealingCursor } from '../../rows/sealing-cursor.ts';

type SealCount = Awaited<ReturnType<Sealings['counts']>>[number];
type NotSealedOptions = Parameters<Sealings['notSealedWith']>[1];

const PAGE_MAX = 1000;

/** Reads values sealed by the key ring, by key. Endpoints are walked by row number, responses by scope. */
export class SealingReads {
  readonly #endpointCounts;
  readonly #answerCounts;
  readonly #endpoints;
  readonly #answers;
  readonly #recordCounts;
  readonly #mark;

  constructor(db: Database) {
    this.#endpointCounts = db.prepare(
      `SELECT secret_key_id AS keyId, count(*) AS count FROM endpoint WHERE deleted_at IS NULL
       GROUP BY secret_key_id`,
    );
    this.#mark = db.prepare('SELECT 1 FROM endpoint WHERE uuid = ?');
    this.#recordCounts = db.prepare(
      `SELECT keyId, count(*) AS records FROM (
         SELECT iif(seal_version = version, seal_key_id, NULL) AS keyId FROM merchant
         UNION ALL SELECT iif(seal_version = version, seal_key_id, NULL) FROM endpoint)
       GROUP BY keyId ORDER BY keyId`,
    );
    this.#answerCounts = db.prepare(
      `SELECT sealed ->> '$.keyId' AS keyId, count(*) AS count FROM answer
       WHERE expires_at > ? AND json_valid(sealed) GROUP BY 1`,
    );
    this.#endpoints = db.prepare(
      `SELECT seq, uuid, secret_key_id AS keyId, secret_ciphertext AS ciphertext FROM endpoint
       WHERE seq > ? AND secret_key_id <> ? AND deleted_at IS NULL ORDER BY seq LIMIT ?`,
    );
    this.#answers = db.prepare(
      `SELECT scope, sealed FROM answer WHERE scope > ? AND expires_at > ? AND json_valid(sealed)
       AND sealed ->> '$.keyId' <> ? ORDER BY scope LIMIT ?`,
    );
  }

  counts(now: number): SealCount[] {
    const counts = new Map<string, SealCount>();
    const count = (rows: unknown[], kind: 'endpoints' | 'answers') => {
      for (const row of rows as { keyId: string; count: number }[]) {
        const known = counts.get(row.keyId) ?? { keyId: row.keyId, endpoints: 0, answers: 0 };
        counts.set(row.keyId, { ...known, [kind]: row.count });
      }
    };
    count(this.#endpointCounts.all(), 'endpoints');
    count(this.#answerCounts.all(Math.floor(now)), 'answers');
    return [...counts.values()];
  }

  recordCounts(): Awaited<ReturnType<Sealings['recordCounts']>> {
    return this.#recordCounts.all() as Awaited<ReturnType<Sealings['recordCounts']>>;
  }

  isComplete(): boolean {
    return this.#mark.get(SEALED_MARK_ID) !== undefined;
  }

  notSealedWith(keyId: string, options: NotSealedOptions): (SealedThing & { readonly cursor: string })[] {
    const { endpoint, scope } = parseSealingCursor(options.after);
    const limit = Math.min(options.limit, PAGE_MAX);
    const endpoints =
      endpoint === null ? [] : (this.#endpoints.all(endpoint, keyId, limit) as EndpointSealed[]);
    const found: (SealedThing & { readonly cursor: string })[] = endpoints.map((row) => ({
      kind: 'endpoint',
      id: row.uuid,
      sealed: { keyId: row.keyId, ciphertext: row.ciphertext },
      cursor: `endpoint:${row.seq}`,
    }));
    if (found.length === limit) return found;
    const answers = this.#answers.all(scope, Math.floor(options.now), keyId, limit - found.length);
    for (const row of answers as { scope: string; sealed: string }[]) {
      const sealed = JSON.parse(row.sealed) as SealedSecret;
      found.push({ kind: 'answer', id: row.scope, sealed, cursor: `answer:${row.scope}` });
    }
    return found;
  }
}

interface EndpointSealed extends SealedSecret {
  readonly seq: number;
  readonly uuid: string;
}
