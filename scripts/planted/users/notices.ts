import type { PlantedBug } from '../planted-bug.ts';

const CONTRACT = 'test/store/sqlite/contract.test.ts';
const NOTIFIER = 'test/notifier/notifier.test.ts';

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
];
