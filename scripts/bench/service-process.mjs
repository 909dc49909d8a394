/**
 * A process of the built service with a producer inside, so that the measurement starts when an event becomes durable, as
 * on an engine whose producers write to a broker themselves. Plain JavaScript, because a TypeScript loader would distort
 * the measurement.
 */
import { randomUUID } from 'node:crypto';
import { startProcess } from '../../dist/services/main.js';
import { helpersStepBack } from '../../dist/services/process/thread-priority.js';

helpersStepBack();
const hookrail = await startProcess(process.env);

let templates = [];
let published = 0;

/** Publishes events like the templates, in turn, each with its own entity. */
async function publish(count) {
  const events = Array.from({ length: count }, () => {
    const template = templates[published++ % templates.length];
    // One id for both, because creating ids is not part of the measurement.
    const id = randomUUID();
    return { ...template, eventId: id, entityId: id, occurredAt: Date.now(), data: { ...template.data } };
  });
  await hookrail.broker.publishEvents(events);
}

process.on('message', async ({ id, method, argument }) => {
  try {
    if (method === 'prepare') templates = argument;
    else await publish(argument);
    process.send({ id });
  } catch (error) {
    process.send({ id, error: error.message });
  }
});

process.once('SIGTERM', async () => {
  await hookrail.stop();
  process.exit(0);
});
process.once('disconnect', () => process.exit(1));
