import { randomBytes } from 'node:crypto';
import type { EntityKind } from '../../services/domain/event.ts';
import { isUuid } from '../../services/domain/ids.ts';
import { meantName } from '../../services/messages/did-you-mean.ts';
import { meantDuration, parseDuration } from '../duration.ts';
import { mistyped, usage } from '../exit.ts';
import type { CommandOptions } from '../session.ts';
import type { StepField } from './plan.ts';

export const SINKS = ['api', 'kafka', 'direct', 'stdout', 'file'] as const;

/** The destination and the entity of events: shared by `run` and `trigger`. */
export interface SinkOptions {
  readonly sink: (typeof SINKS)[number];
  readonly to?: string;
  readonly secret?: string;
  readonly ca?: string;
  readonly out?: string;
}

export interface EntityOptions {
  readonly user?: string;
  readonly corporate?: string;
}

export interface RunOptions extends CommandOptions, SinkOptions, EntityOptions {
  readonly scenario: string;
  readonly seed?: string;
  readonly speed: string;
  readonly startAt?: string;
  readonly currency?: string;
  readonly country?: string;
  readonly chain?: string;
  readonly token?: string;
  readonly amount?: string;
  readonly set?: string[];
  readonly skip?: string[];
  readonly only?: string[];
  readonly duplicates?: string;
  readonly shuffle?: string;
  readonly step: boolean;
  readonly expect: boolean;
  readonly record?: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly wait?: string | boolean;
}

/** The Kafka cluster; by default from the service's variables. */
export const KAFKA_OPTIONS = {
  'kafka-brokers': { type: 'string', describe: 'With --sink kafka: brokers (HOOKRAIL_KAFKA_BROKERS)' },
  'schema-registry-url': {
    type: 'string',
    describe: 'With --sink kafka: registry (HOOKRAIL_SCHEMA_REGISTRY_URL)',
  },
  'events-topic': { type: 'string', describe: 'With --sink kafka: topic (HOOKRAIL_EVENTS_TOPIC)' },
} as const;

export const SINK_OPTIONS = {
  sink: {
    choices: SINKS,
    default: 'api',
    describe: 'Where events go: the REST API, Kafka, a receiver, stdout, a file',
  },
  ...KAFKA_OPTIONS,
  to: { type: 'string', describe: 'With --sink direct: URL of the receiver' },
  secret: { type: 'string', describe: 'With --sink direct: secret to sign with' },
  ca: {
    type: 'string',
    describe: 'With --sink direct: PEM file of the CA to trust (default: the sandbox’s)',
  },
  out: { type: 'string', describe: 'With --sink file: file to write' },
} as const;

export const ENTITY_OPTIONS = {
  user: {
    type: 'string',
    describe: 'User that the scenario is about (uuid); generated from the seed by default',
  },
  corporate: { type: 'string', describe: 'Corporate that the scenario is about (uuid)' },
} as const;

export const RUN_OPTIONS = {
  seed: { type: 'string', describe: 'Seed for ids, names and amounts (default: random)' },
  speed: { type: 'string', default: '1x', describe: 'Speed: 1x or real, 60x, …, or instant' },
  'start-at': { type: 'string', describe: 'Time of the first event (RFC 3339; default: now)' },
  ...ENTITY_OPTIONS,
  currency: { type: 'string', describe: 'Fiat currency of the transactions' },
  chain: { type: 'string', describe: 'Blockchain of the transactions' },
  token: { type: 'string', describe: 'Token of the transactions' },
  amount: { type: 'string', describe: 'Amount received: fiat on-ramp, crypto off-ramp' },
  country: { type: 'string', describe: 'Country of the bank accounts: DE, NG, …' },
  set: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Set a field of a step: hold.data.status=ON_HOLD_KYC',
  },
  skip: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Leave out steps: hold,kyc',
  },
  only: { type: 'string', array: true, nargs: 1, describe: 'Play these steps only: created,done' },
  duplicates: {
    type: 'string',
    describe: 'Deliver this share of the events twice, under the same webhook-id: 0.3',
  },
  shuffle: {
    type: 'string',
    describe: 'Delay each event by up to this long, so that they overtake each other: 10s',
  },
  step: {
    type: 'boolean',
    default: false,
    describe: 'Send nothing: keep the run, and advance it by hand with step',
  },
  ...SINK_OPTIONS,
  expect: {
    type: 'boolean',
    default: false,
    describe: 'Fail (exit 1) when the scenario’s expectations are not met',
  },
  record: { type: 'string', describe: 'Write what was sent to this file (ndjson)' },
  force: { type: 'boolean', default: false, describe: 'Play steps that the platform would not allow' },
  'dry-run': { type: 'boolean', default: false, describe: 'Show the events, send nothing' },
  wait: {
    type: 'string',
    describe: 'Follow the deliveries for at most this long: 30s. The default on a terminal',
  },
} as const;

