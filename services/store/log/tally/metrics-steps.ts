import type { FairTurns } from '../../../process/fair-turns.ts';
import type { MetricsQuery } from '../../metrics.ts';
import type { PointCounts } from './metrics-fold.ts';
import { TALLY_MS, tallyOf } from './tallies.ts';

/** Tallies of one step, some milliseconds of an engine's time: then it is another read's turn. */
const STEP = 1200;

/** The tallies that begin in this part of a period; `to` is not included. */
export interface TallyRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the counts of a query in steps. The first step is made at once; from the second on a query shares its turns with the
 * other long ones, merchant by merchant. Each step sees one state of the store, and counts only grow.
 */
export async function inSteps(
  { from, to }: Pick<MetricsQuery, 'from' | 'to'>,
  endpoints: number,
  turns: { readonly fair: FairTurns; readonly merchantId: string },
  read: (range: TallyRange) => Promise<readonly PointCounts[]>,
): Promise<readonly PointCounts[]> {
  const span = Math.max(1, Math.floor(STEP / Math.max(1, endpoints))) * TALLY_MS;
  const counts: PointCounts[] = [];
  const first = tallyOf(from);
  for (let at = first; at < to; at += span) {
    const range = { from: at, to: Math.min(at + span, to) };
    const found = at === first ? read(range) : turns.fair.run(turns.merchantId, () => read(range));
    counts.push(...(await found));
  }
  return counts;
}
