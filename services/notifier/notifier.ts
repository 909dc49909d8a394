import type { Broker } from '../broker/broker.ts';
import type { SourceAddress } from '../config/well-known/source-addresses.ts';
import type { Directory } from '../domain/directory.ts';
import { deliveryId } from '../domain/ids.ts';
import type { NoticeData } from '../domain/notices/notice.ts';
import { SCHEDULE_SECONDS } from '../domain/retry.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import { fewAtOnce, READS_AT_ONCE } from '../process/few-at-once.ts';
import { countMissed } from '../replayer/count-missed.ts';
import type { NoticeRecord } from '../store/notices.ts';
import type { EndpointRecord, Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Outage } from '../telemetry/outage.ts';
import { CauseWatch } from './cause-watch.ts';
import { eachInTurn } from './each-in-turn.ts';
import { noticeTask, wants } from './notice-tasks.ts';
import { RepeatedSteps } from './repeated-steps.ts';

/** How often the store is asked for notices that are due. */
const LOOK_MS = 1000;
/** Notices sent in one turn; more follow in the next. */
const AT_ONCE = 50;

export interface NotifierDeps {
  readonly store: Pick<Store, 'notices' | 'replays' | 'endpoints' | 'log'>;
  readonly broker: Pick<Broker, 'publishTasks' | 'status' | 'quarantine' | 'losses'>;
  readonly directory: Pick<Directory, 'merchant'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The addresses that webhooks come from, with those that come and go. */
  readonly sources: readonly SourceAddress[];
}

/**
 * Sends operational notices (docs/design/notices.md), in the one process that has the lease `api`: takes each that is due,
 * makes one delivery for each endpoint that wants it, then marks it as sent. A crash in between repeats the deliveries,
 * whose ids are the same.
 */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #watch: CauseWatch;
  readonly #steps: RepeatedSteps;

  /** Starts at once: notices that an earlier process left are sent. */
  constructor(deps: NotifierDeps) {
    this.#deps = deps;
    this.#watch = new CauseWatch(deps);
    const { clock, log } = deps;
    const outage = new Outage(
      (error) =>
        log.warn(
          { event: 'notices_waiting', reason: messageOf(error) },
          'operational notices cannot be sent, will try again; none is lost',
        ),
      () => log.info({ event: 'notices_sent_again' }, 'operational notices are sent again'),
    );
    this.#steps = new RepeatedSteps({ clock, outage, pauseMs: LOOK_MS }, async (signal) => {
      await this.#watch.look();
      await this.#sendDue(signal);
    });
  }

  /** Waits for a notice that is being published. May be called twice. */
  stop(): Promise<void> {
    return this.#steps.stop();
  }

  /** Sends what is due. One that fails does not hold up the others, and is tried again in the next turn. */
  async #sendDue(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    const due = await store.notices.due(clock.wall(), AT_ONCE);
    await eachInTurn(due, async (notice) => {
      if (!signal.aborted) await this.#send(notice);
    });
  }

  async #send(due: NoticeRecord): Promise<void> {
    const { store, broker, clock, log } = this.#deps;
    const at = Math.floor(clock.wall());
    const notice =
      due.takenAt === null ? await store.notices.take(due.noticeId, await this.#whole(due), at) : due;
    if (notice === undefined) return;
    const wanting = (await store.notices.recipients(notice.merchantId)).filter((each) => wants(each, notice));
    const left = due.takenAt === null ? wanting : await this.#without(wanting, notice);
    // In every try the same: the log finds a delivery by its id and this time.
    const madeAt = notice.takenAt ?? at;
    const tasks = left.map((endpoint) => noticeTask(notice, endpoint, madeAt));
    if (tasks.length > 0) await broker.publishTasks(tasks);
    await store.notices.sent(notice.noticeId, at);
    const { noticeId: notice_id, type, endpointId: about } = notice;
    if (tasks.length > 0) log.info({ event: 'notice_sent', notice_id, type, about, endpoints: tasks.length });
  }

  /** Leaves out the endpoints whose delivery an earlier try has made. */
  async #without(
    endpoints: readonly EndpointRecord[],
    { noticeId }: NoticeRecord,
  ): Promise<readonly EndpointRecord[]> {
    const { log } = this.#deps.store;
    const known = await fewAtOnce(endpoints, READS_AT_ONCE, ({ merchantId, uuid }) =>
      log.delivery(merchantId, uuid, deliveryId(noticeId, uuid)),
    );
    return endpoints.filter((_, index) => known[index] === undefined);
  }

  /** Returns what a notice says, with what is known only when it is sent. */
  async #whole({ type, merchantId, endpointId, at, lastAt, count, data }: NoticeRecord): Promise<NoticeData> {
    switch (type) {
      case 'delivery.exhausted':
        return { ...data, from: at, until: lastAt, count, eventsSince: at - SCHEDULE_SECONDS * 1000 };
      case 'events.quarantined':
        return { ...data, from: at, until: lastAt, count };
      case 'endpoint.recovered': {
        const since = Number(data.failingSince);
        const scope = { merchantId, endpointId, only: 'missing', types: null, eventIds: null } as const;
        const missed = await countMissed(this.#deps.store, {
          ...scope,
          since,
          until: Math.floor(this.#deps.clock.wall()),
        });
        return { ...data, missedEvents: missed.count };
      }
      default:
        return data;
    }
  }
}
