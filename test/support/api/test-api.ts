import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type Api, type ApiOptions, startApi } from '../../../services/api/api.ts';
import { openSqliteBroker, type SqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { readConfig } from '../../../services/config/config.ts';
import { PLATFORM_SCOPES } from '../../../services/domain/access/platform-scopes.ts';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../services/domain/api-key.ts';
import type { CheckUrl } from '../../../services/domain/checks/endpoint-check.ts';
import { Directory } from '../../../services/domain/directory.ts';
import type { HealthPolicy } from '../../../services/domain/health.ts';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { createRing } from '../../../services/keys/keyring-file.ts';
import { newSigningKey } from '../../../services/keys/signing-keys.ts';
import { type Clock, systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { PublishedChanges } from '../../../services/relay/published-changes.ts';
import { startRelay } from '../../../services/relay/start-relay.ts';
import { Replayer, replayedDeliveries } from '../../../services/replayer/replayer.ts';
import type { ReplayPace } from '../../../services/replayer/turns.ts';
import { EndpointChecker } from '../../../services/sender/http/check/endpoint-checker.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import type { TestDatabase } from '../postgres/suites.ts';
import { HOUR_MS } from '../records/journal-entries.ts';
import { checkResponse } from './openapi-check.ts';

/** The API on real engines, for tests of its responses. It has no sender and no recorder unless a test starts them. */
export interface TestApi {
  readonly api: Api;
  readonly replayer: Replayer;
  readonly store: Store;
  readonly broker: SqliteBroker;
  readonly directory: Directory;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly registry: Registry;
  /** Log lines so far. */
  readonly logged: readonly string[];
  readonly merchantId: string;
  readonly foreignMerchantId: string;
  /** `live` is a key of the other environment. */
  readonly keys: Record<
    'own' | 'foreign' | 'revoked' | 'live' | 'producer' | 'revokedProducer' | 'platform' | 'revokedPlatform',
    string
  >;
  readonly keyIds: TestApi['keys'];
  /** Sends a request and checks the response against openapi.yaml. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** A key, or null for no Authorization header. Default: the merchant's own. */
  readonly key?: string | null;
  readonly json?: unknown;
  /** Instead of json. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields they expect and fail when they are not there.
  readonly body: any;
}

export const ENDPOINTS = '/merchant/webhook-endpoints';

export interface TestApiOptions extends Partial<ApiOptions> {
  readonly environment?: 'sandbox' | 'production';
  readonly replayPace?: Partial<ReplayPace>;
  /** The system's by default. */
  readonly clock?: Clock;
  /** By default every name has no address. */
  readonly checkUrl?: CheckUrl;
  /** The URL of an empty database: two apis share it, each on a store of its own, and requests go to them in turn. */
  readonly postgresUrl?: string;
}

const HEALTH_POLICY = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
/** Of a store on PostgreSQL. */
const CONNECTIONS_MAX = 5;

export async function startTestApi({
  environment = 'sandbox',
  replayPace,
  postgresUrl,
  clock = systemClock(),
  checkUrl = nowhere(clock),
  ...options
}: TestApiOptions = {}): Promise<TestApi> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hookrail-api-'));
  const ringFile = join(dataDir, 'keyring.json');
  createRing(ringFile, [newSigningKey('sandbox', 0)]);
  const keyRing = KeyRing.read(ringFile);
  const stores = await openStores(dataDir, { clock, keyRing, healthPolicy: HEALTH_POLICY }, postgresUrl);
  const [store] = stores;
  const broker = await openSqliteBroker({ file: join(dataDir, 'broker.db'), clock, retryScale: 1 });
  const registry = new Registry();
  const logged: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const who = await makeKeys(store, clock, environment);
  const directory = new Directory();
  const follower = await broker.followDirectory((change) => void directory.apply(change));
  const deps = { broker, directory, follower, clock, log, registry };
  const changes = stores.map(({ outbox }) => new PublishedChanges(outbox, clock));
  const [published] = changes as [PublishedChanges];
  const relay = await startRelay({ ...deps, store, published });
  const pace = { perSecondMax: 100_000, ...replayPace };
  const replayer = new Replayer({ ...deps, store, made: replayedDeliveries(registry), pace });
  const apis: Api[] = [];
  const close = async () => {
    await Promise.all(apis.map((api) => api.stop()));
    await Promise.all([relay.stop(), replayer.stop()]);
    for (const each of changes) each.stop();
    await broker.close();
    await Promise.all(stores.map((each) => each.close()));
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    for (const [index, relayed] of changes.entries()) {
      const own = {
        store: stores[index] ?? store,
        relay: relayed,
        registry: index === 0 ? registry : new Registry(),
      };
      const set = {
        environment,
        options: { ...OPTIONS, ...options, limits: { ...LIMITS, ...options.limits } },
      };
      apis.push(await startApi({ ...deps, ...own, ...set, keyRing, checkUrl, random: systemRandom }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const [api] = apis as [Api];
  let calls = 0;
  const call = (method: string, path: string, callOptions: CallOptions = {}) => {
    calls += 1;
    const { url } = apis[calls % apis.length] ?? api;
    return callApi(url, who.keys.own, method, path, callOptions);
  };
  return { api, replayer, store, broker, directory, keyRing, clock, registry, logged, ...who, call, close };
}

/** Checks URLs where no name has an address. */
function nowhere(clock: Clock): CheckUrl {
  const limits = { connectTimeoutMs: 1000, totalTimeoutMs: 1000 };
  const { egress } = OPTIONS;
  return new EndpointChecker({ clock, ...limits, egress, extraCa: null, resolve: async () => [] }).check;
}

/** There is no recorder here. */
const LIMITS = { recordedWaitMs: 0 };
const OPTIONS: ApiOptions = {
  host: '127.0.0.1',
  port: 0,
  egress: { ports: [443, 8443], allow: { name: () => false, address: () => false } },
  rateLimitPerMinute: 100_000,
  feedRateLimitPerMinute: 100_000,
  testRateLimitPerMinute: 100_000,
  endpointQuota: 100,
  streamsPerKey: 10,
  names: [],
  trustedProxies: [],
  failedKeysPerMinute: 100_000,
  consoleUrl: '',
  consoleFrameAncestors: [],
  autoDisable: { withoutSuccessMs: 86_400_000, failedAttempts: 20 },
  consoleBrand: readConfig({}).api.consoleBrand,
  sources: [],
  securityTxt: null,
};

/** Opens a store for each api. */
async function openStores(
  dataDir: string,
  common: { readonly clock: Clock; readonly keyRing: KeyRing; readonly healthPolicy: HealthPolicy },
  postgresUrl: string | undefined,
): Promise<readonly [Store, ...Store[]]> {
  if (postgresUrl === undefined)
    return [await openSqliteStore({ file: join(dataDir, 'store.db'), ...common })];
  const address = parsePostgresUrl(postgresUrl, undefined);
  await migrateDatabase(address, common.clock);
  const options = { ...common, address, connectionsMax: CONNECTIONS_MAX, leafMs: HOUR_MS };
  return [await openPostgresStore(options), await openPostgresStore(options)];
}

async function callApi(
  url: string,
  ownKey: string,
  method: string,
  path: string,
  { key = ownKey, json, raw, headers = {} }: CallOptions,
): Promise<Answer> {
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `API-Key ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body as string }),
  });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, text };
  checkResponse(method, path, answer);
  const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
  return { ...answer, body: isJson ? JSON.parse(text) : null };
}

/** Creates two merchants and a key of each kind. */
async function makeKeys(store: Store, clock: Clock, environment: 'sandbox' | 'production') {
  const merchantId = systemRandom.uuid();
  const foreignMerchantId = systemRandom.uuid();
  for (const id of [merchantId, foreignMerchantId]) {
    await store.merchants.create({ merchantId: id, name: 'Test merchant', senderAccountDetails: false });
  }
  const other = environment === 'sandbox' ? 'production' : 'sandbox';
  const sorts = {
    own: { kind: 'merchant', of: merchantId, environment },
    foreign: { kind: 'merchant', of: foreignMerchantId, environment },
    revoked: { kind: 'merchant', of: merchantId, environment },
    live: { kind: 'merchant', of: merchantId, environment: other },
    producer: { kind: 'producer', of: null, environment },
    revokedProducer: { kind: 'producer', of: null, environment },
    platform: { kind: 'platform', of: null, environment },
    revokedPlatform: { kind: 'platform', of: null, environment },
  } as const;
  const keys: Record<string, string> = {};
  const keyIds: Record<string, string> = {};
  for (const [name, sort] of Object.entries(sorts)) {
    const key = newApiKey(sort.kind, sort.environment, systemRandom.bytes(32));
    const keyId = systemRandom.uuid();
    keys[name] = key;
    keyIds[name] = keyId;
    await store.keys.create({
      keyId,
      kind: sort.kind,
      merchantId: sort.of,
      hash: hashApiKey(key),
      hint: apiKeyHint(key),
      name: null,
      createdAt: Math.floor(clock.now()),
      revokedAt: null,
      lastUsedAt: null,
      ...(sort.kind === 'platform' ? { scopes: PLATFORM_SCOPES } : {}),
    });
  }
  await store.keys.revoke(String(keyIds.revoked), clock.now());
  await store.keys.revoke(String(keyIds.revokedProducer), clock.now());
  await store.keys.revoke(String(keyIds.revokedPlatform), clock.now());
  return {
    merchantId,
    foreignMerchantId,
    keys: keys as TestApi['keys'],
    keyIds: keyIds as TestApi['keys'],
  };
}

/** Returns what starts two apis on a database of their own, which goes when they are closed. */
export function onDatabase(createDatabase: () => Promise<TestDatabase>) {
  return async (options: TestApiOptions): Promise<TestApi> => {
    const database = await createDatabase();
    const started = await startTestApi({ ...options, postgresUrl: database.url });
    const close = async () => {
      await started.close();
      await database.drop();
    };
    return { ...started, close };
  };
}

/** Creates an endpoint with a unique URL and returns its record with the secret. */
export async function createEndpoint(test: TestApi, extra: object = {}): Promise<Answer['body']> {
  const url = `https://hooks.merchant.com/${systemRandom.uuid()}`;
  const answer = await test.call('POST', ENDPOINTS, { json: { url, description: 'A test', ...extra } });
  if (answer.status !== 201)
    throw new Error(`creating an endpoint returned ${answer.status}: ${answer.text}`);
  return answer.body;
}
