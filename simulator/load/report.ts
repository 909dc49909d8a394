import { formatDuration } from '../../client/duration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Output } from '../output.ts';
import type { DeliveryCounts, LatencyTable, Slice } from './latencies.ts';
import type { LoadCounts, LoadHeld, LoadPlan } from './open-loop.ts';
import { formatLatency, plotLatencies } from './plot.ts';

/** Everything that a load has measured. */
export interface LoadResult {
  readonly seed: string;
  readonly plan: LoadPlan;
  readonly held: LoadHeld;
  readonly counts: LoadCounts;
  readonly deliveries: DeliveryCounts;
  /** Events whose deliveries were not all over when the wait ended. */
  readonly open: number;
  readonly latency: LatencyTable;
  readonly slices: readonly Slice[];
}

/** The share by which the rate may differ from the one that was asked for. */
const RATE_TOLERANCE = 0.02;
/** A load that ends so little late has held its rate: of a short one, a single pause of this process is more than the share. */
const LATE_MS_MAX = 250;

export function resultJson(result: LoadResult): object {
  const { seed, plan, held, counts, deliveries, open, latency, slices } = result;
  return {
    kind: 'load',
    seed,
    rate: plan.rate,
    rate_held: rounded(held.rate),
    duration_ms: Math.round(held.tookMs),
    sent: counts.sent,
    accepted: counts.accepted,
    refused: counts.refused,
    held_back: counts.heldBack,
    delivered: deliveries.delivered,
    failed: deliveries.failed,
    failed_attempts: deliveries.failedAttempts,
    skipped: deliveries.skipped,
    open,
    latency_ms: latency,
    over_time: slices.map(({ p50 = null, p99 = null }) => ({ p50_ms: p50, p99_ms: p99 })),
  };
}

export function resultText(result: LoadResult, output: Output): string {
  const { plan, held, counts, deliveries, open, latency, slices } = result;
  const failed = String(deliveries.failed);
  const rows = [
    ['rate', `${rounded(held.rate)}/s of ${plan.rate}/s, for ${formatDuration(held.tookMs)}`],
    ['sent', `${counts.sent}, ${counts.accepted} accepted${extra(counts)}`],
    ['delivered', `${deliveries.delivered}, ${failed} failed, ${open} open${retries(deliveries)}`],
  ];
  const names = Object.keys(latency).map((name) => name.replace('_', '.'));
  const values = Object.values(latency).map((ms) => (ms === null ? '-' : formatLatency(ms)));
  const width = Math.max(...names.map((name) => name.length), ...values.map((value) => value.length)) + 2;
  const line = (cells: readonly string[]) => cells.map((cell) => cell.padStart(width)).join('');
  const plot = plotLatencies(slices, formatDuration(plan.durationMs));
  return [
    output.table(rows),
    '',
    `latency${line(names).slice(2)}`,
    `       ${line(values).slice(2)}`,
    ...(plot === '' ? [] : ['', plot]),
  ].join('\n');
}

function extra({ refused, heldBack }: LoadCounts): string {
  return `${refused > 0 ? `, ${refused} refused` : ''}${heldBack > 0 ? `, ${heldBack} held back` : ''}`;
}

function retries({ failedAttempts, skipped }: DeliveryCounts): string {
  const failed = failedAttempts > 0 ? `, ${failedAttempts} failed attempts` : '';
  return `${failed}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Throws a failure when the load was not what was asked for, or not everything arrived. */
export function concludeLoad(result: LoadResult): void {
  const { plan, held, counts, deliveries, open } = result;
  if (counts.refused > 0) {
    const reason = held.refusal instanceof Error ? held.refusal.message.split('\n')[0] : 'quarantined';
    throw new CommandFailure(EXIT.expectation, `${counts.refused} events were refused: ${reason}`);
  }
  if (!isHeld(result)) {
    const text = `the rate was not held: ${rounded(held.rate)}/s of ${plan.rate}/s`;
    throw new CommandFailure(EXIT.expectation, text, [
      `try a lower one: --rate ${Math.floor(held.rate * 0.9)}`,
    ]);
  }
  const list = 'list them: hookrail sim deliveries list';
  if (deliveries.failed > 0) {
    throw new CommandFailure(EXIT.expectation, `${deliveries.failed} deliveries failed`, [list]);
  }
  if (open > 0) {
    throw new CommandFailure(EXIT.timeout, `${open} events were not delivered in time`, [
      list,
      'wait longer with: --wait 5m',
    ]);
  }
  if (deliveries.delivered === 0) {
    throw new CommandFailure(EXIT.expectation, 'nothing was delivered: every endpoint skipped every event', [
      'see their filters: hookrail sim endpoints list',
    ]);
  }
}

function isHeld({ plan, held, counts }: LoadResult): boolean {
  if (Math.abs(held.rate / plan.rate - 1) <= RATE_TOLERANCE) return true;
  return counts.heldBack === 0 && Math.abs(held.tookMs - plan.durationMs) <= LATE_MS_MAX;
}

function rounded(rate: number): number {
  return Math.round(rate * 10) / 10;
}
