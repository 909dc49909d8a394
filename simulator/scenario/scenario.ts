import { LineCounter, parseDocument } from 'yaml';
import { entityKindsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { type EntityKind, EVENT_TYPES, type EventType, isEventType } from '../../services/domain/event.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { parseDuration } from '../duration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { START } from '../machines/tables.ts';
import { ENTITY, type Move, World } from '../machines/world.ts';
import { pathsOf } from './event-paths.ts';
import { type Finding, placeOf, schemaFindings } from './schema-check.ts';

/** A process of the scenario: a transaction, a ledger, … with its choices. */
export interface ProcessChoices {
  readonly kind: EventType;
  readonly state?: string;
  readonly amountFiat?: string;
  readonly amountCrypto?: string;
  readonly currencyFiat?: string;
  readonly chain?: string;
  readonly token?: string;
}

export interface Step {
  readonly id: string;
  /** Milliseconds since the step before. */
  readonly afterMs: number;
  readonly type: EventType;
  readonly subType: string;
  /** Name of the process; `entity` where the type has none declared. */
  readonly process: string;
  readonly set: Readonly<Record<string, unknown>>;
  readonly unset: readonly string[];
  /** For messages. */
  readonly line: number;
}

export const EXPECTED_STATUSES = [
  'delivered',
  'failed',
  'exhausted',
  'refused',
  'cancelled',
  'skipped',
] as const;

export interface Expectation {
  readonly step: string;
  readonly status: (typeof EXPECTED_STATUSES)[number];
  readonly withinMs: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly entityKind: EntityKind;
  readonly country?: string;
  /** The state of the KYC or KYB before the first step. */
  readonly verification: string;
  readonly processes: Readonly<Record<string, ProcessChoices>>;
  readonly steps: readonly Step[];
  readonly expect: readonly Expectation[];
}

const WITHIN_MS_DEFAULT = 60_000;
const TEXT_BYTES_MAX = 1024 * 1024;

/** An invalid scenario: every finding with its line, as "file:line: what". */
export class ScenarioFailure extends CommandFailure {
  readonly findings: readonly { readonly line: number; readonly message: string }[];

  constructor(source: string, findings: readonly { readonly line: number; readonly message: string }[]) {
    super(EXIT.usage, findings.map(({ line, message }) => `${source}:${line}: ${message}`).join('\n'));
    this.findings = findings;
  }
}

/**
 * Parses a scenario's text and checks it: YAML, the published schema, the catalogue, and (unless `force`) that the
 * platform would make each step. Throws ScenarioFailure with all findings; `source` names the file in them.
 */
export function parseScenario(text: string, source: string, options: { readonly force: boolean }): Scenario {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw new ScenarioFailure(source, [{ line: 1, message: `is larger than ${TEXT_BYTES_MAX} bytes` }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const failOn = (findings: readonly Finding[]) => {
    if (findings.length === 0) return;
    const found = findings.map(({ offset, message }) => ({ line: lineAt(offset), message }));
    throw new ScenarioFailure(
      source,
      found.sort((a, b) => a.line - b.line),
    );
  };
  failOn(
    document.errors.map((error) => ({ offset: error.pos[0], message: error.message.split('\n')[0] ?? '' })),
  );
  const offsetOf = (...path: (string | number)[]) => placeOf(document, path).offset;
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // An alias of nothing, or more aliases than anyone writes.
    failOn([{ offset: 0, message: (error as Error).message }]);
  }
  failOn(schemaFindings(document, value));
  const raw = value as RawScenario;
  const names = readProcesses(raw);
  failOn(findingsOf(raw, names, offsetOf));
  const scenario = build(raw, names, (i) => lineAt(offsetOf('steps', i)));
  if (!options.force) failOn(illegalSteps(scenario, (i) => offsetOf('steps', i)));
  return scenario;
}

/** Returns the steps that the platform would not allow, given the states before the first one. */
function illegalSteps(scenario: Scenario, offsetOf: (step: number) => number): readonly Finding[] {
  const world = worldBefore(scenario);
  return scenario.steps.flatMap((step, i) => {
    const move = moveOf(step);
    const refusal = world.refusal(move);
    // One wrong step must not make every later one wrong as well.
    world.apply(move);
    if (!refusal) return [];
    const legal = refusal.legal.length === 0 ? 'nothing is' : refusal.legal.join(', ');
    const message = `step "${step.id}": ${refusal.reason}; legal: ${legal} (--force plays it anyway)`;
    return [{ offset: offsetOf(i), message }];
  });
}

/** Returns the states of the entity and its processes before the first step. */
export function worldBefore(scenario: Scenario): World {
  const world = new World();
  world.place(scenario.entityKind === 'USER' ? 'KYC' : 'KYB', ENTITY, scenario.verification);
  for (const [name, { kind, state }] of Object.entries(scenario.processes)) {
    if (state !== undefined) world.place(kind, name, state);
  }
  return world;
}

/** Returns a step as the state machines see it. */
export function moveOf(step: Pick<Step, 'type' | 'subType' | 'process' | 'set'>): Move {
  const status = step.set['data.status'];
  const { type, subType, process } = step;
  return { type, subType, process, status: typeof status === 'string' ? status : undefined };
}

interface RawScenario {
  readonly name: string;
  readonly title?: string;
  readonly entities?: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  readonly steps: readonly {
    readonly id: string;
    readonly after?: string;
    readonly emit: string;
    readonly of?: string;
    readonly set?: Readonly<Record<string, unknown>>;
    readonly unset?: readonly string[];
  }[];
  readonly expect?: readonly { readonly step: string; readonly status: string; readonly within?: string }[];
}

const WHO = ['user', 'corporate'];

function readProcesses(raw: RawScenario): Readonly<Record<string, ProcessChoices>> {
  const entries = Object.entries(raw.entities ?? {}).filter(([name]) => !WHO.includes(name));
  return Object.fromEntries(
    entries.map(([name, choices]) => {
      const texts = Object.entries(choices).map(([key, value]) => [key, String(value)]);
      return [name, Object.fromEntries(texts) as unknown as ProcessChoices];
    }),
  );
}

/** Types whose events belong to another type's process: a check of a transaction has the transaction's id. */
const TELLS_OF: Partial<Readonly<Record<EventType, readonly EventType[]>>> = {
  senderNameMismatch: ['fiatToCrypto'],
  AML: ['AML', 'fiatToCrypto', 'cryptoToFiat'],
};

/** Returns the processes that a step of a type can belong to. */
function candidatesFor(
  type: EventType,
  processes: Readonly<Record<string, ProcessChoices>>,
): readonly string[] {
  const kinds = TELLS_OF[type] ?? [type];
  return Object.keys(processes).filter((name) => kinds.includes((processes[name] as ProcessChoices).kind));
}

/** Checks rules that the schema cannot express: names that must exist, paths that the type must have. */
function findingsOf(
  raw: RawScenario,
  processes: Readonly<Record<string, ProcessChoices>>,
  offsetOf: (...path: (string | number)[]) => number,
): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (path: (string | number)[], message: string) =>
    findings.push({ offset: offsetOf(...path), message });
  if (raw.entities?.user && raw.entities.corporate) {
    add(['entities'], 'entities has a user and a corporate: a scenario is about one of them');
  }
  const kind: EntityKind = raw.entities?.corporate ? 'CORPORATE' : 'USER';
  const ids = new Set<string>();
  for (const [i, step] of raw.steps.entries()) {
    if (ids.has(step.id)) add(['steps', i, 'id'], `step "${step.id}" occurs twice`);
    ids.add(step.id);
    const [type = '', subType = ''] = step.emit.split('/');
    if (!isEventType(type)) {
      add(['steps', i, 'emit'], `"${type}" is not an event type${didYouMean(type, EVENT_TYPES)}`);
      continue;
    }
    if (!SUB_TYPES[type].includes(subType)) {
      const legal = SUB_TYPES[type].join(', ');
      add(['steps', i, 'emit'], `"${subType}" is not a subType of ${type}; it has ${legal}`);
    }
    if (!entityKindsOf(type).includes(kind)) {
      add(['steps', i, 'emit'], `${type} does not happen to a ${kind.toLowerCase()}`);
    }
    const candidates = candidatesFor(type, processes);
    if (step.of !== undefined && !candidates.includes(step.of)) {
      const known = candidates.length === 0 ? `entities has no ${type}` : `it has ${candidates.join(', ')}`;
      add(['steps', i, 'of'], `"${step.of}" is not a ${type} of this scenario: ${known}`);
    } else if (step.of === undefined && candidates.length > 1) {
      add(['steps', i], `step "${step.id}" needs "of": one of ${candidates.join(', ')}`);
    }
    const paths = pathsOf(type);
    for (const path of [...Object.keys(step.set ?? {}), ...(step.unset ?? [])]) {
      if (paths.includes(path)) continue;
      const where = step.set && path in step.set ? ['steps', i, 'set', path] : ['steps', i, 'unset'];
      add(where, `${type} has no field "${path}"${didYouMean(path, paths)}`);
    }
  }
  for (const [i, { step }] of (raw.expect ?? []).entries()) {
    if (!ids.has(step)) add(['expect', i], `there is no step "${step}"${didYouMean(step, [...ids])}`);
  }
  return findings;
}

function build(
  raw: RawScenario,
  processes: Readonly<Record<string, ProcessChoices>>,
  lineOf: (step: number) => number,
): Scenario {
  const who = raw.entities?.corporate ?? raw.entities?.user ?? {};
  return {
    name: raw.name,
    title: raw.title ?? raw.name,
    entityKind: raw.entities?.corporate ? 'CORPORATE' : 'USER',
    ...(who.country === undefined ? {} : { country: String(who.country) }),
    verification: String(who.kyc ?? who.kyb ?? START),
    processes,
    steps: raw.steps.map((step, i) => {
      const [type, subType] = step.emit.split('/') as [EventType, string];
      return {
        id: step.id,
        afterMs: step.after === undefined ? 0 : (parseDuration(step.after) ?? 0),
        type,
        subType,
        process: step.of ?? candidatesFor(type, processes)[0] ?? ENTITY,
        set: step.set ?? {},
        unset: step.unset ?? [],
        line: lineOf(i),
      };
    }),
    expect: (raw.expect ?? []).map(({ step, status, within }) => ({
      step,
      status: status as Expectation['status'],
      withinMs: (within === undefined ? undefined : parseDuration(within)) ?? WITHIN_MS_DEFAULT,
    })),
  };
}
