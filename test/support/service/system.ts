import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PLATFORM_SCOPES } from '../../../services/domain/access/platform-scopes.ts';
import { hashApiKey, newApiKey } from '../../../services/domain/api-key.ts';
import { uuidV5 } from '../../../services/domain/ids.ts';
import { KeyRing } from '../../../services/keys/keyring.ts';
import { createRing } from '../../../services/keys/keyring-file.ts';
import { newSigningKey } from '../../../services/keys/signing-keys.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../services/store/store.ts';
import { createAuthority, issueCertificate } from '../../../simulator/receiver/certificate-authority.ts';
import { BUILT } from '../built/modules.ts';

/** A data directory with a key ring, one merchant and its keys: everything that a service needs to serve requests. */
export interface ServiceSetup {
  readonly dataDir: string;
  readonly merchantId: string;
  readonly apiKey: string;
  readonly producerKey: string;
  readonly platformKey: string;
  /** Certificate of a receiver on this machine, issued by an authority that the service trusts. */
  readonly receiverCert: { readonly certPem: string; readonly keyPem: string };
  /** The environment a service is started with. */
  readonly environment: Record<string, string>;
}

/** Opens the store in which the merchant and its keys are created. */
type OpenStore = (
  options: Parameters<typeof openSqliteStore>[0] & { readonly keyRing: KeyRing },
) => Promise<Store>;

export async function prepareSetup(
  environment: Record<string, string> = {},
  parent = tmpdir(),
  openStore: OpenStore = openSqliteStore,
): Promise<ServiceSetup> {
  const dataDir = mkdtempSync(join(parent, 'hookrail-'));
  const keyRingFile = join(dataDir, 'keyring.json');
  createRing(keyRingFile, [newSigningKey(environment.HOOKRAIL_ENVIRONMENT ?? 'sandbox', 0)]);
  const authority = await createAuthority();
  const caFile = join(dataDir, 'ca.crt');
  writeFileSync(caFile, authority.certPem);
  const receiverCert = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  const merchantId = uuidV5('test-merchant', dataDir);
  const apiKey = newApiKey('merchant', 'sandbox', systemRandom.bytes(32));
  const producerKey = newApiKey('producer', 'sandbox', systemRandom.bytes(32));
  const platformKey = newApiKey('platform', 'sandbox', systemRandom.bytes(32));
  const clock = systemClock();
  const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
  const keyRing = KeyRing.read(keyRingFile);
  const store = await openStore({ file: join(dataDir, 'store.db'), clock, healthPolicy, keyRing });
  await store.merchants.create({ merchantId, name: 'Test merchant', senderAccountDetails: true });
  for (const [kind, text] of [
    ['merchant', apiKey],
    ['producer', producerKey],
    ['platform', platformKey],
  ] as const) {
    await store.keys.create({
      keyId: systemRandom.uuid(),
      kind,
      merchantId: kind === 'merchant' ? merchantId : null,
      hash: hashApiKey(text),
      hint: text.slice(-4),
      name: null,
      createdAt: clock.now(),
      revokedAt: null,
      lastUsedAt: null,
      ...(kind === 'platform' ? { scopes: PLATFORM_SCOPES } : {}),
    });
  }
  await store.close();
  return {
    dataDir,
    merchantId,
    apiKey,
    producerKey,
    platformKey,
    receiverCert,
    environment: {
      HOOKRAIL_DATA_DIR: dataDir,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
      HOOKRAIL_EXTRA_CA_FILE: caFile,
      HOOKRAIL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
      HOOKRAIL_RATE_LIMIT_PER_MINUTE: '1000000',
      HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE: '1000000',
      HOOKRAIL_FAILED_KEYS_PER_MINUTE: '1000000',
      ...environment,
    },
  };
}

/** Node keeps here what it has compiled for one service, and the next reads it: tests start thousands. */
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/compiled/', import.meta.url));

/** A service in its own process. */
export interface Service {
  readonly process: ChildProcess;
  readonly apiUrl: string;
  readonly operationsUrl: string;
  /** All lines that it has written so far. */
  readonly output: readonly string[];
  /** Sends it a signal, waits until it has exited, and resolves with the exit code (null after SIGKILL). */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Starts a service and resolves when it logs that it runs; rejects with its output when it exits before. */
export function startService(
  environment: Record<string, string>,
  launcher: readonly string[] = [],
): Promise<Service> {
  return launchService(environment, launcher).started;
}

/** Starts a service and returns its process at once. */
export function launchService(
  environment: Record<string, string>,
  launcher: readonly string[] = [],
): { readonly child: ChildProcess; readonly output: readonly string[]; readonly started: Promise<Service> } {
  const command = [...launcher, process.execPath, BUILT.service];
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal);
    return exited;
  };
  const started = new Promise<Service>((resolve, reject) => {
    exited.then((code) => reject(new Error(`the service exited with code ${code}:\n${output.join('\n')}`)));
    const onLine = (line: string) => {
      output.push(line);
      if (!line.includes('hookrail is running')) return;
      const { api, operations } = JSON.parse(line);
      resolve({ process: child, apiUrl: api, operationsUrl: operations, output, end });
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  });
  return { child, output, started };
}
