import type { OperatorAnswers } from '../generated/operator-answers.ts';

/** The JSON of the operator's commands, by the names that screens have for it. */
type Answers = OperatorAnswers;
type One<List extends readonly unknown[]> = List[number];

export type Status = Answers['status'];
export type Newest = Answers['deliveries-summary'];
export type Found = One<Answers['find']>;
export type Merchant = One<Answers['merchants-list']>;
export type MerchantLook = Answers['merchants-get'];
export type Endpoint = One<Answers['endpoints-list']['items']>;
export type Key = One<Answers['keys-list']>;
export type Change = One<Answers['audit-list']>;
export type DeliveryLook = Answers['deliveries-get'];
export type EventLook = Answers['events-get'];
export type Story = One<Answers['story']>;
export type Quarantined = One<Answers['quarantine-list']>;
export type ShownRecord = Answers['quarantine-show'];
export type Replayed = Answers['quarantine-replay'];
