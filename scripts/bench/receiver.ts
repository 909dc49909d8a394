import { type Authority, issueCertificate } from '../../simulator/receiver/certificate-authority.ts';
import { startChild } from './child.ts';

/** A request, recorded and responded to when its last byte was read. */
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
  readonly response?: string;
}

/** The interface of the receiver's process to the rest of the benchmark. */
export interface Receiver {
  /** One for each origin. */
  readonly ports: readonly number[];
  /**
   * Forgets all arrivals; with `record`, stores each from now on. The first `failedAttempts` (default: none) of a delivery
   * get a 500 from now on, and requests to the first `dark` endpoints (default: none) get no response. `response`: instead of an empty
   * 200, as bytes of Latin-1.
   */
  reset(options: ResetOptions): Promise<void>;
  count(): Promise<{ readonly total: number; readonly distinct: number }>;
  /** Resolves when this many different deliveries have arrived, with the wall-clock time of the last. */
  reached(distinct: number): Promise<number>;
  recorded(): Promise<readonly Arrival[]>;
  stop(): Promise<void>;
}

/** The origins at which the receiver can be reached. */
export const ORIGINS = 50;

export async function startReceiver(authority: Authority): Promise<Receiver> {
  const child = startChild('./receiver-process.ts');
  const { certPem, keyPem } = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  const ports = await child.ask<number[]>('listen', { cert: certPem, key: keyPem, count: ORIGINS });
  return {
    ports,
    reset: (options) => child.ask('reset', options),
    count: () => child.ask('count'),
    reached: (distinct) => child.ask('reached', distinct),
    recorded: () => child.ask('recorded'),
    stop: () => child.stop(),
  };
}
