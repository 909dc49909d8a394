/** Events as producers send them: the JSON form (POST /producer/events) and Avro (the events topic). */
export { type DecodedEvent, EventDecoder, encodeEvent, schemaIdOf } from './event-avro.ts';
export { type DecodedJson, decodeEventJson, type EventJson, eventToJson } from './event-json.ts';
export type { EventProblem, EventProblemCode } from './event-problem.ts';
export { eventSchemaText, recordNameOf } from './event-schemas.ts';
