import { eventToJson } from '../../../services/codec/events.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { uuidV5 } from '../../../services/domain/ids.ts';
import { sampleEvent } from '../../../services/samples/sample.ts';

/** Returns a realistic event of a merchant, the same for the same seed. */
export function eventOf(merchantId: string, seed: string, change: Partial<DomainEvent> = {}): DomainEvent {
  const event = sampleEvent({
    type: change.type ?? 'fiatToCrypto',
    subType: change.subType ?? 'SUCCESS',
    merchantId,
    entityId: change.entityId ?? uuidV5('test-entity', seed),
    seed,
    occurredAt: Date.UTC(2025, 0, 1),
    simulated: true,
  });
  return { ...event, ...change };
}

/** Returns the same event in the JSON form of POST /producer/events. */
export const jsonEventOf = (merchantId: string, seed: string, change: Partial<DomainEvent> = {}) =>
  eventToJson(eventOf(merchantId, seed, change));
