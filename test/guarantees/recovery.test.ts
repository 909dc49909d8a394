/**
 * Guarantee: an endpoint that hangs, refuses connections or answers 503 for a while gets waiting webhooks as soon as
 * it has recovered, and new ones at once; while it fails it sees no more requests than its window.
 * RECOVERY_DARK_SECONDS=20,60,600 measures longer failures, and judges by the promised times; without it the load
 * is lower, and the bounds leave room for a busy machine.
 */
import { it } from 'vitest';
import { startService } from '../support/service/system.ts';
import {
  ARE_TIMES_PROMISED,
  DARK_SECONDS,
  expectRecovery,
  ratesOr,
} from '../support/trials/recovery-guarantee.ts';

const BOUNDS = {
  engine: 'sqlite',
  rates: ratesOr(ARE_TIMES_PROMISED ? '5,50' : '5,20'),
  afterSeconds: 31,
  neverTriedMs: ARE_TIMES_PROMISED ? 10_000 : 30_000,
};

it.each(DARK_SECONDS)(
  'an endpoint that failed for %d s gets waiting webhooks soon after its recovery, and new ones at once',
  { timeout: (Math.max(...DARK_SECONDS) + 90) * 1000 },
  (darkSeconds) => expectRecovery({ ...BOUNDS, darkSeconds }, ({ environment }) => startService(environment)),
);
