import { certificateNotice } from '../domain/notices/certificate-end.ts';
import type { NewNotice } from '../domain/notices/notice.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import { fewAtOnce } from '../process/few-at-once.ts';
import type { EndpointRecord, Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Outage } from '../telemetry/outage.ts';
import { RepeatedSteps } from './repeated-steps.ts';

/** The certificate of every active endpoint is looked at once in this time. */
const PASS_MS = 86_400_000;
const STEP_MS = 30_000;
/** Endpoints of one step: 288,000 a day. */
const STEP = 100;
/** Connections at a time. */
const AT_ONCE = 10;
/** The place in the store: when the pass began, and the cursor of the last endpoint; no cursor: the pass has ended. */
const PLACE = 'certificate.expiring';

/** Returns the end of the certificate that a server shows, milliseconds since the epoch; null: it shows none, or an invalid one. */
export type CertificateEnd = (url: string, signal: AbortSignal) => Promise<number | null>;

interface CertificateDeps {
  readonly store: Pick<Store, 'notices' | 'endpoints'>;
  readonly certificateEnd: CertificateEnd;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Pass {
  readonly beganAt: number;
  readonly after: string;
}

/**
 * Looks at the certificates of all active endpoints once a day, in the one process that has the lease `api`, and adds the
 * notice of each that is near its end. It connects to a server as an attempt does, and sends no request. The first pass
 * begins a day after the first start.
 */
export class CertificateWatch {
  readonly #deps: CertificateDeps;
  readonly #steps: RepeatedSteps;

  constructor(deps: CertificateDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    const outage = new Outage(
      (error) =>
        log.warn(
          { event: 'certificates_not_looked_at', reason: messageOf(error) },
          'the certificates of endpoints cannot be looked at, will try again',
        ),
      () =>
        log.info({ event: 'certificates_looked_at_again' }, 'certificates of endpoints are looked at again'),
    );
    this.#steps = new RepeatedSteps({ clock, outage, pauseMs: STEP_MS }, (signal) => this.#step(signal));
  }

  /** Gives up the connections that are open. May be called twice. */
  stop(): Promise<void> {
    return this.#steps.stop();
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#deps;
    const now = Math.floor(clock.wall());
    const from = await store.notices.place(PLACE);
    const pass = from === null ? null : passIn(from);
    if (pass === null) {
      await store.notices.move(PLACE, { from, to: placeOf({ beganAt: now, after: '' }) }, []);
      return;
    }
    const isEnded = pass.after === '';
    if (isEnded && now < pass.beganAt + PASS_MS) return;
    const beganAt = isEnded ? now : pass.beganAt;
    const after = isEnded ? {} : { after: pass.after };
    const endpoints = await store.endpoints.every({ status: 'active', limit: STEP, ...after });
    const found = await this.#near(endpoints, signal);
    // What was not looked at is left for the next process.
    if (signal.aborted) return;
    const last = endpoints.length < STEP ? undefined : endpoints.at(-1);
    const to = placeOf({ beganAt, after: last?.cursor ?? '' });
    await store.notices.move(PLACE, { from, to }, found);
  }

  async #near(endpoints: readonly EndpointRecord[], signal: AbortSignal): Promise<readonly NewNotice[]> {
    const { certificateEnd, clock } = this.#deps;
    const found = await fewAtOnce(endpoints, AT_ONCE, async ({ merchantId, uuid: endpointId, url }) => {
      const until = signal.aborted ? null : await certificateEnd(url, signal);
      if (until === null) return undefined;
      return certificateNotice({ merchantId, endpointId, url, until, at: Math.floor(clock.wall()) });
    });
    return found.flatMap((notice) => notice ?? []);
  }
}

function placeOf({ beganAt, after }: Pass): string {
  return `${beganAt} ${after}`;
}

function passIn(place: string): Pass {
  const [beganAt, after = ''] = place.split(' ');
  return { beganAt: Number(beganAt), after };
}
