/**
 * The rules for the content of an event whose form is right. The api and the routers judge by them alike, so that REST
 * and Kafka accept the same.
 */
import type { DomainEvent, EventValue } from '../event.ts';
import { textFault } from '../text/text-fault.ts';
import type { ContentFault } from './content-fault.ts';
import { contradictionsIn } from './contradictions.ts';
import { occurredAtFault } from './event-time.ts';

const NONE: readonly ContentFault[] = [];

/** Returns every fault of an event's content; usually none. `now`: milliseconds since the epoch. */
export function contentFaults(event: DomainEvent, now: number): readonly ContentFault[] {
  const faults: ContentFault[] = [];
  textFaults(event.merchantId, '/header/merchantId', faults);
  textFaults(event.data, '/data', faults);
  const time = occurredAtFault(event.occurredAt, now);
  if (time !== undefined) faults.push({ pointer: '/header/occurredAt', detail: time });
  faults.push(...contradictionsIn(event));
  return faults.length === 0 ? NONE : faults;
}

function textFaults(value: EventValue, pointer: string, faults: ContentFault[]): void {
  if (typeof value === 'string') {
    const detail = textFault(value);
    if (detail !== undefined) faults.push({ pointer, detail });
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) textFaults(inner, `${pointer}/${name}`, faults);
  }
}
