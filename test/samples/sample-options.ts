import fc from 'fast-check';
import { entityKindsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { type DomainEvent, EVENT_TYPES } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { FIAT_CURRENCIES } from '../../services/samples/bank-accounts.ts';
import { CHAIN_NAMES, tokensOf } from '../../services/samples/chains.ts';
import { type SampleOptions, sampleEvent } from '../../services/samples/sample.ts';

/** Every type with every subType of it. */
export const ALL_KINDS = EVENT_TYPES.flatMap((type) => SUB_TYPES[type].map((subType) => ({ type, subType })));

/** Options for any event that samples can make. */
export const sampleOptions: fc.Arbitrary<SampleOptions> = fc
  .record({
    kind: fc.constantFrom(...ALL_KINDS),
    seed: fc.string(),
    entity: fc.nat(),
    merchantId: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }),
    occurredAt: fc.nat(4_000_000_000_000),
    simulated: fc.boolean(),
    chain: fc.constantFrom(...CHAIN_NAMES),
    currencyFiat: fc.constantFrom(...FIAT_CURRENCIES),
    which: fc.nat(),
  })
  .map(({ kind, seed, entity, merchantId, occurredAt, simulated, chain, currencyFiat, which }) => {
    const kinds = entityKindsOf(kind.type);
    const tokens = tokensOf(chain);
    const entityKind = kinds[which % kinds.length];
    const token = tokens[which % tokens.length];
    return {
      ...kind,
      seed,
      merchantId,
      occurredAt,
      simulated,
      entityId: uuidV5('entity', String(entity)),
      ...(entityKind === undefined ? {} : { entityKind }),
      choices: { chain, currencyFiat, ...(token === undefined ? {} : { token }) },
    };
  });

export const sampleEvents: fc.Arbitrary<DomainEvent> = sampleOptions.map(sampleEvent);
