import type { PlantedBug } from '../planted-bug.ts';

const CONTRACT = 'test/store/sqlite/contract.test.ts';
const NOTIFIER = 'test/notifier/notifier.test.ts';
const CAUSES = 'test/notifier/causes.test.ts';

/** Operational notices. */
export const NOTICE_BUGS: readonly PlantedBug[] = [
  {
    id: 'notice-of-an-operational-endpoint',
    bug: 'an operational endpoint that fails causes notices',
    file: 'services/store/rules/notices/health-notices.ts',
    text: '  const { row, before, after, isOff, exhausted, policy } = change;\n  if (row.notices !== null) return;',
    replacement: '  const { row, before, after, isOff, exhausted, policy } = change;',
    test: CONTRACT,
    title: 'tells nothing of an endpoint that gets notices itself',
  },
  {
    id: 'notice-about-itself',
    bug: 'an endpoint gets a notice about itself',
    file: 'services/notifier/notice-tasks.ts',
    text: ' && endpoint.uuid !== endpointId',
    replacement: '',
    test: NOTIFIER,
    title: 'is not sent to the endpoint that it is about',
  },
  {
    id: 'notice-gathers-after-it-was-taken',
    bug: 'deliveries that are exhausted after their notice was taken are told to nobody',
    file: 'services/store/rules/notices/notice-writes.ts',
    text: '\n       WHERE n.taken_at IS NULL`',
    replacement: '`',
    test: CONTRACT,
    title: 'leaves those that come after it was taken to the next',
  },
  {
    id: 'notice-of-another-time-in-each-try',
    bug: 'a notice that is sent again after a crash is another delivery to a log that finds deliveries by their time',
    file: 'services/notifier/notifier.ts',
    text: 'const madeAt = notice.takenAt ?? at;',
    replacement: 'const madeAt = at;',
    test: NOTIFIER,
    title: 'is sent once, by whichever of several processes, and after the broker was away',
  },
  {
    id: 'notices-to-merchants-that-are-none',
    bug: 'each text that stands for a merchant in a quarantined event has notices of its own',
    file: 'services/notifier/quarantined.ts',
    text: 'isKnown ? merchantId : PLATFORM_MERCHANT_ID',
    replacement: 'merchantId ?? PLATFORM_MERCHANT_ID',
    test: CAUSES,
    title: 'of no merchant that takes events are told together to the platform',
  },
  {
    id: 'notice-of-a-notice',
    bug: 'a notice that is quarantined itself causes another, without end',
    file: 'services/notifier/quarantined.ts',
    text: '      if (type !== undefined && isNoticeType(type)) return [];\n',
    replacement: '',
    test: CAUSES,
    title: 'are not told when they are notices that were put aside themselves',
  },
  {
    id: 'notice-types-refused-by-a-change',
    bug: 'the filter of an operational endpoint takes event types when it is changed',
    file: 'services/api/routes/change-endpoint.ts',
    text: 'filterWarnings(after)',
    replacement: 'filterWarnings({ subscribedEvents: after.subscribedEvents, apiVersion: after.apiVersion })',
    test: 'test/api/endpoints/kinds.test.ts',
    title: 'takes the types of its kind, at its creation and when it is changed',
  },
  {
    id: 'notices-out-of-the-seal',
    bug: 'somebody without the key ring turns an endpoint for events into one for notices',
    file: 'services/domain/seals/canonical-record.ts',
    text: '[notices === undefined ? null : text(notices)],',
    replacement: '[null],',
    test: 'test/domain/seals/record-seals.test.ts',
    title: 'the bytes of a record are what earlier seals were made of',
  },
  {
    id: 'platform-closed-for-good',
    bug: 'the platform can be closed, and never gets notices again',
    file: 'services/management/merchants.ts',
    text: "  if (id === PLATFORM_MERCHANT_ID) throw new Refused('platform_merchant_stays', id);\n",
    replacement: '',
    test: 'test/api/platform/platform.test.ts',
    title: 'the platform itself is made and listed like a merchant, and is not closed',
  },
  {
    id: 'postgres-notices-never-missed',
    bug: 'on PostgreSQL no replay brings back a notice whose attempts all failed',
    file: 'services/store/postgres/maintenance/missed-reads.ts',
    text: 'eventOf.get(name) ?? own;',
    replacement: 'eventOf.get(name);',
    test: 'test/store/postgres/contract.test.ts',
    title: 'is among what an endpoint has missed when all its attempts failed',
  },
  {
    id: 'notice-sent-before-it-is-published',
    bug: 'a notice is marked as sent before it is published: a crash in between loses it',
    file: 'services/notifier/notifier.ts',
    text: '    if (tasks.length > 0) await broker.publishTasks(tasks);\n    await store.notices.sent(notice.noticeId, at);\n',
    replacement:
      '    await store.notices.sent(notice.noticeId, at);\n    await clock.sleep(500);\n    if (tasks.length > 0) await broker.publishTasks(tasks);\n',
    test: 'test/guarantees/notices-kill-loop.test.ts',
    title: 'tells each cause once',
  },
];
