/**
 * The kinds of the log's tables. Each is partitioned by `created_at`: a table, called leaf, for each span of time, which
 * retention drops whole.
 */
export const LEAF_KINDS = [
  ...(['event', 'delivery', 'attempt', 'body', 'failing', 'missed', 'feed', 'tally'] as const),
] as const;
export type LeafKind = (typeof LEAF_KINDS)[number];

/** A span of time and the ending of its leaves' names. */
export interface Leaf {
  /** Milliseconds since the epoch: included. */
  readonly from: number;
  /** Not included. */
  readonly to: number;
  /** `2026112206`: the hour, UTC, at which it begins. */
  readonly suffix: string;
}

/** Returns the leaf that a row with this `created_at` is in. */
export function leafOf(createdAt: number, leafMs: number): Leaf {
  const from = Math.floor(createdAt / leafMs) * leafMs;
  return { from, to: from + leafMs, suffix: suffixOf(from) };
}

function suffixOf(from: number): string {
  return new Date(from).toISOString().slice(0, 13).replace(/[-T]/g, '');
}

/** Returns the time at which a leaf with this name begins; undefined when it is no leaf of the kind. */
export function beginOfLeaf(kind: LeafKind, name: string): number | undefined {
  const parts = /^([a-z]+)_(\d{4})(\d\d)(\d\d)(\d\d)$/.exec(name);
  if (parts?.[1] !== kind) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0] = parts.slice(2).map(Number);
  return Date.UTC(year, month - 1, day, hour);
}
