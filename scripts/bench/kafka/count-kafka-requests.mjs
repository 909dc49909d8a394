/**
 * Loaded before the service (`NODE_OPTIONS=--import=…`). Counts the Kafka requests that the process sends, by API key, and
 * the records that its consumers fetch, by topic. Writes the counts as JSON to the file named by COUNT_KAFKA_REQUESTS plus
 * the process id, about every quarter of a second: in place, because renaming a file over another waits for the disk.
 */
import { openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { Kafka } from 'kafkajs';

const CLIENT_ID = 'hookrail-';
const EVERY_MS = 250;
const file = process.env.COUNT_KAFKA_REQUESTS;
const requests = {};
const fetched = {};

/** Request header: size, API key, version, correlation id, client id. */
function count(chunk) {
  if (!Buffer.isBuffer(chunk) || chunk.length < 14 + CLIENT_ID.length) return;
  if (chunk.readInt32BE(0) !== chunk.length - 4) return;
  if (chunk.toString('latin1', 14, 14 + CLIENT_ID.length) !== CLIENT_ID) return;
  const apiKey = chunk.readInt16BE(4);
  requests[apiKey] = (requests[apiKey] ?? 0) + 1;
}

function countRequests() {
  const { write } = Socket.prototype;
  Socket.prototype.write = function (chunk, ...rest) {
    count(chunk);
    return write.call(this, chunk, ...rest);
  };
}

function countFetched() {
  const { consumer } = Kafka.prototype;
  Kafka.prototype.consumer = function (...options) {
    const made = consumer.apply(this, options);
    made.on(made.events.START_BATCH_PROCESS, ({ payload: { topic, batchSize } }) => {
      fetched[topic] = (fetched[topic] ?? 0) + batchSize;
    });
    return made;
  };
}

if (file && isMainThread) {
  countRequests();
  countFetched();
  const target = openSync(`${file}.${process.pid}`, 'w');
  setInterval(() => {
    writeSync(target, JSON.stringify({ requests, fetched }), 0);
  }, EVERY_MS).unref();
}
