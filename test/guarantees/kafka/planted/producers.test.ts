/**
 * Ways to lose acknowledged records that a Kafka client offers, each tried on a real Kafka: comparing the
 * acknowledged records with the log finds the loss, and hookrail's producer loses nothing under the same fault.
 */
import type { Kafka } from 'kafkajs';
import { expect, it, onTestFinished } from 'vitest';
import { ForgetfulLine } from '../../../support/faults/forgetful-line.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import {
  ConcurrentIdempotentProducer,
  SpanningProducer,
  type TriedProducer,
} from '../../../support/producers/naive-producers.ts';
import { type Outcome, ProducerTrial } from '../../../support/producers/trial.ts';

const ROUNDS = 6;
const PER_PARTITION = 10;
const TRIAL_MS_MAX = 120_000;

type MakeProducer = (kafka: Kafka, trial: ProducerTrial) => TriedProducer;
const ours: MakeProducer = (kafka, trial) => trial.ourProducer(kafka);

await describeWithKafka('a producer with', ({ brokers }) => {
  async function tried(
    make: MakeProducer,
    line: ForgetfulLine | undefined,
    load: (trial: ProducerTrial, producer: TriedProducer) => Promise<void>,
  ): Promise<Outcome> {
    const trial = await ProducerTrial.open(brokers);
    onTestFinished(() => trial.close());
    const producer = make(trial.client(line?.socketFactory), trial);
    await producer.open();
    await trial.send(producer, PER_PARTITION);
    await load(trial, producer);
    await producer.close();
    return trial.outcome();
  }

  /** Each request meets a leader that has moved to a broker which answers for another partition of the same request. */
  function whileLeadersMove(make: MakeProducer): Promise<Outcome> {
    return tried(make, undefined, async (trial, producer) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await trial.moveLeader(round % trial.partitions);
        await trial.send(producer, PER_PARTITION);
      }
    });
  }

  /** Each time the answer to a request is lost whose records were written, while others to its partition wait. */
  function whileAnswersAreLost(make: MakeProducer): Promise<Outcome> {
    const line = new ForgetfulLine();
    return tried(make, line, async (trial, producer) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        line.loseNextResponse();
        await trial.send(producer, PER_PARTITION, 1);
      }
      expect(line.lost).toBe(ROUNDS);
    });
  }

  it('one send that spans brokers loses what its retry skips, and the loss is found', {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const outcome = await whileLeadersMove((kafka) => new SpanningProducer(kafka));
    console.log(`a send that spans brokers: ${tell(outcome)}`);
    expect(outcome.lost.length).toBeGreaterThan(0);
  });

  it('one send per leader loses no record while leaders move', { timeout: TRIAL_MS_MAX }, async () => {
    const outcome = await whileLeadersMove(ours);
    console.log(`ours while leaders move: ${tell(outcome)}`);
    expect(outcome).toMatchObject({ lost: [], refused: 0 });
  });

  it('concurrent idempotent sends to a partition loses what passes for a repeat, and the loss is found', {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const outcome = await whileAnswersAreLost((kafka) => new ConcurrentIdempotentProducer(kafka));
    console.log(`concurrent idempotent sends: ${tell(outcome)}`);
    expect(outcome.lost.length).toBeGreaterThan(0);
  });

  it('one send at a time loses no record while answers are lost', { timeout: TRIAL_MS_MAX }, async () => {
    const outcome = await whileAnswersAreLost(ours);
    console.log(`ours while answers are lost: ${tell(outcome)}`);
    expect(outcome).toMatchObject({ lost: [], refused: 0 });
    // The fault was real: what was written and not heard of was sent again.
    expect(outcome.repeated).toBeGreaterThan(0);
  });
});

function tell({ acknowledged, lost, repeated, refused }: Outcome): string {
  return `${acknowledged} acknowledged, ${lost.length} lost, ${repeated} repeated, ${refused} refused`;
}
