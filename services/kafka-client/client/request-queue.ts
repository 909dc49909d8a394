import { createRequire } from 'node:module';

/** kafkajs's queue of the requests over one connection. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);
let isReplaced = false;

/**
 * Makes kafkajs look for waiting requests of a connection only while one waits; making one wait schedules a look. After
 * the first response kafkajs would look every millisecond, for ever: its timer is set to a time long past, and Node
 * warns of it. A process with twenty connections would fire 20,000 timers a second. May be called again.
 */
export function lookOnlyForWaitingRequests(): void {
  if (isReplaced) return;
  isReplaced = true;
  const { prototype }: { prototype: RequestQueue } = require('kafkajs/src/network/requestQueue');
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}
