import type { Statements } from '../sql/statements.ts';
import { audit } from './audit-reads.ts';
import { endpoint, endpoints } from './endpoint-reads.ts';
import { keyByHash, keys, merchant, merchants } from './merchant-reads.ts';
import { isPublished, pending, snapshot } from './outbox-reads.ts';
import { replay, replays, runningReplays } from './replay-reads.ts';
import { areSealed, notSealedWith, recordCounts, sealCounts } from './sealing-reads.ts';

/**
 * The reads that are the same in every store, by the part of the port that they are for. An engine says how one is run:
 * on a connection, or in a thread.
 */
export const READS = {
  merchants: { get: merchant, list: merchants },
  keys: { findByHash: keyByHash, list: keys },
  endpoints: { get: endpoint, list: endpoints },
  outbox: { pending, isPublished, snapshot },
  audit: { list: audit },
  sealings: { counts: sealCounts, notSealedWith, recordCounts, isComplete: areSealed },
  replays: { get: replay, list: replays, running: runningReplays },
} as const satisfies Record<string, Record<string, Rule>>;

type Rule = (statements: Statements, ...args: never[]) => Promise<unknown>;

type Bound<R extends Rule> = R extends (statements: Statements, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** The rules as the port has them. */
export type Reads = {
  readonly [Part in keyof typeof READS]: {
    readonly [Name in keyof (typeof READS)[Part]]: Bound<Extract<(typeof READS)[Part][Name], Rule>>;
  };
};

/** A rule's name: `merchants.get`. */
export type ReadName = string;

/** Returns the rules by name. */
export function readRules(): ReadonlyMap<ReadName, Rule> {
  return new Map(
    Object.entries(READS).flatMap(([part, rules]) =>
      Object.entries(rules).map(([name, rule]) => [`${part}.${name}`, rule as Rule] as const),
    ),
  );
}

/** Makes the port's reads. `run`: runs a rule with the arguments that follow its statements. */
export function readsBy(
  run: (name: ReadName, rule: Rule, args: readonly unknown[]) => Promise<unknown>,
): Reads {
  const parts = Object.entries(READS).map(([part, rules]) => {
    const bound = Object.entries(rules).map(([name, rule]) => [
      name,
      (...args: readonly unknown[]) => run(`${part}.${name}`, rule as Rule, args),
    ]);
    return [part, Object.fromEntries(bound)];
  });
  return Object.fromEntries(parts) as Reads;
}
