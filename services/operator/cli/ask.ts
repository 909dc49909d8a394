import { existsSync } from 'node:fs';
import type { Broker } from '../../broker/broker.ts';
import type { Config } from '../../config/config.ts';
import { consoleUrlOf } from '../../config/console-config.ts';
import { KeyRing } from '../../keys/keyring.ts';
import { type AddToAudit, auditOf } from '../../management/audit.ts';
import { type Clock, systemClock } from '../../process/clock.ts';
import { systemRandom } from '../../process/random.ts';
import { type Actor, personOf } from '../../store/change.ts';
import type { Store } from '../../store/store.ts';
import type { Unchecked } from '../commands/arguments.ts';
import { runServed, type ServedCommand } from '../commands/command.ts';
import type { MerchantsSummary } from '../commands/look/merchant.ts';
import { OperatorError, UsageError } from '../commands/operator-error.ts';
import { ASSUMED_HEADER, PERSON_HEADER, type Person } from '../commands/person.ts';
import { published } from '../commands/published.ts';
import { pathOf } from '../commands/served.ts';
import type { Summary } from '../commands/service-status.ts';
import { operatorTokenFile, readToken } from '../commands/token-file.ts';
import { sandboxOperations } from './sandbox-operations.ts';

/**
 * A running service has locked a store on SQLite, so the tool asks it over its operations port; without one, and where
 * the store is on PostgreSQL and the service on another machine, the tool opens the store itself. Only what a command
 * uses is loaded.
 */

const SERVICE_TIMEOUT_MS = 10_000;
/** Record stores may be long, and records put back are made durable first. */
const LONG_TIMEOUT_MS = 600_000;
/** The longest wait until the api of another process has published a change, and how often the outbox is looked at. */
const PUBLISHED = { everyMs: 50, atMostMs: 3000 } as const;
const UNPUBLISHED =
  'the change is stored, but not in force yet: routers and senders learn of it when a process with the role api runs';

/**
 * Gives a command to the running service, or carries it out when no service runs on this data directory. `note`: says
 * what the result does not.
 */
export async function ask(
  [name, command]: readonly [string, ServedCommand],
  given: Unchecked,
  config: Config,
  { person, note = () => {} }: { readonly person: Person; readonly note?: (line: string) => void },
): Promise<unknown> {
  const { actor } = person;
  const answer = await askService(name, given, {
    config,
    person,
    withinMs: command.isLong || command.on === 'broker' ? LONG_TIMEOUT_MS : SERVICE_TIMEOUT_MS,
  });
  if (answer !== undefined) return answer.result;
  return runServed(command, given, {
    broker: (use) => {
      const audit = auditWhereStoreIs(config, actor);
      return withBroker(config, (broker) => use(broker, { now: systemClock().now(), audit }));
    },
    store: (use) =>
      withStore(config, async (store, clock) => {
        const result = await use(
          {
            ...{ store, clock, actor },
            random: systemRandom,
            environment: config.environment,
            consoleUrl: consoleUrlOf(config),
            keyRing: () => KeyRing.read(config.keyRingFile),
            withRecordStores: (lend) => withBroker(config, lend),
          },
          undefined,
        );
        const isRelayed = command.isRelayed && config.engine !== 'sqlite';
        // Only a process with the role api publishes it.
        if (isRelayed && !(await published({ store, clock }, PUBLISHED))) note(UNPUBLISHED);
        return result;
      }),
    clock: () => Promise.reject(new OperatorError('no sandbox runs here: its clock stands still')),
  });
}

/** Opens the store for one use. */
export async function withStore<T>(
  config: Config,
  use: (store: Store, clock: Clock) => Promise<T>,
): Promise<T> {
  const clock = systemClock();
  const { openStore } = await import('../../store/open.ts');
  const { createLogger } = await import('../../telemetry/logger.ts');
  const opening = openStore(config, clock, createLogger('silent'), keyRingOf(config));
  const store = await opening.catch((error: Error) => {
    if (config.postgres) throw new OperatorError(error.message);
    return throwInUse(error, config);
  });
  try {
    return await use(store, clock);
  } finally {
    await store.close();
  }
}

/** Whether a store is there: beside a router or sender, or on an administrator's machine, there may be none. */
export async function hasStore(config: Config): Promise<boolean> {
  const { storeFile } = await import('../../store/open.ts');
  return (
    config.postgres !== null || existsSync(storeFile(config)) || existsSync(operatorTokenFile(config.dataDir))
  );
}

