/**
 * Loaded before the service (`NODE_OPTIONS=--import=…`). Counts the Kafka requests that the process sends, by API key, and
 * writes the counts as JSON to the file named by COUNT_KAFKA_REQUESTS plus the process id, about every quarter of a second.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const CLIENT_ID = 'hookrail-';
const EVERY_MS = 250;
const file = process.env.COUNT_KAFKA_REQUESTS;
const counts = {};

/** Request header: size, API key, version, correlation id, client id. */
function count(chunk) {
  if (!Buffer.isBuffer(chunk) || chunk.length < 14 + CLIENT_ID.length) return;
  if (chunk.readInt32BE(0) !== chunk.length - 4) return;
  if (chunk.toString('latin1', 14, 14 + CLIENT_ID.length) !== CLIENT_ID) return;
  const apiKey = chunk.readInt16BE(4);
  counts[apiKey] = (counts[apiKey] ?? 0) + 1;
}

if (file && isMainThread) {
  const { write } = Socket.prototype;
  Socket.prototype.write = function (chunk, ...rest) {
    count(chunk);
    return write.call(this, chunk, ...rest);
  };
  const target = `${file}.${process.pid}`;
  setInterval(() => {
    writeFileSync(`${target}.new`, JSON.stringify(counts));
    renameSync(`${target}.new`, target);
  }, EVERY_MS).unref();
}
