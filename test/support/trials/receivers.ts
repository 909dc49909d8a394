import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../../services/samples/chance.ts';
import type { Exchange } from '../models/delivery-checker.ts';
import { type Arrival, CONNECTION_ENDED, NEVER_ANSWERED } from '../receivers/logging-receiver.ts';

/**
 * How the receiver of a path `/<manner>/…` behaves. `good` responds with 200; `moody` with 200 or 500 at random; `bad`
 * with 500; `hanging` does not respond for phases of some seconds, and responds with 200 in between; `refusing` closes the
 * connection in such phases.
 */
export type ReceiverBehaviour = 'good' | 'moody' | 'bad' | 'hanging' | 'refusing';

const PHASE_MS = 8000;

interface Behaviour {
  readonly chance: Chance;
  /** How long a response takes, milliseconds: long enough that a fault hits requests in flight. */
  readonly answerMs: readonly [least: number, most: number];
}

/** Returns a handler that responds according to the request's path, and adds each exchange to the receivers' own log. */
export function answering({ chance, answerMs }: Behaviour, exchanges: Exchange[]) {
  return async ({ path, deliveryId, attempt, at }: Omit<Arrival, 'status'>): Promise<number> => {
    const manner = path.split('/')[1] as ReceiverBehaviour;
    await sleep(chance.between(...answerMs));
    const log = (status: number, answeredAt: number, isCut = false) =>
      exchanges.push({ deliveryId, attempt, at, answeredAt, status, isCut });
    const isDark = Math.floor(at / PHASE_MS) % 2 === 0;
    if (isDark && (manner === 'hanging' || manner === 'refusing')) {
      // The sender decides when such an attempt ends, which is not before the request arrived.
      log(0, at, manner === 'refusing');
      return manner === 'hanging' ? NEVER_ANSWERED : CONNECTION_ENDED;
    }
    const isGood = manner !== 'bad' && (manner !== 'moody' || chance.below(2) === 0);
    const status = isGood ? 200 : 500;
    log(status, Date.now());
    return status;
  };
}
