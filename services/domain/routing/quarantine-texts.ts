import type { QuarantineReason } from '../quarantine.ts';

/**
 * A reason in words for people. The record's own detail says what is wrong with that event; here is what all of one
 * reason have in common.
 */
export interface QuarantineText {
  readonly title: string;
  /** In Markdown. */
  readonly cause: string;
  readonly remedy: string;
  /** The same for the merchant of the event: it follows "Your platform has to". */
  readonly platformHasTo: string;
}

/** Every reason in words: in the answers to producers, in the operator's commands and in docs/producers.md. */
export const QUARANTINE_TEXTS: Readonly<Record<QuarantineReason, QuarantineText>> = {
  undecodable: {
    title: 'The record cannot be read as an event',
    cause:
      'not the wire format, or bytes that do not fit the schema; the detail says what the bytes look like (JSON, Protobuf, Avro without the prefix, an Avro file, Glue’s or Apicurio’s format, …) and what to set',
    remedy: 'Correct the producer’s serializer, and publish the event again.',
    platformHasTo: 'correct how it writes its events, and publish the event again',
  },
  unknown_schema: {
    title: 'The schema registry does not have the record’s schema',
    cause: 'the registry has no schema with the record’s id',
    remedy:
      'Register the schema, or correct the producer’s registry; then have an operator put the event back.',
    platformHasTo: 'register the schema of the event, and have the event put back',
  },
  unusable_schema: {
    title: 'The record’s schema is not one of an event',
    cause:
      'the registry has the schema, but it is not one of hookrail’s events, not Avro, or cannot be parsed; the detail says which',
    remedy:
      'Publish with a schema of an event. Have an operator put the event back only when a newer hookrail knows its schema.',
    platformHasTo: 'publish the event again, with a schema of an event',
  },
  schema_violation: {
    title: 'The event breaks a rule',
    cause: 'a rule of the schema or of this page is broken; the detail has a JSON pointer to each fault',
    remedy: 'Correct the event, and publish it under a new id.',
    platformHasTo: 'correct the event, and publish it under a new id',
  },
  too_large: {
    title: 'The event is too large',
    cause: 'above the limit of size',
    remedy: 'Publish the event again, smaller, under a new id.',
    platformHasTo: 'publish the event again, smaller, under a new id',
  },
  event_id_conflict: {
    title: 'Another event has this id',
    cause: 'the event id was used for different content',
    remedy: 'Give each event an id of its own: publish this one under a new id.',
    platformHasTo: 'publish the event under an id of its own',
  },
  unknown_merchant: {
    title: 'There is no such merchant',
    cause: 'hookrail has no such merchant',
    remedy:
      'Correct header.merchantId and publish the event under a new id, or have the operator create the merchant and put the event back (hookrail operator quarantine replay).',
    platformHasTo: 'have the event put back: you were not known here when it came',
  },
  simulated_in_production: {
    title: 'A simulated event in production',
    cause: '`header.simulated` is true in production',
    remedy: 'Send simulated events to a sandbox.',
    platformHasTo: 'send simulated events to the sandbox',
  },
  render_failed: {
    title: 'hookrail could not make the webhook',
    cause: 'a fault of hookrail',
    remedy: 'Report it to the operator, who puts the event back after the fix.',
    platformHasTo: 'have hookrail mended, and the event put back',
  },
  write_refused: {
    title: 'The brokers refuse what hookrail writes for the event',
    cause:
      'the brokers permanently refuse what hookrail writes for it, but not because of its size; the detail names the topic',
    remedy: 'Have the operator correct the topic, and put the event back.',
    platformHasTo: 'have its streams corrected, and the event put back',
  },
  event_stalled: {
    title: 'The event made a process stand still',
    cause: 'the main thread of a process stood still, twice, while it was busy with the event',
    remedy: 'Report it to the developers of hookrail; an operator puts the event back once that is mended.',
    platformHasTo: 'have hookrail mended, and the event put back',
  },
  attempt_stalled: {
    title: 'A delivery made a process stand still',
    cause: 'the main thread of a process stood still, twice, while it was busy with the delivery',
    remedy:
      'Report it to the developers of hookrail; an operator puts the delivery back once that is mended.',
    platformHasTo: 'have hookrail mended, and the delivery put back',
  },
};
