import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { PositionLost } from '../../domain/journal.ts';
import { messageOf } from '../../messages/error-message.ts';
import { damaged, isDamage, isUnavailable } from '../../sqlite/database.ts';
import { CursorInvalid, MerchantClosed, RecordRefused, StoreConflict } from '../change.ts';
import type { Call, Failure, FromThread } from './thread-calls.ts';

/** The most calls handled together: those that waited while the thread was busy. */
const CALLS_MAX = 1000;

/** Returns the port to the main thread. Throws when this module was not started as a worker. */
export function mainThread(): MessagePort {
  if (!parentPort) throw new Error('this module runs in a worker thread of the store');
  return parentPort;
}

/**
 * Passes on all calls that have arrived at once; those that arrive while `handle` works are the next batch. It may await
 * statements, which end within the same turn of the event loop: no other call is passed on meanwhile.
 */
export function serve(port: MessagePort, handle: (calls: readonly Call[]) => void | Promise<void>): void {
  port.on('message', (first: Call) => {
    const calls = [first];
    while (calls.length < CALLS_MAX) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) break;
      calls.push(next.message);
    }
    void handle(calls);
  });
}

export function tell(port: MessagePort, message: FromThread): void {
  port.postMessage(message);
}

/** Converts an exception for the main thread, to one line for an operator. */
export function toFailure(error: unknown, file: string): Failure {
  const message = messageOf(error);
  if (error instanceof CursorInvalid) return { kind: 'cursor', message };
  if (error instanceof StoreConflict) return { kind: 'conflict', message };
  if (error instanceof MerchantClosed) return { kind: 'closed', message };
  if (error instanceof RecordRefused) return { kind: 'refused', message };
  if (error instanceof PositionLost) return { kind: 'position', message };
  if (isDamage(error)) return { kind: 'unavailable', message: damaged(file, error) };
  if (!isUnavailable(error)) return { kind: 'other', message };
  return { kind: 'unavailable', message: `the store ${file} is unavailable: ${message}` };
}
