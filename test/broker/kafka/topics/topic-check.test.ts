/**
 * The settings that each topic must have, which faults are refused and which only warned of, and the permissions on
 * it. No Kafka is needed: topics.test.ts asks a real one.
 */
import { describe, expect, it } from 'vitest';
import { checkEventsTopic } from '../../../../services/broker/kafka/topics/events-topic-check.ts';
import { checkOffsetsRetention, checkTopic } from '../../../../services/broker/kafka/topics/topic-check.ts';
import { aclCommands } from '../../../../services/broker/kafka/topics/topic-commands.ts';
import type { TopicSpec } from '../../../../services/broker/kafka/topics/topic-spec.ts';
import { topicNames, topicSpecs } from '../../../../services/broker/kafka/topics/topics.ts';

const DAY_MS = 86_400_000;
const OPTIONS = { topicPrefix: 'wh.', eventsTopic: 'payments.events', partitions: {} };
const specOf = (shortName: string, replicationFactor = 3): TopicSpec => {
  const found = topicSpecs(OPTIONS, replicationFactor).find((spec) => spec.shortName === shortName);
  if (!found) throw new Error(`no topic ${shortName}`);
  return found;
};

describe('the topics of hookrail', () => {
  it('have the specified names, partitions, retention and kind of time', () => {
    const week = 7 * 86_400;
    const month = 30 * 86_400;
    const seconds = (ms: string | undefined) => (ms === undefined ? undefined : Number(ms) / 1000);
    const table = topicSpecs(OPTIONS, 3).map(({ topic, partitions, settings }) => [
      topic,
      partitions,
      seconds(settings['retention.ms']),
      settings['message.timestamp.type'],
    ]);
    const append = 'LogAppendTime';
    expect(table).toEqual([
      ['payments.events', 12, week, append],
      ['wh.deliver', 24, week, append],
      ['wh.retry.3s', 24, week + 3, append],
      ['wh.retry.66s', 24, week + 66, append],
      ['wh.retry.731s', 12, week + 731, append],
      ['wh.retry.4098s', 12, week + 4098, append],
      ['wh.retry.15627s', 12, week + 15_627, append],
      ['wh.retry.46658s', 12, week + 46_658, append],
      ['wh.test', 6, week, append],
      ['wh.replay', 12, week, append],
      ['wh.journal', 12, week, append],
      ['wh.dead', 6, month, append],
      ['wh.quarantine', 6, month, append],
      ['wh.directory', 1, undefined, undefined],
      ['wh.stalls', 1, week, append],
    ]);
    expect(specOf('directory').settings).toMatchObject({
      'cleanup.policy': 'compact',
      'delete.retention.ms': String(7 * DAY_MS),
      'segment.ms': '3600000',
    });
    expect(topicNames('wh.', 'payments.events').retry[46658]).toBe('wh.retry.46658s');
  });

  it('need all copies but one in sync', () => {
    const inSync = (copies: number) => specOf('deliver', copies).settings['min.insync.replicas'];
    expect([1, 2, 3, 5].map(inSync)).toEqual(['1', '1', '2', '4']);
  });

  it.each(['deliverr', 'directory', 'stalls'])(
    'reject a partition count for %s in HOOKRAIL_KAFKA_PARTITIONS',
    (name) => {
      expect(() => topicSpecs({ ...OPTIONS, partitions: { [name]: 2 } }, 1)).toThrow(
        `HOOKRAIL_KAFKA_PARTITIONS names ${name}, whose count cannot be set: it accepts events, deliver,`,
      );
    },
  );

  it('have names other than the events topic', () => {
    expect(() => topicSpecs({ ...OPTIONS, eventsTopic: 'wh.deliver' }, 1)).toThrow(
      'HOOKRAIL_EVENTS_TOPIC="wh.deliver" is also the name of a topic that hookrail creates: choose another name',
    );
  });
});

