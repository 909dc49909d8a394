import { type Authority, issueCertificate } from '../../simulator/receiver/certificate-authority.ts';
import { startChild } from './child.ts';

/** A request whose last byte was read, and which was answered then. */
export interface Arrival {
  readonly eventId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface ResetOptions {
  readonly record: boolean;
  readonly failedAttempts?: number;
  readonly dark?: number;
}

/** The receiver's process, as the rest of the benchmark sees it. */
export interface Receiver {
  readonly port: number;
  /**
   * Forgets all arrivals; `record` keeps the time of each from now on. From now on the first `failedAttempts` (default:
   * none) of a delivery are answered 500, and requests to the first `dark` endpoints (default: none) not at all.
   */
  reset(options: ResetOptions): Promise<void>;
  count(): Promise<{ readonly total: number; readonly distinct: number }>;
  /** Resolves when so many different deliveries have arrived, with the wall-clock time of the last. */
  reached(distinct: number): Promise<number>;
  recorded(): Promise<readonly Arrival[]>;
  stop(): Promise<void>;
}

export async function startReceiver(authority: Authority): Promise<Receiver> {
  const child = startChild('./receiver-process.ts');
  const { certPem, keyPem } = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  const port = await child.ask<number>('listen', { cert: certPem, key: keyPem });
  return {
    port,
    reset: (options) => child.ask('reset', options),
    count: () => child.ask('count'),
    reached: (distinct) => child.ask('reached', distinct),
    recorded: () => child.ask('recorded'),
    stop: () => child.stop(),
  };
}
