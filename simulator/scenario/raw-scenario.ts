import type { EventType } from '../../services/domain/event.ts';
import type { ProcessChoices } from './scenario-format.ts';

export interface RawStep {
  readonly id: string;
  readonly after?: string;
  readonly when?: Readonly<Record<string, string>>;
  readonly emit?: string;
  readonly of?: string;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly unset?: readonly string[];
  readonly late?: string;
  readonly behave?: string;
  readonly as?: string | number;
  readonly rotate?: string;
  readonly disable?: string;
  readonly enable?: string;
  readonly delete?: string;
  readonly resend?: string;
  readonly repeat?: string;
  readonly overtaken?: string;
  readonly forge?: string;
  readonly how?: string;
}

export interface RawEndpoint {
  readonly version?: string;
  readonly events?: readonly string[];
  readonly behaviour?: string | number;
  readonly certificate?: 'valid' | 'expired';
  readonly failFirst?: number;
  readonly delay?: string;
}

export interface RawExpectation {
  readonly step?: string;
  readonly endpoint?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly attempts?: number;
  readonly requests?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly without?: readonly string[];
  readonly within?: string;
}

/** A scenario as its file has it, valid by the schema. */
export interface RawScenario {
  readonly name: string;
  readonly title?: string;
  readonly teaches?: string;
  readonly copies?: number;
  readonly variants?: readonly Readonly<Record<string, string | number>>[];
  readonly endpoints?: Readonly<Record<string, RawEndpoint | null>>;
  readonly entities?: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  readonly steps: readonly RawStep[];
  readonly expect?: readonly RawExpectation[];
}

export type Processes = Readonly<Record<string, ProcessChoices>>;

/** The verbs of steps that act on an endpoint, and of those that act on an earlier event. */
export const ENDPOINT_VERBS = ['behave', 'rotate', 'disable', 'enable', 'delete'] as const;
export const EVENT_VERBS = ['resend', 'repeat', 'overtaken', 'forge'] as const;

const WHO = ['user', 'corporate'];

/** Returns the processes that a scenario declares. */
export function readProcesses(raw: RawScenario): Processes {
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
export function candidatesFor(type: EventType, processes: Processes): readonly string[] {
  const kinds = TELLS_OF[type] ?? [type];
  return Object.keys(processes).filter((name) => kinds.includes((processes[name] as ProcessChoices).kind));
}
