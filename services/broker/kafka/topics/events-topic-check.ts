import kafkajs, { type Admin } from 'kafkajs';
import { rootOf } from '../../../kafka-client/client/client.ts';
import type { Finding, TopicSpec } from './topic-spec.ts';

// A default import, because Node does not see this named export of the package.
const { ConfigResourceTypes } = kafkajs;

const SETTINGS_READ = ['cleanup.policy', 'message.timestamp.type', 'retention.bytes', 'retention.ms'];
const HOUR_MS = 3_600_000;

/** Settings by their Kafka names; null = the Kafka user may not read them. */
type Settings = ReadonlyMap<string, string> | null;

/** Returns the settings of the events topic that decide how long its records are kept, and whose time they have. */
export async function readEventsSettings(admin: Admin, topic: string): Promise<Settings> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: SETTINGS_READ }],
    });
    const entries = resources.flatMap(({ configEntries }) => configEntries);
    return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
  } catch (error) {
    if (!rootOf(error).type?.endsWith('_AUTHORIZATION_FAILED')) throw error;
    return null;
  }
}

/**
 * Checks that the events topic keeps records for as long as routers may be down, and has them stamped by the brokers. Its
 * owner decides: these are warnings.
 * Pure.
 */
export function checkEventsTopic({ topic, settings: wanted }: TopicSpec, found: Settings): Finding[] {
  const neededMs = Number(wanted['retention.ms']);
  const needed = `${neededMs / HOUR_MS} h`;
  const warning = (says: string): Finding => ({ refuses: false, says });
  const kept = found?.get('retention.ms');
  if (found === null || kept === undefined) {
    return [
      warning(
        `how long ${topic} keeps records cannot be read: the Kafka user needs DESCRIBE_CONFIGS, ` +
          `\`hookrail operator topics\` prints the ACLs; make sure that it is at least ${needed}`,
      ),
    ];
  }
  const ask = (setting: string) => `ask whoever owns the topic for ${setting}`;
  const findings: Finding[] = [];
  if (kept !== '-1' && Number(kept) < neededMs) {
    findings.push(
      warning(
        `${topic} keeps records for ${Number((Number(kept) / HOUR_MS).toFixed(1))} h, not ${needed}: events that no router has read ` +
          `by then are lost; ${ask(`retention.ms=${neededMs}`)}`,
      ),
    );
  }
  const bytes = found.get('retention.bytes') ?? '-1';
  if (bytes !== '-1') {
    findings.push(
      warning(
        `${topic} has retention.bytes=${bytes}: on a busy day events are deleted before they are read; ` +
          ask('retention.bytes=-1'),
      ),
    );
  }
  if (found.get('cleanup.policy')?.includes('compact')) {
    findings.push(
      warning(
        `${topic} has cleanup.policy=${found.get('cleanup.policy')}: an event deletes earlier ones of its entity, ` +
          `read or not; ${ask('cleanup.policy=delete')}`,
      ),
    );
  }
  const stamped = found.get('message.timestamp.type');
  if (stamped !== undefined && stamped !== 'LogAppendTime') {
    findings.push(
      warning(
        `${topic} has message.timestamp.type=${stamped}: where a producer’s clock is wrong, webhook-sequence may fall when the ` +
          `topic gets more partitions or is created again; ${ask('message.timestamp.type=LogAppendTime')}`,
      ),
    );
  }
  return findings;
}
