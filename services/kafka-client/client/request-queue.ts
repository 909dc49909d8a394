import { createRequire } from 'node:module';

/** kafkajs's queue of the requests over one connection. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);
let isReplaced = false;

/**
 * After the first response over a connection, kafkajs looks every millisecond for requests that wait there, for ever: its
 * timer is set for a time long past, of which Node warns. A process with twenty connections fires 20,000 timers a
 * second, busy or idle. From here on it looks only while a request waits: making one wait schedules a look. May be
 * called again.
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
