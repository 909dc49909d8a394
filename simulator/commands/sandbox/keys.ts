import { randomBytes, randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { apiKeyHint, hashApiKey, newApiKey, parseApiKey } from '../../../services/domain/api-key.ts';
import { isUuid } from '../../../services/domain/ids.ts';
import type { Hookrail } from '../../../services/main.ts';
import { readOwnFile } from '../../own-file.ts';
import { rememberSandbox } from '../../sandbox-place.ts';
import { type Environment, loopbackOf, type Settings } from '../../settings.ts';

/** The access data of the sandbox: written to sandbox.env, which every command reads. */
export interface Access {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly producerKey: string;
  readonly merchantId: string;
  /** The store did not know the merchant of sandbox.env: what was made with another store is there. */
  readonly isMoved: boolean;
  readonly file: string;
  readonly dataDir: string;
  readonly operations: URL;
}

type Store = Hookrail['store'];

/** Passed on, so that `--sink kafka` in a second terminal uses the same cluster. */
const KAFKA_VARIABLES = ['HOOKRAIL_KAFKA_BROKERS', 'HOOKRAIL_SCHEMA_REGISTRY_URL', 'HOOKRAIL_EVENTS_TOPIC'];

const MERCHANT_NAME = 'Demo merchant';

/**
 * Creates a merchant and its keys on the first run, and uses them again on later ones. A store that does not know them
 * is given them: it is another engine's, or its data was removed. So sandbox.env never loses what it had, and a shell
 * that has loaded it keeps working. A key that was revoked is replaced.
 */
export async function ensureKeys(
  hookrail: Hookrail,
  settings: Settings,
  environment: Environment,
): Promise<Access> {
  const { store } = hookrail;
  const file = settings.sandboxFile;
  const before: Environment = parseEnv(readOwnFile(file) ?? '');
  const { merchantId, isNew } = await ensureMerchant(store, before.HOOKRAIL_MERCHANT_ID);
  const apiKey = await ensureKey(store, 'merchant', before.HOOKRAIL_API_KEY, merchantId);
  const producerKey = await ensureKey(store, 'producer', before.HOOKRAIL_PRODUCER_KEY, null);
  const dataDir = resolve(settings.dataDir);
  const operations = reachable(hookrail.operationsUrl);
  const baseUrl = reachable(hookrail.apiUrl).origin;
  const isMoved = isNew && merchantId === before.HOOKRAIL_MERCHANT_ID;
  const access = { baseUrl, apiKey, producerKey, merchantId, isMoved, file, dataDir, operations };
  writeSandboxFile(access, environment);
  rememberSandbox(dataDir, environment);
  return access;
}

/** Returns the address under which this machine reaches a server, also one that listens on all addresses. */
function reachable(address: string): URL {
  const url = new URL(address);
  url.hostname = loopbackOf(url.hostname);
  return url;
}

async function ensureMerchant(
  store: Store,
  known: string | undefined,
): Promise<{ readonly merchantId: string; readonly isNew: boolean }> {
  if (known !== undefined && (await store.merchants.get(known))) return { merchantId: known, isNew: false };
  const merchantId = known !== undefined && isUuid(known) ? known : randomUUID();
  // Entitled to senders' bank details, so that a developer sees every field there is.
  await store.merchants.create({ merchantId, name: MERCHANT_NAME, senderAccountDetails: true });
  return { merchantId, isNew: true };
}

async function ensureKey(
  store: Store,
  kind: 'merchant' | 'producer',
  known: string | undefined,
  merchantId: string | null,
): Promise<string> {
  let key = newApiKey(kind, 'sandbox', randomBytes(32));
  const form = known === undefined ? undefined : parseApiKey(known);
  if (known !== undefined && form?.ok && form.kind === kind && form.environment === 'sandbox') {
    const found = await store.keys.findByHash(form.hash);
    if (found?.kind === kind && found.merchantId === merchantId && found.revokedAt === null) return known;
    if (found === undefined) key = known;
  }
  await store.keys.create({
    keyId: randomUUID(),
    kind,
    merchantId,
    hash: hashApiKey(key),
    hint: apiKeyHint(key),
    name: null,
    createdAt: Date.now(),
    revokedAt: null,
    lastUsedAt: null,
  });
  return key;
}

/** Only the owner may read it: it holds keys. */
function writeSandboxFile(access: Access, environment: Environment): void {
  const lines = [
    '# Written by hookrail start. Its commands read it; other programs can: set -a; . ./sandbox.env',
    `HOOKRAIL_BASE_URL=${access.baseUrl}`,
    `HOOKRAIL_API_KEY=${access.apiKey}`,
    `HOOKRAIL_PRODUCER_KEY=${access.producerKey}`,
    `HOOKRAIL_EXTRA_CA_FILE="${join(access.dataDir, 'ca.crt')}"`,
    `HOOKRAIL_MERCHANT_ID=${access.merchantId}`,
    // For the operator's tool.
    `HOOKRAIL_OPS_HOST=${access.operations.hostname}`,
    `HOOKRAIL_OPS_PORT=${access.operations.port}`,
    ...KAFKA_VARIABLES.flatMap((name) => (environment[name] ? [`${name}=${environment[name]}`] : [])),
  ];
  const part = `${access.file}.part`;
  writeFileSync(part, `${lines.join('\n')}\n`, { mode: 0o600 });
  renameSync(part, access.file);
}
