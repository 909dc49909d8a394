/**
 * Guarantee: a start with 100,000 endpoints reads the whole table before anything is routed or sent by it. How long that
 * takes is printed (aim: 10 s).
 */
import { expect, it } from 'vitest';
import { Directory } from '../../../services/domain/directory.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { aTask, endpointChange } from '../../support/records/broker-records.ts';

const ENDPOINTS = 100_000;
const STEP = 5_000;

await describeWithKafka('a directory of 100,000 endpoints', (kafka) => {
  it('is complete when following it has begun', async () => {
    const installation = await kafkaInstallation(kafka);
    const { clock } = installation;
    let broker = await installation.open();
    for (let at = 0; at < ENDPOINTS; at += STEP) {
      await broker.publishDirectory(
        Array.from({ length: STEP }, (_, index) => endpointChange(`endpoint-${at + index}`, 1)),
      );
    }
    await broker.close();
    broker = await installation.open();
    const directory = new Directory();
    const startedAt = clock.now();
    const follower = await broker.followDirectory((change) => directory.apply(change));
    const seconds = (clock.now() - startedAt) / 1000;
    expect(directory.endpointCount).toBe(ENDPOINTS);
    expect(follower.stalenessMs()).toBeLessThan(5_000);
    console.log(`caught up with ${ENDPOINTS} endpoints in ${seconds.toFixed(1)} s`);
    // The last of the table is as good as the first.
    const task = aTask({ endpointId: `endpoint-${ENDPOINTS - 1}` });
    await broker.publishTasks([{ task, journal: [] }]);
    const known = await new Promise<boolean>((resolve) => {
      void broker.tasks.live.consume(
        ({ endpointId }) => {
          resolve(directory.endpoint(endpointId) !== undefined);
          return { kind: 'settled', journal: [] };
        },
        { inFlightMax: 1 },
      );
    });
    expect(known).toBe(true);
    await broker.close();
    await installation.dispose();
  }, 180_000);
});
