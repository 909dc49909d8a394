import type { CancelReason } from '../../domain/outcome.ts';
import { SKIP_REASON } from './codes.ts';

/**
 * Endpoint (its number); 0 or the code of a skip reason; for a delivery its id and API version; then 1 when a replay made
 * it; last, the code of the reason for which the endpoint was skipped at first.
 */
export type TraceLine =
  | readonly [endpoint: number, skipped: number]
  | readonly [
      endpoint: number,
      delivered: 0,
      deliveryId: string,
      apiVersion: number,
      byReplay?: 0 | 1,
      skippedFor?: number,
    ];

/** Adds lines that the first routing did not have; an endpoint once delivered to stays so. */
export function mergedTrace(first: readonly TraceLine[], second: readonly TraceLine[]): TraceLine[] {
  const lines = new Map(first.map((line) => [line[0], line]));
  for (const line of second) {
    const before = lines.get(line[0]);
    if (before === undefined) lines.set(line[0], line);
    else if (before[1] !== 0 && line.length !== 2)
      lines.set(line[0], [line[0], 0, line[2], line[3], line[4] ?? 0, before[1]]);
  }
  return [...lines.values()];
}

/** A delivery of an earlier routing; `skipped`: code of the skip reason now, undefined = the endpoint is gone. */
export interface Withdrawn {
  readonly deliveryId: string;
  readonly endpoint: number;
  readonly skipped: number | undefined;
}

/** Returns the deliveries of an earlier routing, `before`, that a later one, `lines`, does not have. */
export function withdrawn(before: readonly TraceLine[], lines: readonly TraceLine[]): Withdrawn[] {
  const now = new Map(lines.map((line) => [line[0], line[1]]));
  return before.flatMap(([endpoint, verdict, deliveryId, , byReplay]) => {
    const skipped = now.get(endpoint);
    const isLeft = verdict === 0 && deliveryId !== undefined && byReplay !== 1 && skipped !== 0;
    return isLeft ? [{ deliveryId, endpoint, skipped }] : [];
  });
}

/** Returns why such a delivery is cancelled. */
export function cancelReasonOf(skipped: number | undefined): CancelReason {
  switch (skipped) {
    case undefined:
      return 'endpoint_deleted';
    case SKIP_REASON.of.endpoint_disabled:
      return 'endpoint_disabled';
    case SKIP_REASON.of.endpoint_auto_disabled:
      return 'endpoint_auto_disabled';
    default:
      return 'endpoint_changed';
  }
}
