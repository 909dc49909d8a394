import { EventDecoder, encodeEvent, eventSchemaText, eventToJson } from '../../services/codec/events.ts';
import { type DomainEvent, EVENT_TYPES } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { sampleEvent } from '../../services/samples/sample.ts';

export const ID = 7;
export const EVENT = sampleEvent({
  type: 'fiatToCrypto',
  subType: 'SUCCESS',
  merchantId: 'm1',
  entityId: uuidV5('entity'),
  seed: 'avro',
  occurredAt: 1_900_000_000_000,
});

/** A decoder that has our own schemas under the types' places in the list. */
export const ownDecoder = () =>
  new EventDecoder((id) => {
    const type = EVENT_TYPES[id];
    return type === undefined ? undefined : eventSchemaText(type);
  });

export const encode = (event: DomainEvent) => encodeEvent(event, EVENT_TYPES.indexOf(event.type));

const { type: _, ...record } = eventToJson(EVENT);
export const RECORD = record;
