import type { ApiVersion } from '../../services/domain/endpoint.ts';
import type { EntityKind, EventType } from '../../services/domain/event.ts';
import type { Behaviour } from '../receiver/behaviours.ts';

/** A process of the scenario: a transaction, a ledger, … with its choices. */
export interface ProcessChoices {
  readonly kind: EventType;
  readonly state?: string;
  readonly amountFiat?: string;
  readonly amountCrypto?: string;
  readonly currencyFiat?: string;
  readonly chain?: string;
  readonly token?: string;
  /** The process of the account from which an on-ramp pulls its money. */
  readonly linkedAccount?: string;
  /** The process of the ledger that receives an on-ramp's money. */
  readonly ledger?: string;
}

/** A step that sends an event. */
export interface Step {
  readonly id: string;
  /** Milliseconds since the event before. */
  readonly afterMs: number;
  readonly type: EventType;
  readonly subType: string;
  /** Name of the process; `entity` where the type has none declared. */
  readonly process: string;
  readonly set: Readonly<Record<string, unknown>>;
  readonly unset: readonly string[];
  /** Milliseconds between the event's own time and its sending; later steps overtake it. */
  readonly lateMs: number;
  readonly when?: Condition;
  /** For messages. */
  readonly line: number;
  /** Position among all steps of the file. */
  readonly order: number;
}

/** The condition that a step waits for, besides its time. */
export type Condition =
  | { readonly kind: 'delivery'; readonly step: string; readonly status: ExpectedStatus }
  | { readonly kind: 'endpoint'; readonly endpoint: string; readonly status: ExpectedStatus };

export const FORGERIES = ['bad-secret', 'bad-signature', 'stale-timestamp', 'replayed'] as const;
export type Forgery = (typeof FORGERIES)[number];

/** A receiver's behaviour; `flaky` fails the first attempt of every other webhook. */
export type StagedBehaviour = Behaviour | 'flaky';

/** Something other than an event that a step does. */
export type Action =
  | { readonly kind: 'behave'; readonly endpoint: string; readonly as: StagedBehaviour }
  | { readonly kind: 'rotate' | 'disable' | 'enable' | 'delete'; readonly endpoint: string }
  | { readonly kind: 'resend' | 'repeat'; readonly step: string }
  | { readonly kind: 'overtaken'; readonly step: string }
  | { readonly kind: 'forge'; readonly step: string; readonly how: Forgery };

/** A step that does something to an endpoint, its receiver or an event that was sent. */
export interface ActionStep {
  readonly id: string;
  /** Milliseconds since the start. */
  readonly atMs: number;
  readonly action: Action;
  readonly when?: Condition;
  readonly order: number;
}

/** An endpoint of the scenario's own, with its receiver. */
export interface StagedEndpoint {
  readonly version?: ApiVersion;
  readonly events?: readonly EventType[];
  readonly behaviour: StagedBehaviour;
  readonly certificate: 'valid' | 'expired';
  readonly failFirst: number;
  readonly delayMs: number;
}

/** An endpoint without wishes. */
export const PLAIN_ENDPOINT: StagedEndpoint = {
  behaviour: 'ok',
  certificate: 'valid',
  failFirst: 0,
  delayMs: 0,
};

export type ExpectedStatus =
  /** Of a delivery. `withheld`: skipped or cancelled. */
  | ('delivered' | 'failed' | 'exhausted' | 'refused' | 'cancelled' | 'skipped' | 'withheld')
  /** Of a forged webhook, by the receiver's answer. */
  | ('accepted' | 'rejected')
  /** Of an endpoint. */
  | ('active' | 'disabled' | 'auto_disabled');

export const ENDPOINT_STATES: readonly ExpectedStatus[] = ['active', 'disabled', 'auto_disabled'];
export const FORGED_STATES: readonly ExpectedStatus[] = ['accepted', 'rejected'];

export interface Expectation {
  /** Empty when it is about an endpoint alone. */
  readonly step: string;
  readonly status: ExpectedStatus;
  readonly withinMs: number;
  readonly endpoint?: string;
  readonly reason?: string;
  readonly attempts?: number;
  readonly requests?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly without?: readonly string[];
}

/** Choices with which a scenario is checked. */
export interface Variant {
  readonly amount?: string;
  readonly currencyFiat?: string;
  readonly chain?: string;
  readonly token?: string;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** The rule that a developer's code must keep. */
  readonly teaches: string;
  readonly entityKind: EntityKind;
  readonly country?: string;
  /** The state of the KYC or KYB before the first step. */
  readonly verification: string;
  readonly processes: Readonly<Record<string, ProcessChoices>>;
  /** The entities to which the steps happen. */
  readonly copies: number;
  readonly variants: readonly Variant[];
  /** Empty when it is played to the merchant's endpoints. */
  readonly endpoints: Readonly<Record<string, StagedEndpoint>>;
  /** The steps that send an event. */
  readonly steps: readonly Step[];
  /** The other steps. */
  readonly actions: readonly ActionStep[];
  readonly expect: readonly Expectation[];
}
