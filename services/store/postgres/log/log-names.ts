import type { NameNumbers } from '../../log/log-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { requireReconciled } from '../client/outbox-rows.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { RecentMap } from './recent-map.ts';

/** Names that are remembered: of merchants, of endpoints, and of endpoints by their numbers. */
const NAMES_MAX = 100_000;

/**
 * Numbers merchants that have none ($1). A row that exists must not reach the insert: it would take a number of the
 * sequence every time, until there are none left.
 */
export const ADD_MERCHANTS = `INSERT INTO log_merchant (merchant_id) SELECT id FROM unnest($1::text[]) AS id
  WHERE NOT EXISTS (SELECT 1 FROM log_merchant WHERE merchant_id = id) ON CONFLICT DO NOTHING`;
const ADD_ENDPOINTS = `INSERT INTO log_endpoint (endpoint_id, merchant)
  SELECT id, of FROM unnest($1::text[], $2::int[]) AS u (id, of)
  WHERE NOT EXISTS (SELECT 1 FROM log_endpoint WHERE endpoint_id = id) ON CONFLICT DO NOTHING`;

interface EndpointName {
  readonly seq: number;
  readonly merchant: number;
}

/**
 * Merchants and endpoints as small numbers, which every row of the log uses. A number never changes, so what was used
 * recently is remembered.
 */
export class LogNames {
  readonly #database: PostgresDatabase;
  readonly #merchants = new RecentMap<string, number>(NAMES_MAX);
  readonly #merchantIds = new RecentMap<number, string>(NAMES_MAX);
  readonly #endpoints = new RecentMap<string, EndpointName>(NAMES_MAX);
  readonly #endpointIds = new RecentMap<number, string>(NAMES_MAX);

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Gives these a number that have none. `endpoints`: with their merchants. */
  async add(merchants: Iterable<string>, endpoints: ReadonlyMap<string, string>): Promise<void> {
    const newMerchants = [...new Set(merchants)].filter((id) => this.#merchants.get(id) === undefined).sort();
    const newEndpoints = [...endpoints.keys()].filter((id) => this.#endpoints.get(id) === undefined).sort();
    if (newMerchants.length + newEndpoints.length === 0) return;
    // A transaction of its own: recorders that add the same name wait for it, and for nothing else.
    const added = await this.#database.transaction(async (tx) => {
      const { rows, change } = tx;
      await rows('SET LOCAL synchronous_commit = on');
      // Before, the number of a lost name would be given again.
      await requireReconciled(tx);
      await change(ADD_MERCHANTS, [newMerchants]);
      const ofMerchants = await rows<{ id: string; seq: number }>(
        'SELECT merchant_id AS id, seq FROM log_merchant WHERE merchant_id = ANY($1::text[])',
        [newMerchants],
      );
      const added = new Map(ofMerchants.map(({ id, seq }) => [id, seq]));
      const seqOf = (merchantId = '') => added.get(merchantId) ?? this.#merchants.get(merchantId);
      await change(ADD_ENDPOINTS, [newEndpoints, newEndpoints.map((id) => seqOf(endpoints.get(id)))]);
      const ofEndpoints = await rows<EndpointName & { id: string }>(
        'SELECT endpoint_id AS id, seq, merchant FROM log_endpoint WHERE endpoint_id = ANY($1::text[])',
        [newEndpoints],
      );
      return { ofMerchants, ofEndpoints };
    });
    // Only what is committed: after a crash, another process may give these numbers to other names.
    for (const { id, seq } of added.ofMerchants) this.#rememberMerchant(id, seq);
    for (const { id, ...name } of added.ofEndpoints) this.#remember(id, name);
  }

  /** The numbers that were added. */
  readonly numbers: NameNumbers = {
    merchant: (merchantId) => known(this.#merchants.get(merchantId), merchantId),
    endpoint: (endpointId) => known(this.#endpoints.get(endpointId)?.seq, endpointId),
    endpointId: (endpoint) => known(this.#endpointIds.get(endpoint), endpoint),
  };

  async merchant(merchantId: string): Promise<number | undefined> {
    const remembered = this.#merchants.get(merchantId);
    if (remembered !== undefined) return remembered;
    const row = await this.#database.read(({ first }) =>
      first<{ readonly seq: number }>('SELECT seq FROM log_merchant WHERE merchant_id = $1', [merchantId]),
    );
    if (row) this.#rememberMerchant(merchantId, row.seq);
    return row?.seq;
  }

  /** Returns the endpoint of this merchant, or of any where it is null. */
  async endpoint(merchantId: string | null, endpointId: string): Promise<number | undefined> {
    const merchant = merchantId === null ? null : await this.merchant(merchantId);
    if (merchant === undefined) return undefined;
    const found = this.#endpoints.get(endpointId) ?? (await this.#readEndpoint(endpointId));
    return merchant === null || found?.merchant === merchant ? found?.seq : undefined;
  }

  /** Reads the names of these numbers, so that `numbers.endpointId` has them. `within`: a transaction that runs. */
  async readIds(endpoints: Iterable<number>, within?: Statements): Promise<void> {
    const missing = [...new Set(endpoints)].filter((seq) => this.#endpointIds.get(seq) === undefined);
    if (missing.length === 0) return;
    const read = ({ rows }: Statements) =>
      rows<EndpointName & { id: string }>(
        'SELECT endpoint_id AS id, seq, merchant FROM log_endpoint WHERE seq = ANY($1::int[])',
        [missing],
      );
    const found = await (within ? read(within) : this.#database.read(read));
    for (const { id, ...name } of found) this.#remember(id, name);
  }

  /** Returns the merchants behind these numbers. */
  async merchantIds(merchants: Iterable<number>): Promise<(merchant: number) => string> {
    const wanted = [...new Set(merchants)];
    const missing = wanted.filter((seq) => this.#merchantIds.get(seq) === undefined);
    if (missing.length > 0) {
      const found = await this.#database.read(({ rows }) =>
        rows<{ readonly id: string; readonly seq: number }>(
          'SELECT merchant_id AS id, seq FROM log_merchant WHERE seq = ANY($1::int[])',
          [missing],
        ),
      );
      for (const { id, seq } of found) this.#rememberMerchant(id, seq);
    }
    return (merchant) => known(this.#merchantIds.get(merchant), merchant);
  }

  async #readEndpoint(endpointId: string): Promise<EndpointName | undefined> {
    const row = await this.#database.read(({ first }) =>
      first<EndpointName>('SELECT seq, merchant FROM log_endpoint WHERE endpoint_id = $1', [endpointId]),
    );
    if (row) this.#remember(endpointId, row);
    return row;
  }

  #rememberMerchant(merchantId: string, seq: number): void {
    this.#merchants.set(merchantId, seq);
    this.#merchantIds.set(seq, merchantId);
  }

  #remember(endpointId: string, name: EndpointName): void {
    this.#endpoints.set(endpointId, name);
    this.#endpointIds.set(name.seq, endpointId);
  }

  /** Forgets all: they are looked up again. */
  forget(): void {
    this.#merchants.clear();
    this.#merchantIds.clear();
    this.#endpoints.clear();
    this.#endpointIds.clear();
  }
}

function known<T>(value: T | undefined, name: string | number): T {
  if (value === undefined) throw new Error(`${name} has no name in the log: it was not added`);
  return value;
}
