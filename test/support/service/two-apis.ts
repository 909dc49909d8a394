import { rmSync } from 'node:fs';
import type { KafkaForTests } from '../kafka/address.ts';
import { Fleet } from '../kafka/fleet.ts';
import { freshPrefix } from '../kafka/suites.ts';
import { prepareSetupOnPostgres } from '../postgres/prepare-setup.ts';
import type { TestDatabase } from '../postgres/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../receivers/logging-receiver.ts';
import { LoadBalancer } from './load-balancer.ts';
import { MerchantClient } from './merchant-client.ts';
import type { ServiceSetup } from './system.ts';

/** Two apis on PostgreSQL and Kafka behind one address. */
export interface TwoApis {
  readonly setup: ServiceSetup;
  readonly fleet: Fleet;
  readonly balancer: LoadBalancer;
  readonly receiver: LoggingReceiver;
  /** Clients of one api each. */
  readonly one: MerchantClient;
  readonly two: MerchantClient;
  /** A client of the balancer. */
  readonly merchant: MerchantClient;
  dispose(): Promise<void>;
}

export interface TwoApisOptions {
  readonly kafka: KafkaForTests;
  readonly createDatabase: () => Promise<TestDatabase>;
  readonly environment?: Record<string, string>;
  /** Whether a recorder, a router and a sender deliver what is published. */
  readonly delivers: boolean;
}

export async function startTwoApis(options: TwoApisOptions): Promise<TwoApis> {
  const { kafka, createDatabase, environment = {}, delivers } = options;
  const database = await createDatabase();
  const setup = await prepareSetupOnPostgres(database, environment);
  const fleet = new Fleet({ setup, ...kafka, topicPrefix: freshPrefix() });
  const running = () => fleet.of('api').filter(({ isRunning }) => isRunning);
  const balancer = await LoadBalancer.open(() => running().map(({ service }) => service.apiUrl));
  const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  const dispose = async () => {
    await fleet.kill();
    await Promise.all([balancer.close(), receiver.close()]);
    await database.drop();
    rmSync(setup.dataDir, { recursive: true, force: true });
  };
  const others = delivers ? 1 : 0;
  await fleet.start(others, others, { apis: 2, recorders: others }).catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  const clientOf = (index: number) =>
    new MerchantClient(setup, () => {
      const api = fleet.of('api')[index];
      if (!api) throw new Error(`this fleet has no api ${index}`);
      return api.service;
    });
  const merchant = new MerchantClient(setup, () => balancer);
  return { setup, fleet, balancer, receiver, one: clientOf(0), two: clientOf(1), merchant, dispose };
}
