import { audit } from './audit-reads.ts';
import type { BoundRules, Rules } from './bind.ts';
import { endpoint, endpoints } from './endpoint-reads.ts';
import { keyByHash, keys, merchant, merchants } from './merchant-reads.ts';
import { isPublished, pending, snapshot } from './outbox-reads.ts';
import { replay, replays, runningReplays } from './replay-reads.ts';
import { areSealed, notSealedWith, recordCounts, sealCounts } from './sealing-reads.ts';

/** The reads that are the same in every store, by the part of the port that they are for. */
export const READS = {
  merchants: { get: merchant, list: merchants },
  keys: { findByHash: keyByHash, list: keys },
  endpoints: { get: endpoint, list: endpoints },
  outbox: { pending, isPublished, snapshot },
  audit: { list: audit },
  sealings: { counts: sealCounts, notSealedWith, recordCounts, isComplete: areSealed },
  replays: { get: replay, list: replays, running: runningReplays },
} as const satisfies Rules;

export type Reads = BoundRules<typeof READS>;