describe('the check of the events topic', () => {
  const saysOf = (settings: Record<string, string> | null) => {
    const findings = checkEventsTopic(specOf('events'), settings && new Map(Object.entries(settings)));
    expect(findings.filter(({ refuses }) => refuses)).toEqual([]);
    return findings.map(({ says }) => says);
  };
  const good = { 'cleanup.policy': 'delete', 'retention.bytes': '-1', 'retention.ms': '604800000' };

  it.each([good, { ...good, 'retention.ms': '-1' }, { 'retention.ms': String(30 * DAY_MS) }])(
    'finds nothing wrong with %j',
    (settings) => {
      expect(saysOf(settings)).toEqual([]);
    },
  );

  it('warns of a retention that is shorter than routers may be away, and names the setting', () => {
    expect(saysOf({ ...good, 'retention.ms': '604799999' })).toHaveLength(1);
    expect(saysOf({ ...good, 'retention.ms': '5400000' })).toEqual([
      'payments.events keeps records for 1.5 h, not 168 h: events that no router has read by then are lost; ' +
        'ask whoever owns the topic for retention.ms=604800000',
    ]);
  });

  it.each([null, {}])('warns when the retention cannot be read (%j)', (settings) => {
    expect(saysOf(settings)).toEqual([
      'how long payments.events keeps records cannot be read: the Kafka user needs DESCRIBE_CONFIGS, ' +
        '`hookrail operator topics` prints the ACLs; make sure that it is at least 168 h',
    ]);
  });

  it('warns of a topic whose records have the time of their producers', () => {
    expect(saysOf({ ...good, 'message.timestamp.type': 'LogAppendTime' })).toEqual([]);
    const [stamped, ...more] = saysOf({ ...good, 'message.timestamp.type': 'CreateTime' });
    expect(more).toEqual([]);
    expect(stamped).toMatch(
      /^payments.events has message.timestamp.type=CreateTime: .*webhook-sequence may fall/,
    );
    expect(stamped).toContain('ask whoever owns the topic for message.timestamp.type=LogAppendTime');
  });

  it('warns of settings that delete events before their retention ends', () => {
    const [bytes, compact, ...more] = saysOf({
      ...good,
      'retention.bytes': '1000000',
      'cleanup.policy': 'compact,delete',
    });
    expect(more).toEqual([]);
    expect(bytes).toContain('payments.events has retention.bytes=1000000: ');
    expect(compact).toContain('payments.events has cleanup.policy=compact,delete: ');
  });
});

