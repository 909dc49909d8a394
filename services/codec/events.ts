/** Events as producers send them: the JSON form (POST /producer/events) and Avro (the events topic). */
export { EventDecoder, encodeEvent, schemaIdOf } from './event-avro.ts';
export { decodeEventJson, eventToJson } from './event-json.ts';
export { eventSchemaText, recordNameOf } from './event-schemas.ts';
