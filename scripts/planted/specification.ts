import type { PlantedBug } from './planted-bug.ts';

const PUBLISH = 'services/api/routes/publish-events.ts';
const PRODUCER_TEST = 'test/api/routes/producer.test.ts';

/** What the specification and docs/decisions.md promise of statuses and answers. */
export const SPECIFICATION_BUGS: readonly PlantedBug[] = [
  {
    id: 'gone-is-exhausted',
    bug: 'a delivery that a 410 ended is recorded as exhausted',
    file: 'services/store/sqlite/log/journal-writer.ts',
    text: 'refused: STATUS.of.refused,',
    replacement: 'refused: STATUS.of.exhausted,',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'ends exhausted, refused and cancelled deliveries',
  },
  {
    id: 'refused-event-is-routed',
    bug: 'the router routes an event whose producer was told `quarantined`, when it knows the merchant by then',
    file: 'services/router/fan-out.ts',
    text: 'const refusal = received.refusal ?? refusalOf(',
    replacement: 'const refusal = refusalOf(',
    test: 'test/broker/kafka/contract.test.ts',
    title: 'quarantines what its publisher refused',
    needsKafka: true,
  },
  {
    id: 'put-back-event-stays-refused',
    bug: 'an event that an operator puts back from quarantine is quarantined again for the old reason',
    file: 'services/broker/kafka/streams/event-stream.ts',
    text: 'const refusal = requeuedAs(headers) === undefined ? refusalIn(headers) : undefined;',
    replacement: 'const refusal = refusalIn(headers);',
    test: 'test/broker/kafka/contract.test.ts',
    title: 'quarantines what its publisher refused',
    needsKafka: true,
  },
  {
    id: 'new-merchant-is-unknown',
    bug: 'events of a merchant that was just created are answered `quarantined`',
    file: PUBLISH,
    text: 'if (await store.merchants.get(merchantId)) missing.delete(merchantId);',
    replacement: '',
    test: PRODUCER_TEST,
    title: 'says `quarantined`',
  },
  {
    id: 'unknown-merchant-is-accepted',
    bug: 'events of an unknown merchant are answered `accepted`',
    file: PUBLISH,
    text: 'if (refusal) refusals.set(event, refusal);',
    replacement: '',
    test: PRODUCER_TEST,
    title: 'says `quarantined`',
  },
];
