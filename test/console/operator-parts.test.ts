/** The parts of the operator's console that compute: whose fault it is, and the sections of the runbook. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { asApi } from '../../console/operator/as-api.ts';
import { findingsOf, verdictOf } from '../../console/operator/now/findings.ts';
import { plainOf, sectionOf } from '../../console/operator/runbook/section.ts';
import type { Newest, Status } from '../../console/operator/shapes.ts';

const STREAM = {
  stream: 'tasks' as const,
  isRead: true,
  waiting: 0,
  oldestSeconds: 0,
  stalledPartitions: [],
  lostRecords: 0,
  headroomSeconds: null,
};
const PROCESS = {
  url: 'http://127.0.0.1:8081',
  ready: true,
  reasons: [],
  waiting: [],
  version: '1',
  startedAt: '2030-01-01T00:00:00.000Z',
  uptimeSeconds: 1,
  producerWaitingSeconds: 0,
  producerWaitingBytes: 0,
  directoryStalenessSeconds: 0,
  stuckHandlers: 0,
  plainConnections: [],
};
const STATUS: Status = {
  processes: [PROCESS],
  streams: [STREAM],
  parked: [],
  oldestOverdueSeconds: 0,
  quarantine: [],
  deadLetters: [],
  merchants: {
    onHold: { count: 0, names: [] },
    endpoints: { active: 12, disabled: 0, auto_disabled: 0, failing: 0 },
  },
  freeBytes: 1e12,
};
const NEWEST: Newest = {
  since: '2030-01-01T00:00:00.000Z',
  deliveries: 0,
  attemptsPerSecond: 0,
  results: [],
  p99Seconds: null,
  failingHosts: [],
  failingMerchants: [],
};
const failing = (name: string) => ({
  ...{ name, endpoints: 1, failures: 3, failingSince: '2030-01-01T00:00:00.000Z', code: 'http_5xx' },
  merchantIds: ['acme'],
});
const hosts = (count: number) =>
  Array.from({ length: count }, (_, index) => failing(`host-${index}.example`));
const withFailing = (count: number): Status => ({
  ...STATUS,
  merchants: {
    onHold: { count: 0, names: [] },
    endpoints: { active: 12, disabled: 0, auto_disabled: 0, failing: count },
  },
});

describe('whose fault it is', () => {
  test('is nobody’s while nothing is wrong', () => {
    expect(findingsOf(STATUS, NEWEST)).toEqual([]);
    expect(verdictOf([]).says).toBe('Everything works');
  });

  test('is that of hookrail when a process is not ready, work is late, lost or put off, or the disk is full', () => {
    const faults: readonly (readonly [string, Partial<Status>])[] = [
      ['HookrailNotReady', { processes: [{ ...PROCESS, ready: false, reasons: ['it is draining'] }] }],
      ['HookrailDirectoryStale', { processes: [{ ...PROCESS, directoryStalenessSeconds: 6 }] }],
      ['HookrailProducerWaiting', { processes: [{ ...PROCESS, producerWaitingSeconds: 11 }] }],
      ['HookrailHandlersStuck', { processes: [{ ...PROCESS, stuckHandlers: 1 }] }],
      ['HookrailPartitionStalled', { streams: [{ ...STREAM, stalledPartitions: ['tasks/3'] }] }],
      ['HookrailLagOld', { streams: [{ ...STREAM, oldestSeconds: 61 }] }],
      ['HookrailRecordsLost', { streams: [{ ...STREAM, lostRecords: 1 }] }],
      ['HookrailRetentionNear', { streams: [{ ...STREAM, headroomSeconds: 86_399 }] }],
      ['HookrailTasksOverdue', { oldestOverdueSeconds: 31 }],
      ['HookrailTasksParked', { parked: [{ reason: 'machine_limit', count: 1, oldestSeconds: 1 }] }],
      ['HookrailEngineUnreachable', { freeBytes: 1e9 }],
    ];
    for (const [runbook, fault] of faults) {
      const findings = findingsOf({ ...STATUS, ...fault }, NEWEST);
      expect(findings).toMatchObject([{ whose: 'ours', runbook }]);
      expect(verdictOf(findings)).toMatchObject({ tone: 'bad', says: 'It is us' });
    }
  });

  test('is not that of hookrail when an operator holds a merchant, or a receiver takes less than it gets', () => {
    const parked = ['merchant_paused', 'endpoint_full', 'origin_connections'].map((reason) => ({
      ...{ reason, count: 9, oldestSeconds: 9 },
    }));
    expect(findingsOf({ ...STATUS, parked }, NEWEST)).toEqual([]);
  });

  test('is the receiver’s when few hosts fail, and says since when and whose it is', () => {
    const findings = findingsOf(withFailing(2), { ...NEWEST, failingHosts: hosts(2) });
    expect(findings).toHaveLength(2);
    expect(findings[0]).toEqual({
      whose: 'theirs',
      says: 'host-0.example fails with http_5xx: 3 failures in a row at 1 endpoint, last success 2030-01-01T00:00:00.000Z.',
      runbook: 'HookrailAttemptsFailing',
      place: '/merchants/acme',
    });
    expect(verdictOf(findings).says).toBe('It is them: receivers fail, we work');
  });

  test('is that of hookrail when most endpoints fail at many hosts at once', () => {
    const failingHosts = hosts(6);
    expect(findingsOf(withFailing(7), { ...NEWEST, failingHosts })).toMatchObject([{ whose: 'ours' }]);
    expect(findingsOf(withFailing(6), { ...NEWEST, failingHosts })).toHaveLength(6);
  });

  test('is a producer’s when events are in quarantine', () => {
    const at = '2030-01-01T00:00:00.000Z';
    const quarantine = [{ reason: 'unknown_merchant', count: 2, oldest: at, newest: at }];
    const findings = findingsOf({ ...STATUS, quarantine }, NEWEST);
    expect(findings).toMatchObject([
      { whose: 'producers', says: `2 events in quarantine since ${at}: unknown merchant.` },
    ]);
    expect(verdictOf(findings).tone).toBe('wait');
  });
});

describe('the runbook', () => {
  const markdown = readFileSync('docs/operate/README.md', 'utf8');

  test('has the section of an alert, with its list', () => {
    const blocks = sectionOf(markdown, 'HookrailTasksParked') ?? [];
    expect(blocks[0]).toEqual({ kind: 'text', text: 'Severity: warning.' });
    const list = blocks.find(({ kind }) => kind === 'list');
    expect(list?.kind === 'list' && list.items[0]).toMatch(/^`machine_limit`: /);
    expect(JSON.stringify(blocks)).not.toContain('###');
  });

  test('has no section of what is no alert', () => {
    expect(sectionOf(markdown, 'Hookrail')).toBeUndefined();
  });

  test('is shown as words and code, without the marks of Markdown', () => {
    const line = 'Run `status *`; a *lease*, [the `page`](docs/operate/tasks.md#health).';
    expect(plainOf(line)).toBe('Run `status *`; a lease, the `page`.');
  });
});

test('the JSON of a command has the names of the merchant API on a screen of both consoles', () => {
  const endpoints = [{ endpointId: 'e', nextAttemptAt: null, not_received: 1 }];
  expect(asApi([{ eventId: 'a', subType: 'PENDING', held: false, endpoints }])).toEqual([
    {
      ...{ event_uuid: 'a', subType: 'PENDING', held: false },
      endpoints: [{ endpoint_uuid: 'e', next_attempt_at: null, not_received: 1 }],
    },
  ]);
});
