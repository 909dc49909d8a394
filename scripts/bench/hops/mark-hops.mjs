/**
 * Loaded before the service (`NODE_OPTIONS=--import=…`). Notes when an event's request arrives, when its commit passes
 * between the threads, and when the webhook is written to its connection. When the process ends, it writes the notes as
 * JSON to the file named by MARK_HOPS. It uses Node's and undici's diagnostics channels, and the messages of the threads.
 */
import { subscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const file = process.env.MARK_HOPS;
/** One clock for all threads, milliseconds since the epoch. */
const now = () => performance.timeOrigin + performance.now();

function markMainThread() {
  const posts = [];
  const commits = [];
  const webhooks = new Map();
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, transfer) {
    if (message?.kind === 'commit' && message.publications.rows.length > 0) message.marks = { sent: now() };
    return postMessage.call(this, message, transfer);
  };
  Worker.prototype.emit = function (name, message, ...rest) {
    if (name === 'message' && message?.marks) commits.push({ ...message.marks, back: now() });
    return EventEmitter.prototype.emit.call(this, name, message, ...rest);
  };
  subscribe('http.server.request.start', ({ request }) => {
    if (request.url === '/producer/events') posts.push(now());
  });
  const isWebhook = ({ method, headers }) => method === 'POST' && `${headers}`.includes('webhook-id');
  subscribe('undici:request:create', ({ request }) => {
    if (isWebhook(request)) webhooks.set(request, { begun: now() });
  });
  const mark = (name) => (message) => {
    const marks = webhooks.get(message.request);
    if (marks) marks[name] = now();
  };
  subscribe('undici:client:sendHeaders', mark('written'));
  subscribe('undici:request:headers', mark('answered'));
  process.once('exit', () =>
    writeFileSync(file, JSON.stringify({ posts, commits, webhooks: [...webhooks.values()] })),
  );
}

/** The thread that owns a file: marks when it took a commit, and when that was durable. */
function markThread() {
  let marks;
  const { postMessage } = parentPort;
  parentPort.postMessage = (message, transfer) => {
    if (message?.kind === 'committed' && marks) message.marks = { ...marks, durable: now() };
    marks = undefined;
    return postMessage.call(parentPort, message, transfer);
  };
  parentPort.on('message', (message) => {
    if (message?.marks) marks = { ...message.marks, taken: now() };
  });
}

if (file && isMainThread) markMainThread();
else if (file) markThread();