/** Opens the store for each entry. Throws where there is none: what cannot be recorded is not done. */
function auditWhereStoreIs(config: Config, actor: Actor): AddToAudit {
  return async (...entry) => {
    if (!(await hasStore(config)))
      throw new OperatorError(
        'this is recorded in the audit, and there is no store here: run it where the api runs, or with its ' +
          'HOOKRAIL_DATA_DIR, or HOOKRAIL_STORE and HOOKRAIL_POSTGRES_URL',
      );
    await withStore(config, (store, clock) => auditOf({ store, clock, actor })(...entry));
  };
}

/** The ring that seals what a command changes; null where there is none, and no merchant or endpoint is changed. */
function keyRingOf({ keyRingFile }: Config): KeyRing | null {
  return existsSync(keyRingFile) ? KeyRing.read(keyRingFile) : null;
}

/** A file that cannot be opened is probably that of a service which was looked for at another address. */
function throwInUse(error: Error, { dataDir, operations, operatorTokenFile: given }: Config): never {
  const where = `${operations.host}:${operations.port} (HOOKRAIL_OPS_PORT)`;
  const { HOOKRAIL_OPS_PORT: port } = sandboxOperations(dataDir);
  const right = `HOOKRAIL_OPS_PORT=${port ?? '<its operations port>'} hookrail operator status`;
  throw new OperatorError(
    `${error.message}; a service on ${dataDir} must be reachable at ${where} with the token in ${given || operatorTokenFile(dataDir)}`,
    right,
  );
}

/** Opens the broker for its record stores and streams only: no role runs. */
async function withBroker<T>(config: Config, use: (broker: Broker) => Promise<T>): Promise<T> {
  const { openBroker } = await import('../../broker/open.ts');
  const { createLogger } = await import('../../telemetry/logger.ts');
  const opening = openBroker({ ...config, roles: [] }, systemClock(), createLogger('silent'));
  const broker = await opening.catch((error: Error) => {
    if (config.engine !== 'sqlite') throw error;
    return throwInUse(error, config);
  });
  try {
    return await use(broker);
  } finally {
    await broker.close();
  }
}

/** Returns the service's response, or undefined when none runs there or it uses another data directory. */
async function askService(
  name: string,
  given: Unchecked,
  {
    config,
    person,
    withinMs,
  }: { readonly config: Config; readonly person: Person; readonly withinMs: number },
): Promise<{ result: unknown } | undefined> {
  const token = readToken(config);
  if (token === undefined) return undefined;
  const url = `${operationsUrl(config)}/operator/${pathOf(name)}`;
  const { request } = await import('undici');
  const answer = await request(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      [PERSON_HEADER]: encodeURIComponent(personOf(person.actor) ?? ''),
      ...(person.isNamed ? {} : { [ASSUMED_HEADER]: '1' }),
    },
    body: JSON.stringify(given),
    signal: AbortSignal.timeout(withinMs),
    headersTimeout: withinMs,
  }).catch((error: NodeJS.ErrnoException) => {
    // Connection refused = no service runs. Any later error = the command may have been carried out.
    if (error.code === 'ECONNREFUSED') return undefined;
    throw new OperatorError(
      `the service at ${url} did not respond; the command may or may not have taken effect`,
    );
  });
  if (answer === undefined) return undefined;
  // Of another service, or of one without the role api.
  if ([401, 404, 429].includes(answer.statusCode)) {
    await answer.body.dump();
    return undefined;
  }
  const body = (await answer.body.json()) as { result: unknown; error?: string };
  if (answer.statusCode === 200) return body;
  const says = body.error ?? `the service answered ${answer.statusCode}`;
  throw answer.statusCode === 400 ? new UsageError(says) : new OperatorError(says);
}

export function operationsUrl({ operations: { host, port } }: Config): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the numbers of quarantined records, dead letters and merchants on hold, as the running service counts them; opens nothing. */
export async function recordStoreSummaries(config: Config, actor: Actor) {
  const of = async (name: string) => {
    const person = { actor, isNamed: false };
    const answer = await askService(name, {}, { config, person, withinMs: LONG_TIMEOUT_MS });
    return answer?.result ?? null;
  };
  return {
    quarantine: (await of('quarantine summary')) as Summary,
    deadLetters: (await of('dead-letters summary')) as Summary,
    merchants: (await of('merchants summary')) as MerchantsSummary | null,
  };
}