describe('the check of a topic', () => {
  const production = { environment: 'production', brokers: ['k:9092'], replicationFactor: 3 } as const;
  const sandbox = { environment: 'sandbox', brokers: ['k:9092'], replicationFactor: null } as const;
  /** A topic as specified, but for some settings. */
  const check = (
    shortName: string,
    settings: Record<string, string>,
    options: typeof production | typeof sandbox,
  ) => {
    const spec = specOf(shortName);
    const all = new Map(Object.entries({ ...spec.settings, 'retention.bytes': '-1', ...settings }));
    return checkTopic(spec, { partitions: spec.partitions, replicas: 3, settings: all }, options);
  };

  it('finds nothing when everything is as specified', () => {
    for (const { shortName } of topicSpecs(OPTIONS, 3)) expect(check(shortName, {}, production)).toEqual([]);
  });

  it.each([
    ['deliver', 'cleanup.policy', 'compact'],
    ['directory', 'cleanup.policy', 'delete'],
    ['retry.3s', 'message.timestamp.type', 'CreateTime'],
    ['quarantine', 'max.message.bytes', '1048588'],
    ['retry.46658s', 'retention.ms', '46658000'],
    ['deliver', 'min.insync.replicas', '1'],
    ['journal', 'unclean.leader.election.enable', 'true'],
  ])('refuses %s with %s=%s in production, with the command that repairs it', (name, setting, value) => {
    const good = specOf(name).settings[setting];
    const [finding, ...others] = check(name, { [setting]: value }, production);
    expect(others).toEqual([]);
    expect(finding?.refuses).toBe(true);
    expect(finding?.says).toContain(`wh.${name} has ${setting}=${value}, not ${good}: `);
    expect(finding?.says).toContain(
      `kafka-configs.sh --bootstrap-server k:9092 --alter --topic wh.${name} --add-config ${setting}=${good}`,
    );
  });

  it.each([
    ['deliver', 'retention.ms', '3600000'],
    ['retry.46658s', 'retention.ms', '46658001'],
    ['retry.3s', 'segment.ms', '604800000'],
    ['directory', 'delete.retention.ms', '1000'],
    ['deliver', 'retention.bytes', '1000000'],
  ])('only warns of %s with %s=%s', (name, setting, value) => {
    const findings = check(name, { [setting]: value }, production);
    expect(findings.map(({ refuses }) => refuses)).toEqual([false]);
    expect(findings[0]?.says).toContain(`wh.${name} has ${setting}=${value}`);
  });

  it('allows records to be kept longer, or for ever', () => {
    expect(check('deliver', { 'retention.ms': '-1' }, production)).toEqual([]);
    expect(check('retry.3s', { 'retention.ms': String(60 * DAY_MS) }, production)).toEqual([]);
  });

  it('does not ask a sandbox for copies', () => {
    expect(check('deliver', { 'min.insync.replicas': '1' }, sandbox)).toEqual([]);
    const one = { partitions: 24, replicas: 1, settings: null };
    expect(checkTopic(specOf('deliver'), one, sandbox)).toEqual([]);
    expect(checkTopic(specOf('deliver'), one, production)).toMatchObject([
      { refuses: true, says: expect.stringContaining('wh.deliver has 1 replica, not 3') },
    ]);
  });

  it('wants offsets kept longer than any topic that a group reads', () => {
    const specs = topicSpecs(OPTIONS, 3);
    const longest = 7 * DAY_MS + 46_658_000;
    const found = new Map();
    expect(checkOffsetsRetention(specs, found, null, production)).toEqual([]);
    expect(checkOffsetsRetention(specs, found, longest + 1, production)).toEqual([]);
    expect(checkOffsetsRetention(specs, found, longest, production)).toMatchObject([
      { refuses: true, says: expect.stringContaining('set it to more than 10858 on every broker') },
    ]);
    expect(checkOffsetsRetention(specs, found, 7 * DAY_MS, sandbox)).toMatchObject([{ refuses: false }]);
    found.set('wh.deliver', { partitions: 24, replicas: 3, settings: new Map([['retention.ms', '-1']]) });
    expect(checkOffsetsRetention(specs, found, 1000 * DAY_MS, production)).toMatchObject([
      { refuses: true, says: expect.stringContaining('limit the retention of wh.deliver') },
    ]);
  });
});

describe('the printed permissions', () => {
  const options = {
    brokers: ['k:9092'],
    topicPrefix: 'wh.',
    eventsTopic: 'payments.events',
    createTopics: false,
    principal: 'User:hookrail',
  };
  const topicsOf = (commands: readonly string[], operation: string) =>
    commands
      .filter((command) => command.includes(`--operation ${operation} --topic`))
      .flatMap((command) => [...command.matchAll(/--topic (\S+)/g)].map(([, topic]) => topic));

  it('let a router read events and write tasks, and nothing of other stations', () => {
    const commands = aclCommands(['router'], options);
    expect(topicsOf(commands, 'Read')).toEqual(['payments.events', 'wh.directory', 'wh.stalls']);
    expect(topicsOf(commands, 'Write')).toEqual(['wh.deliver', 'wh.journal', 'wh.quarantine', 'wh.stalls']);
    expect(commands.at(-1)).toBe(
      'kafka-acls.sh --bootstrap-server k:9092 --add --allow-principal User:hookrail --operation Read ' +
        '--group wh. --resource-pattern-type prefixed',
    );
  });

  it('let every topic be written by one station and read by one', () => {
    const commands = aclCommands(['api', 'router', 'sender', 'recorder'], options);
    const all = topicSpecs(OPTIONS, 1)
      .map(({ topic }) => topic)
      .sort();
    expect(topicsOf(commands, 'Read').sort()).toEqual(all);
    expect(topicsOf(commands, 'Write').sort()).toEqual(all);
  });

  it('include creation only when topics are created', () => {
    expect(aclCommands(['sender'], options).join()).not.toContain('Create');
    expect(aclCommands(['sender'], { ...options, createTopics: true }).join()).toContain(
      '--operation Create --topic wh. --resource-pattern-type prefixed',
    );
  });
});
