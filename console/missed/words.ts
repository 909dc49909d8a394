import { counted } from '../parts/words.ts';
import type { MarkReason } from './spells.ts';

const REASONS: Readonly<Record<MarkReason, string>> = {
  skipped: 'the endpoint was disabled',
  exhausted: 'all attempts failed',
  refused: 'your server answered 410',
  cancelled: 'cancelled before it arrived',
  owed: 'still being tried',
};

/** Returns why an event was missed, as a person says it. */
export function reasonOf(reason: string): string {
  return REASONS[reason as MarkReason] ?? reason;
}

/** Returns a count with its noun. */
export function eventsOf(count: number): string {
  return counted(count, 'event');
}

/** Returns counts by name in a line, the largest first. */
export function tallyOf(counts: Readonly<Record<string, number>>, says = (name: string) => name): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${says(name)}: ${count.toLocaleString('en')}`)
    .join(' · ');
}
