import { entityKindsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { type EntityKind, EVENT_TYPES, isEventType } from '../../services/domain/event.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { pathsOf } from './event-paths.ts';
import {
  candidatesFor,
  ENDPOINT_VERBS,
  EVENT_VERBS,
  type Processes,
  type RawExpectation,
  type RawScenario,
  type RawStep,
} from './raw-scenario.ts';
import { ENDPOINT_STATES, type ExpectedStatus, FORGED_STATES } from './scenario-format.ts';

type Path = readonly (string | number)[];
type Add = (path: Path, message: string) => void;

/** The names of a scenario that others may refer to, collected step by step. */
interface Names {
  readonly kind: EntityKind;
  readonly processes: Processes;
  readonly endpoints: readonly string[];
  /** Every step so far. */
  readonly ids: string[];
  /** The steps that send an event, with its type, and the steps that forge one. */
  readonly events: Map<string, string>;
  readonly forged: string[];
}

/** Reports by `add` what the schema cannot express: names that must exist, paths that the type must have. */
export function checkRules(raw: RawScenario, processes: Processes, add: Add): void {
  if (raw.entities?.user && raw.entities.corporate) {
    add(['entities'], 'entities has a user and a corporate: a scenario is about one of them');
  }
  const endpoints = Object.keys(raw.endpoints ?? {});
  const kind: EntityKind = raw.entities?.corporate ? 'CORPORATE' : 'USER';
  const names: Names = { kind, processes, endpoints, ids: [], events: new Map(), forged: [] };
  checkProcesses(processes, add);
  for (const name of endpoints) {
    for (const [i, type] of (raw.endpoints?.[name]?.events ?? []).entries()) {
      if (isEventType(type)) continue;
      add(['endpoints', name, 'events', i], notAType(type));
    }
  }
  for (const [i, step] of raw.steps.entries()) checkStep(step, ['steps', i], names, add);
  for (const [i, one] of (raw.expect ?? []).entries()) checkExpectation(one, ['expect', i], names, add);
}

function notAType(text: string): string {
  return `"${text}" is not an event type${didYouMean(text, EVENT_TYPES)}`;
}

function checkProcesses(processes: Processes, add: Add): void {
  const links = { linkedAccount: 'linkBankAccount', ledger: 'serviceBankAccount' } as const;
  for (const [name, process] of Object.entries(processes)) {
    for (const [key, kind] of Object.entries(links) as [keyof typeof links, string][]) {
      const other = process[key];
      if (other === undefined || processes[other]?.kind === kind) continue;
      add(['entities', name, key], `"${other}" is not a ${kind} of this scenario`);
    }
  }
}

function checkStep(step: RawStep, at: Path, names: Names, add: Add): void {
  if (names.endpoints.length === 0 && (step.emit === undefined || step.when !== undefined)) {
    add(
      at,
      `step "${step.id}" needs "endpoints": those of the scenario itself, such as endpoints: { main: {} }`,
    );
  }
  if (names.ids.includes(step.id)) add([...at, 'id'], `step "${step.id}" occurs twice`);
  for (const [name, status] of Object.entries(step.when ?? {})) {
    checkCondition(name, status as ExpectedStatus, [...at, 'when'], names, add);
  }
  if (step.emit !== undefined) checkEvent(step, step.emit, at, names, add);
  else checkAction(step, at, names, add);
  names.ids.push(step.id);
}

function checkCondition(name: string, status: ExpectedStatus, at: Path, names: Names, add: Add): void {
  const known = [...names.events.keys(), ...names.endpoints];
  if (!known.includes(name)) {
    add(at, `there is no earlier step or endpoint "${name}"${didYouMean(name, known)}`);
  } else if (names.events.has(name) === ENDPOINT_STATES.includes(status)) {
    add(at, `"${status}" is not a status of ${names.events.has(name) ? 'a step' : 'an endpoint'}`);
  }
}

function checkEvent(step: RawStep, emit: string, at: Path, names: Names, add: Add): void {
  mayNotHave(step, ['as', 'how'], 'emit', at, add);
  const [type = '', subType = ''] = emit.split('/');
  names.events.set(step.id, type);
  if (!isEventType(type)) {
    add([...at, 'emit'], notAType(type));
    return;
  }
  if (!SUB_TYPES[type].includes(subType)) {
    const legal = SUB_TYPES[type].join(', ');
    add([...at, 'emit'], `"${subType}" is not a subType of ${type}; it has ${legal}`);
  }
  if (!entityKindsOf(type).includes(names.kind)) {
    add([...at, 'emit'], `${type} does not happen to a ${names.kind.toLowerCase()}`);
  }
  const candidates = candidatesFor(type, names.processes);
  if (step.of !== undefined && !candidates.includes(step.of)) {
    const known = candidates.length === 0 ? `entities has no ${type}` : `it has ${candidates.join(', ')}`;
    add([...at, 'of'], `"${step.of}" is not a ${type} of this scenario: ${known}`);
  } else if (step.of === undefined && candidates.length > 1) {
    add(at, `step "${step.id}" needs "of": one of ${candidates.join(', ')}`);
  }
  const paths = pathsOf(type);
  for (const path of [...Object.keys(step.set ?? {}), ...(step.unset ?? [])]) {
    if (paths.includes(path)) continue;
    const where = step.set && path in step.set ? [...at, 'set', path] : [...at, 'unset'];
    add(where, `${type} has no field "${path}"${didYouMean(path, paths)}`);
  }
}

function checkAction(step: RawStep, at: Path, names: Names, add: Add): void {
  mayNotHave(step, ['of', 'set', 'unset', 'late'], 'a step without emit', at, add);
  for (const verb of ENDPOINT_VERBS) {
    const name = step[verb];
    if (name === undefined || names.endpoints.includes(name)) continue;
    const known =
      names.endpoints.length === 0 ? ': the scenario has none' : didYouMean(name, names.endpoints);
    add([...at, verb], `there is no endpoint "${name}"${known}`);
  }
  for (const verb of EVENT_VERBS) {
    const name = step[verb];
    if (name === undefined || names.events.has(name)) continue;
    add([...at, verb], `there is no earlier event "${name}"${didYouMean(name, [...names.events.keys()])}`);
  }
  const needs = { behave: 'as', forge: 'how' } as const;
  for (const [verb, key] of Object.entries(needs) as ['behave' | 'forge', 'as' | 'how'][]) {
    if (step[verb] !== undefined && step[key] === undefined) add(at, `step "${step.id}" needs "${key}"`);
    if (step[verb] === undefined) mayNotHave(step, [key], `a step without ${verb}`, at, add);
  }
  if (step.forge !== undefined) names.forged.push(step.id);
}

function mayNotHave(step: RawStep, keys: readonly (keyof RawStep)[], what: string, at: Path, add: Add): void {
  for (const key of keys) {
    if (step[key] !== undefined) add([...at, key], `"${key}" has no meaning with ${what}`);
  }
}

function checkExpectation(one: RawExpectation, at: Path, names: Names, add: Add): void {
  const { step, endpoint, status = 'delivered' } = one;
  if (endpoint !== undefined && !names.endpoints.includes(endpoint)) {
    add([...at, 'endpoint'], `there is no endpoint "${endpoint}"${didYouMean(endpoint, names.endpoints)}`);
  }
  if (step === undefined) {
    if (!ENDPOINT_STATES.includes(status as ExpectedStatus)) {
      add([...at, 'status'], `"${status}" is not a status of an endpoint: ${ENDPOINT_STATES.join(', ')}`);
    }
    return;
  }
  const isForged = names.forged.includes(step);
  if (!names.events.has(step) && !isForged) {
    const known = [...names.events.keys(), ...names.forged];
    const why = names.ids.includes(step) ? ` that sends anything: "${step}"` : ` "${step}"`;
    add(at, `there is no step${why}${didYouMean(step, known)}`);
    return;
  }
  const unfit = ENDPOINT_STATES.includes(status as ExpectedStatus)
    ? 'an event'
    : isForged !== FORGED_STATES.includes(status as ExpectedStatus)
      ? isForged
        ? 'a forged webhook, which is accepted or rejected'
        : 'an event'
      : undefined;
  if (unfit !== undefined) add([...at, 'status'], `"${status}" is not a status of ${unfit}`);
  const type = names.events.get(step) ?? '';
  if (!isEventType(type)) return;
  const paths = [...pathsOf(type), 'data.direction'];
  for (const path of [...Object.keys(one.body ?? {}), ...(one.without ?? [])]) {
    if (!paths.includes(path)) {
      add(at, `${type} has no field "${path}"${didYouMean(path, paths)}`);
    }
  }
}
