import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Guard } from '../../../scripts/guard/guard.ts';
import { findJava, kafkaJars } from '../../../scripts/local-kafka/artifacts.ts';
import { messageOf } from '../../../services/messages/error-message.ts';
import type { KafkaForTests } from '../kafka/address.ts';

const PROGRAM = fileURLToPath(new URL('./OutsideProducer.java', import.meta.url));
const SCHEMA = fileURLToPath(new URL('../../../schemas/events/KYC.avsc', import.meta.url));
const RUN_MS_MAX = 90_000;
const execute = promisify(execFile);

/** A producer that is not hookrail's: a program in Java. */
export interface OutsideProducer {
  /** Writes a KYC/FULL_USER event and returns the program's output. */
  send(topic: string, eventId: string, merchantId: string, userId: string): Promise<string>;
}

/** Returns the Java producer; prints the reason and returns undefined if no Java can compile it. */
export async function outsideProducer(kafka: KafkaForTests): Promise<OutsideProducer | undefined> {
  const guard = new Guard();
  try {
    const context = { guard, environment: process.env, say: () => {} };
    const { command: java } = await findJava(context);
    const { stdout } = await execute(java, ['--list-modules']);
    if (!stdout.includes('jdk.compiler')) throw new Error('this Java is a runtime without a compiler');
    const jars = await kafkaJars(context);
    return {
      async send(topic, ...ids) {
        const given = [kafka.brokers.join(','), kafka.registryUrl, topic, SCHEMA, ...ids];
        const settings = ['-Xmx96m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];
        const args = [...settings, '-cp', `${jars}/*`, PROGRAM, ...given];
        return (await execute(java, args, { timeout: RUN_MS_MAX })).stdout.trim();
      },
    };
  } catch (error) {
    console.warn(`The Java producer is skipped: ${messageOf(error)}`);
    return undefined;
  } finally {
    await guard.close();
  }
}
