import type { Clock } from '../../../process/clock.ts';
import { growingPause } from '../../../process/growing-pause.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { isCredentials, RegistryError, type SchemaRegistry } from './registry.ts';

export interface OwnSchema {
  /** The record's full name (record-name strategy). */
  readonly subject: string;
  readonly text: string;
}

export interface ResolveOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** False: only looks up, for clusters whose applications may not register. */
  readonly mayRegister: boolean;
  /** The longest wait for a registry that cannot be reached, milliseconds. */
  readonly giveUpMs: number;
}

/** The status of a registry that has a schema with which the given one is incompatible. */
const INCOMPATIBLE = 409;
const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 5_000;
const VARIABLE = 'HOOKRAIL_SCHEMA_REGISTRY_URL';

/**
 * Returns the registry's ids of our schemas, by subject. Waits for a registry that is still starting. Rejects, with one
 * line that names the remedy, when it does not start, is not a registry, refuses a schema or lacks it.
 */
export async function resolveSchemaIds(
  registry: SchemaRegistry,
  schemas: readonly OwnSchema[],
  options: ResolveOptions,
): Promise<ReadonlyMap<string, number>> {
  const ask = patientAsker(registry, options);
  await ask(
    () => registry.probe(),
    (said) =>
      `${registry.url} cannot be used as the schema registry: ${said}; ${VARIABLE} must be the address of a ` +
      'Confluent-compatible API, such as http://registry:8080/apis/ccompat/v7',
  );
  const ids = new Map<string, number>();
  const missing: string[] = [];
  for (const { subject, text } of schemas) {
    const id = await ask<number | undefined>(
      () => (options.mayRegister ? registry.register(subject, text) : registry.find(subject, text)),
      (said, status) =>
        `the schema registry at ${registry.url} rejects this version's schema of ${subject}: ${said}; ${remedyOf(status, subject)}`,
    );
    if (id === undefined) missing.push(subject);
    else ids.set(subject, id);
  }
  if (missing.length === 0) return ids;
  throw new Error(
    `the schema registry at ${registry.url} lacks this version's schemas of ${missing.join(', ')}, and this ` +
      'process may not register them (HOOKRAIL_SCHEMA_REGISTRY_REGISTER): `hookrail operator schemas` prints the ' +
      'commands that do',
  );
}

function remedyOf(status: number | undefined, subject: string): string {
  if (status !== undefined && isCredentials(status)) {
    return (
      `check HOOKRAIL_SCHEMA_REGISTRY_USERNAME, and let that user read and write the subject ${subject}; or register it ` +
      'with the commands of `hookrail operator schemas`, and set HOOKRAIL_SCHEMA_REGISTRY_REGISTER=false'
    );
  }
  if (status === INCOMPATIBLE)
    return (
      `another build has written records that this one could not read. Before 0.1.0 use that build, or a registry and ` +
      `topics of its own (HOOKRAIL_KAFKA_TOPIC_PREFIX) for this one, or delete the topics and the subject ${subject}`
    );
  return `check the versions and the compatibility level of the subject ${subject}`;
}

type Ask = <T>(question: () => Promise<T>, refusal: (said: string, status?: number) => string) => Promise<T>;

/** Retries requests until the registry responds; all of them share one time limit. */
function patientAsker(registry: SchemaRegistry, { clock, log, giveUpMs }: ResolveOptions): Ask {
  const giveUpAt = clock.now() + giveUpMs;
  let isWaiting = false;
  return async (question, refusal) => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await question();
      } catch (error) {
        if (!(error instanceof RegistryError)) throw error;
        if (error.kind === 'refused') throw new Error(refusal(error.message, error.status));
        const leftMs = giveUpAt - clock.now();
        if (leftMs <= 0) throw silence(registry, giveUpMs, error);
        const fields = { registry: registry.url, reason: error.message };
        if (!isWaiting) log.warn(fields, 'the schema registry does not answer yet: waiting for it');
        isWaiting = true;
        await clock.sleep(Math.min(growingPause(failures, PAUSE_MS_MIN, PAUSE_MS_MAX), leftMs));
      }
    }
  };
}

function silence(registry: SchemaRegistry, giveUpMs: number, error: RegistryError): Error {
  return new Error(
    `the schema registry at ${registry.url} gave no answer within ${giveUpMs / 1000} s (${error.message}): ` +
      (/certificate/i.test(error.message)
        ? 'set HOOKRAIL_SCHEMA_REGISTRY_CA_FILE to the authority that signed its certificate'
        : `start it, or correct ${VARIABLE}`),
  );
}
