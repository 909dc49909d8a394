import { START } from '../../services/domain/catalog/machines.ts';
import type { ApiVersion } from '../../services/domain/endpoint.ts';
import type { EventType } from '../../services/domain/event.ts';
import { parseDuration } from '../duration.ts';
import { ENTITY } from '../machines/world.ts';
import {
  candidatesFor,
  type Processes,
  type RawEndpoint,
  type RawExpectation,
  type RawScenario,
  type RawStep,
} from './raw-scenario.ts';
import type {
  Action,
  ActionStep,
  Condition,
  Expectation,
  ExpectedStatus,
  Forgery,
  Scenario,
  StagedBehaviour,
  StagedEndpoint,
  Step,
  Variant,
} from './scenario-format.ts';

const WITHIN_MS_DEFAULT = 60_000;

/** Turns a valid file into the scenario: defaults filled in, durations in milliseconds. `lineOf`: line of a step. */
export function buildScenario(
  raw: RawScenario,
  processes: Processes,
  lineOf: (step: number) => number,
): Scenario {
  const who = raw.entities?.corporate ?? raw.entities?.user ?? {};
  return {
    name: raw.name,
    title: raw.title ?? raw.name,
    teaches: raw.teaches ?? '',
    entityKind: raw.entities?.corporate ? 'CORPORATE' : 'USER',
    ...(who.country === undefined ? {} : { country: String(who.country) }),
    verification: String(who.kyc ?? who.kyb ?? START),
    processes,
    copies: raw.copies ?? 1,
    variants: (raw.variants ?? []).map(texts) as readonly Variant[],
    endpoints: Object.fromEntries(
      Object.entries(raw.endpoints ?? {}).map(([name, endpoint]) => [name, endpointOf(endpoint ?? {})]),
    ),
    ...stepsOf(raw, processes, lineOf),
    expect: (raw.expect ?? []).map(expectationOf),
  };
}

function texts(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}

function millisecondsOf(text: string | undefined): number {
  return text === undefined ? 0 : (parseDuration(text) ?? 0);
}

function endpointOf(raw: RawEndpoint): StagedEndpoint {
  return {
    ...(raw.version === undefined ? {} : { version: raw.version as ApiVersion }),
    ...(raw.events === undefined ? {} : { events: raw.events as readonly EventType[] }),
    behaviour: String(raw.behaviour ?? 'ok') as StagedBehaviour,
    certificate: raw.certificate ?? 'valid',
    failFirst: raw.failFirst ?? 0,
    delayMs: millisecondsOf(raw.delay),
  };
}

function stepsOf(
  raw: RawScenario,
  processes: Processes,
  lineOf: (step: number) => number,
): { readonly steps: readonly Step[]; readonly actions: readonly ActionStep[] } {
  const steps: Step[] = [];
  const actions: ActionStep[] = [];
  const endpoints = Object.keys(raw.endpoints ?? {});
  let atMs = 0;
  let lastEventAtMs = 0;
  for (const [order, step] of raw.steps.entries()) {
    atMs += millisecondsOf(step.after);
    const when = conditionOf(step, endpoints);
    const place = { id: step.id, order, ...(when === undefined ? {} : { when }) };
    if (step.emit === undefined) {
      actions.push({ ...place, atMs, action: actionOf(step) });
      continue;
    }
    const [type, subType] = step.emit.split('/') as [EventType, string];
    steps.push({
      ...place,
      afterMs: atMs - lastEventAtMs,
      type,
      subType,
      process: step.of ?? candidatesFor(type, processes)[0] ?? ENTITY,
      set: step.set ?? {},
      unset: step.unset ?? [],
      lateMs: millisecondsOf(step.late),
      line: lineOf(order),
    });
    lastEventAtMs = atMs;
  }
  return { steps, actions };
}

function conditionOf({ when }: RawStep, endpoints: readonly string[]): Condition | undefined {
  const [found] = Object.entries(when ?? {});
  if (found === undefined) return undefined;
  const [name, status] = found as [string, ExpectedStatus];
  return endpoints.includes(name)
    ? { kind: 'endpoint', endpoint: name, status }
    : { kind: 'delivery', step: name, status };
}

function actionOf(step: RawStep): Action {
  if (step.behave !== undefined) {
    return { kind: 'behave', endpoint: step.behave, as: String(step.as) as StagedBehaviour };
  }
  if (step.forge !== undefined) return { kind: 'forge', step: step.forge, how: step.how as Forgery };
  if (step.resend !== undefined) return { kind: 'resend', step: step.resend };
  if (step.repeat !== undefined) return { kind: 'repeat', step: step.repeat };
  if (step.overtaken !== undefined) return { kind: 'overtaken', step: step.overtaken };
  const kind = (['rotate', 'disable', 'enable', 'delete'] as const).find((verb) => step[verb] !== undefined);
  if (kind === undefined) throw new TypeError(`step "${step.id}" does nothing`);
  return { kind, endpoint: step[kind] ?? '' };
}

function expectationOf({ step, status, within, ...rest }: RawExpectation): Expectation {
  return {
    ...rest,
    step: step ?? '',
    status: (status ?? 'delivered') as ExpectedStatus,
    withinMs: (within === undefined ? undefined : parseDuration(within)) ?? WITHIN_MS_DEFAULT,
  };
}
