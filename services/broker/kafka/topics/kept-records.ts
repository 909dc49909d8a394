import kafkajs from 'kafkajs';
import { SCHEDULE_SECONDS } from '../../../domain/retry.ts';
import type { Admins } from '../../../kafka-client/client/admins.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Remnants } from '../../broker.ts';
import type { TopicNames } from './topic-spec.ts';
import { topicList } from './topics.ts';

// A default import, because Node does not see this named export of the package.
const { ConfigResourceTypes } = kafkajs;

const DAY_MS = 86_400_000;
const SETTINGS = ['retention.ms', 'segment.ms'];
/** Kafka's own default of both, which hookrail's topics have as well; dead letters and quarantine are kept for a month. */
const WEEK_MS = 7 * DAY_MS;
const MONTH_MS = 30 * DAY_MS;
/** The longest time from an event to the last record about it. */
const SCHEDULE_MS = SCHEDULE_SECONDS * 1000;

interface Deps {
  readonly admins: Admins;
  readonly topics: TopicNames;
  readonly log: Logger;
}

/** Kafka deletes records by age: nothing can be purged, and what is told is for how long topics keep their records. */
export function keptRecords({ admins, topics, log }: Deps): Remnants {
  const names = topicList(topics).filter((topic) => topic !== topics.directory);
  const describe = async (topic: string) => {
    const { resources } = await admins.ask((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: SETTINGS }],
      }),
    );
    const entries = resources.flatMap(({ configEntries }) => configEntries);
    return new Map(entries.map(({ configName, configValue }) => [configName, Number(configValue)]));
  };
  const longest = async (topic: string) => {
    const isLong = topic === topics.dead || topic === topics.quarantine;
    const settings = await describe(topic).catch((error: unknown) => {
      log.warn(
        { topic, detail: errorLine(error) },
        'the retention of a topic could not be read: it is taken as created',
      );
      return new Map<string, number>();
    });
    const retentionMs = settings.get('retention.ms') ?? (isLong ? MONTH_MS : WEEK_MS);
    // A segment is deleted whole, once its newest record is too old.
    const segmentMs = settings.get('segment.ms') ?? WEEK_MS;
    return { topic, forMs: retentionMs < 0 ? Number.POSITIVE_INFINITY : retentionMs + segmentMs };
  };
  return {
    purge: async () => [],
    kept: async () => {
      const found = await Promise.all(names.map(longest));
      const after = (topic: string) => (topic === topics.events ? 0 : SCHEDULE_MS);
      return found.map(({ topic, forMs }) => ({ where: `the topic ${topic}`, forMs: after(topic) + forMs }));
    },
  };
}
