/**
 * `npm run kafka:producers [-- --quick] [--poison] [--json FILE] [--brokers LIST --registry URL]`: writes events with kafkajs,
 * librdkafka and Kafka's Java client in every combination of codec, transaction, subject naming, schema and size, and
 * poison of every kind, and checks that each record ends as it should. Exits 1 when one does not. With `--poison` it measures
 * instead what poison in one partition does to the latency of the others.
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf } from '../services/messages/error-message.ts';
import { startLocalKafka } from './local-kafka/cluster.ts';
import { measurePoison, poisonText } from './producers/poison-run.ts';
import { tableText, wrongText } from './producers/report.ts';
import { type RunOptions, runConformance } from './producers/run.ts';

const USAGE = `npm run kafka:producers [-- OPTIONS]
  --quick          fewer combinations (about a minute)
  --json FILE      write each cell of the table as JSON
  --poison         measure the latency of other partitions, with and without poison in one partition, in turns
  --brokers LIST   use this Kafka, host:port, comma-separated; needs --registry (default: start one)
  --registry URL   its Confluent-compatible schema registry`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      poison: { type: 'boolean', default: false },
      brokers: { type: 'string' },
      registry: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if ((values.brokers === undefined) !== (values.registry === undefined)) {
    throw new Error(`--brokers and --registry must be given together.\n${USAGE}`);
  }
  return values;
}

async function main(): Promise<void> {
  const { quick, json, poison, brokers, registry, help } = readOptions();
  if (help) return console.log(USAGE);
  const say = (line: string) => console.error(line);
  const environment = process.env;
  const local =
    brokers === undefined
      ? await startLocalKafka({ nodes: 1, registry: true, isShortLived: true, environment, say })
      : undefined;
  const options: RunOptions = {
    brokers: local?.brokers ?? (brokers ?? '').split(','),
    registryUrl: local?.registryUrl ?? registry ?? '',
    isQuick: quick,
    ...{ environment, say },
  };
  try {
    const { figures, isRight } = poison ? await runPoison(options) : await runTable(options);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
    process.exitCode = isRight ? 0 : 1;
  } finally {
    await local?.stop();
  }
}

async function runTable(options: RunOptions) {
  const cells = await runConformance(options);
  console.log(tableText(cells));
  const wrong = cells.filter(({ isRight }) => !isRight).length;
  console.log(`\n${cells.length} cells, ${wrong} not as expected`);
  if (wrong > 0) console.log(wrongText(cells));
  return { figures: cells, isRight: wrong === 0 };
}

/** The ratio is printed, not judged: it needs an otherwise idle machine. A missing event is always a fault. */
async function runPoison(options: RunOptions) {
  const result = await measurePoison(options);
  console.log(poisonText(result));
  const isRight = result.without.missing + result.with.missing === 0 && result.isBehindDelivered;
  return { figures: result, isRight };
}

// process.exit lets every part clean up.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
