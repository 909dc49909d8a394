/** A follower of the directory leaves nothing behind, and does not ask brokers without a pause. */
import { setImmediate as turn } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { DirectoryFollower } from '../../../../services/broker/kafka/directory/directory-follower.ts';
import type { KafkaRecords } from '../../../../services/broker/kafka/registry/records.ts';
import type { Admins } from '../../../../services/kafka-client/client/admins.ts';
import { outOfRange } from '../../../../services/kafka-client/fetch/record-set.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { type FakeConsumer, kafkaOfFakes } from '../../../support/kafka/fake-consumers.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const log = createLogger('silent');

const firstOf = ([first]: readonly FakeConsumer[]): FakeConsumer => {
  if (!first) throw new Error('no consumer was made');
  return first;
};

describe('a follower of the directory', () => {
  function aFollower() {
    const clock = new SimulatedClock();
    const { kafka, consumers } = kafkaOfFakes();
    const unanswered = () => new Promise(() => {});
    const follower = new DirectoryFollower({
      kafka,
      clock,
      log,
      admins: { endsOf: unanswered, startsOf: unanswered, renew: () => {} } as unknown as Admins,
      records: {} as KafkaRecords,
      topic: 'directory',
      newGroupId: () => 'group',
      apply: () => {},
      caughtUp: () => {},
    });
    const started = follower.start().catch((error: Error) => error.message);
    return { clock, consumers, follower, started };
  }

  it('leaves nothing behind when it is closed while its client joins', async () => {
    const { consumers, follower, started } = aFollower();
    await turn();
    const client = firstOf(consumers);
    await follower.close();
    expect(await started).toBe('the broker is closed');
    client.join('directory', [0]);
    await turn();
    expect(client.isMember).toBe(false);
  });

  it('fetches again only after a pause when the log has nothing at its position', async () => {
    const { clock, consumers, follower } = aFollower();
    await turn();
    const client = firstOf(consumers);
    client.join('directory', [0]);
    await client.read({ batch: { messages: [outOfRange(5n)] } } as unknown as EachBatchPayload);
    expect([client.paused, client.resumed]).toEqual([[0], []]);
    clock.advance(1000);
    expect([client.paused, client.resumed]).toEqual([[0], [0]]);
    await follower.close();
  });
});
