import { TIERS } from '../../../domain/retry.ts';
import type { StreamName } from '../../broker-status.ts';
import type { TopicNames } from '../topics/topic-spec.ts';

/** Returns the topics whose backlog is reported, by stream. */
export function lagTopics(
  topics: TopicNames,
  groupOf: (topic: string) => string,
  retryScale: number,
): LagTopic[] {
  const of = (stream: LagTopic['stream'], names: readonly string[], delayMs = 0) =>
    names.map((topic) => ({ topic, groupId: groupOf(topic), stream, delayMs }));
  return [
    ...of('events', [topics.events]),
    ...of('tasks', [topics.deliver, topics.test, topics.replay]),
    ...TIERS.flatMap((tier) => of('delayed', [topics.retry[tier]], (tier * 1000) / retryScale)),
    ...of('journal', [topics.journal]),
  ];
}
export interface LagTopic {
  readonly topic: string;
  readonly groupId: string;
  readonly stream: StreamName;
  /** The time that its records wait before they are due, milliseconds. */
  readonly delayMs: number;
}
