import { parseEgressAllow } from '../../../services/egress/egress.ts';
import type { Clock } from '../../../services/process/clock.ts';
import { openTransport, type Transport } from '../../../services/sender/http/transport.ts';

/** Opens a transport that reaches receivers on this machine, and trusts certificates signed by `ca` (PEM). */
export function loopbackTransport(clock: Clock, ca: string): Transport {
  return openTransport({
    clock,
    totalTimeoutMs: 20_000,
    connectTimeoutMs: 3000,
    egress: { ports: [443], allow: parseEgressAllow('127.0.0.0/8') },
    extraCa: ca,
  });
}