const WAIT_MS_DEFAULT = 30_000;
const SPEED_MAX = 1_000_000;

/** Parses "1x", "60x", "real" (= 1x) or "instant" to a factor. */
export function parseSpeed(text: string): number {
  if (text === 'instant') return Number.POSITIVE_INFINITY;
  if (text === 'real') return 1;
  const match = /^(\d+(?:\.\d+)?)x$/.exec(text);
  const factor = Number(match?.[1] ?? 0);
  if (factor <= 0 || factor > SPEED_MAX) {
    const says = `--speed "${text}" is not 1x, 60x (a factor up to ${SPEED_MAX}), real or instant`;
    throw mistyped(says, text, meantSpeed(text));
  }
  return factor;
}

function meantSpeed(text: string): string | undefined {
  const [, factor] = /^[x×]?(\d+(?:\.\d+)?)[x×]?$/i.exec(text) ?? [];
  if (factor === undefined) return meantName(text, ['real', 'instant']);
  return Number(factor) > 0 && Number(factor) <= SPEED_MAX ? `${factor}x` : undefined;
}

/** Returns milliseconds since the epoch; undefined when none is given. */
export function parseStartAt(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at)) {
    throw usage(`--start-at "${text}" is not RFC 3339, such as 2025-01-31T12:00:00Z`);
  }
  return at;
}

/** Parses "hold.data.status=ON_HOLD_KYC" to step, path, value. */
export function parseStepFields(texts: readonly string[]): readonly StepField[] {
  return texts.map((text) => {
    const match = /^([a-z][a-z0-9-]*)\.(data\.[^=]+)=(.*)$/s.exec(text);
    if (!match) throw usage(`--set "${text}" is not step.data.field=value`);
    return { step: match[1] ?? '', path: match[2] ?? '', value: match[3] ?? '' };
  });
}

/** Returns the entity of --user or --corporate; nothing when neither is given. */
export function entityOf({ user, corporate }: EntityOptions): { entityId?: string; entityKind?: EntityKind } {
  if (user !== undefined && corporate !== undefined) throw usage('--user and --corporate cannot be combined');
  const id = user ?? corporate;
  if (id === undefined) return {};
  if (!isUuid(id)) throw usage(`"${id}" is not a UUID`);
  return { entityId: id.toLowerCase(), entityKind: user === undefined ? 'CORPORATE' : 'USER' };
}

/**
 * Parses `--wait`, `--wait 60s`, `--no-wait`; without any, returns `byDefault`. `isAsked`: the user asked to wait, so
 * an end without a result is a time-out.
 */
export function parseWait(
  given: string | boolean | undefined,
  byDefault: boolean,
): { readonly ms: number; readonly isAsked: boolean } {
  if (given === undefined) return { ms: byDefault ? WAIT_MS_DEFAULT : 0, isAsked: false };
  if (given === false) return { ms: 0, isAsked: false };
  if (given === true || given === '') return { ms: WAIT_MS_DEFAULT, isAsked: true };
  const ms = parseDuration(given);
  if (ms === undefined)
    throw mistyped(`--wait "${given}" is not a duration: 30s, 2m`, given, meantDuration(given));
  return { ms, isAsked: true };
}

/** Short enough to type again. */
export function randomSeed(): string {
  return randomBytes(4).toString('hex');
}
