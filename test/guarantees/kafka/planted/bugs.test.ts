/**
 * The crash check must catch the bug it is made for: an engine that acknowledges a task before its follow-up is
 * durable loses the delivery at a crash, and is found; without the bug the same crash loses nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { DeliveryTask } from '../../../../services/domain/task.ts';
import type { OutgoingRecord, Told } from '../../../../services/kafka-client/producer/record-sender.ts';
import { eventually } from '../../../support/eventually.ts';
import { kafkaInstallation } from '../../../support/kafka/installation.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { aTask } from '../../../support/records/broker-records.ts';

/** Records written later than they are acknowledged, while this is set. */
const planted = vi.hoisted(() => ({ acknowledgesFirst: false }));
const WRITTEN_AFTER_MS = 5000;
/** Some commits. */
const COMMITTED_MS = 2000;
const AGAIN_MS_MAX = 30_000;

vi.mock(import('../../../../services/kafka-client/producer/producer.ts'), async (importOriginal) => {
  const original = await importOriginal();
  class HastyProducer extends original.KafkaProducer {
    override write(records: readonly OutgoingRecord[], told: Told): void {
      if (!planted.acknowledgesFirst) {
        super.write(records, told);
        return;
      }
      setTimeout(() => super.write(records, { durable: () => {}, failed: () => {} }), WRITTEN_AFTER_MS);
      queueMicrotask(() => told.durable());
    }
  }
  return { ...original, KafkaProducer: HastyProducer };
});

await describeWithKafka('a planted commit before the produce', (kafka) => {
  /** Settles a first attempt with a retry to come, crashes, and answers which attempts come after that. */
  async function attemptsAfterCrash(acknowledgesFirst: boolean): Promise<number[]> {
    const installation = await kafkaInstallation(kafka);
    const first = await installation.open();
    const task = aTask();
    let settled = 0;
    await first.tasks.live.consume(
      (input: DeliveryTask) => {
        planted.acknowledgesFirst = acknowledgesFirst;
        settled += 1;
        return { kind: 'settled', journal: [], next: { ...input, attempt: 2, dueAt: Date.now() + 60_000 } };
      },
      { inFlightMax: 10 },
    );
    await first.publishTasks([{ task, journal: [] }]);
    await eventually('the first attempt is settled', () => settled > 0, AGAIN_MS_MAX);
    await sleep(COMMITTED_MS);
    await installation.crash(first);
    planted.acknowledgesFirst = false;

    const second = await installation.open();
    const backlog = () => second.status().backlog;
    const again: number[] = [];
    await second.tasks.live.consume(
      (input: DeliveryTask) => {
        again.push(input.attempt);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 10 },
    );
    await sleep(COMMITTED_MS);
    await eventually(
      'every stream of tasks was read',
      () => backlog().tasks === 0 && second.status().oldestOverdueMs === 0,
      AGAIN_MS_MAX,
    );
    if (backlog().delayed > 0) again.push(2);
    await installation.crash(second);
    await installation.dispose();
    return again;
  }

  it('loses the delivery, and the loss is found', { timeout: 90_000 }, async () => {
    expect(await attemptsAfterCrash(true)).toEqual([]);
  });

  it('is the cause, as nothing is lost without it', { timeout: 90_000 }, async () => {
    expect(await attemptsAfterCrash(false)).not.toEqual([]);
  });
});
