import { Chance } from '../../../services/samples/chance.ts';
import type { KafkaForTests } from '../kafka/address.ts';
import { Trial, type TrialOptions } from './kafka-trial.ts';

/** How much sooner than in production these trials retry. */
export const RETRY_SCALE = 10_000;

/**
 * Starts a trial of a store: one router, one sender, quick receivers, and a producer that writes to Kafka, because producers
 * of the REST API wait for the store.
 */
export function startKafkaProducerTrial(
  title: string,
  cluster: KafkaForTests,
  postgres?: NonNullable<TrialOptions['postgres']>,
): Promise<Trial> {
  return Trial.start({
    cluster,
    chance: new Chance(title),
    routers: 1,
    senders: 1,
    ...(postgres ? { postgres } : {}),
    answerMs: [1, 20],
    manners: ['good', 'moody'],
    hasForeignProducer: true,
    environment: { HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}` },
  });
}
