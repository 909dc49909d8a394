import { afterEach, beforeAll } from 'vitest';
import { parseEgressAllow } from '../../../services/egress/egress.ts';
import { systemClock } from '../../../services/process/clock.ts';
import {
  type HttpTransport,
  openTransport,
  type TransportOptions,
} from '../../../services/sender/http/transport.ts';
import type { Authority, Certificate } from '../../../simulator/receiver/certificate-authority.ts';
import {
  type Answer,
  type RawReceiver,
  receiverCertificates,
  startRawReceiver,
} from './misbehaving-receivers.ts';

/** Real transports and raw receivers on this machine, whose certificates the transports trust. */
export interface Transports {
  /** The authority that the transports trust; there once the suite has begun. */
  readonly authority: Authority;
  /** The certificate of the receivers; there once the suite has begun. */
  readonly certificate: Certificate;
  /** Opens a transport, which is closed after the test. */
  transportOf(options?: Partial<TransportOptions>): HttpTransport;
  /** Starts a receiver, which is closed after the test. */
  receiver(answer: Answer, options?: Parameters<typeof startRawReceiver>[2]): Promise<RawReceiver>;
  /** Closes these after the test, the last one first. */
  closeAfter(...opened: readonly { close(): Promise<void> }[]): void;
}

/** Declares the hooks of a suite that sends over HTTPS. `limits`: the time-outs of its transports, milliseconds. */
export function useTransports(
  limits: Pick<TransportOptions, 'totalTimeoutMs' | 'connectTimeoutMs'>,
): Transports {
  let issued: Awaited<ReturnType<typeof receiverCertificates>>;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    issued = await receiverCertificates();
  });
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });
  return {
    get authority() {
      return issued.authority;
    },
    get certificate() {
      return issued.certificate;
    },
    transportOf(options = {}) {
      const transport = openTransport({
        clock: systemClock(),
        egress: { ports: [443], allow: parseEgressAllow('127.0.0.0/8,localhost') },
        extraCa: issued.ca,
        ...limits,
        ...options,
      });
      opened.push(transport);
      return transport;
    },
    async receiver(answer, options) {
      const started = await startRawReceiver(issued.certificate, answer, options);
      opened.push(started);
      return started;
    },
    closeAfter: (...each) => void opened.push(...each),
  };
}
