/**
 * A process of the built service with a producer inside, so that what is measured begins where an event becomes durable, as it does
 * on an engine whose producers write to a broker themselves. Plain JavaScript: a loader for TypeScript would be measured
 * with it.
 */
import { randomUUID } from 'node:crypto';
import { startProcess } from '../../dist/services/main.js';

const hookrail = await startProcess(process.env);

let templates = [];
let published = 0;

/** Publishes events like the templates, in turn, each of an entity of its own. */
async function publish(count) {
  const events = Array.from({ length: count }, () => {
    const template = templates[published++ % templates.length];
    // One for both: making ids is not what is measured.
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
