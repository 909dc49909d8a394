import type { LagTopic } from './lag.ts';
import type { TopicNames } from './topics.ts';

/** The topics whose backlog is told, by stream. */
export function lagTopics(topics: TopicNames, groupOf: (topic: string) => string): LagTopic[] {
  const of = (stream: LagTopic['stream'], names: readonly string[]) =>
    names.map((topic) => ({ topic, groupId: groupOf(topic), stream }));
  return [
    ...of('events', [topics.events]),
    ...of('tasks', [topics.deliver, topics.test, topics.replay]),
    ...of('delayed', Object.values(topics.retry)),
    ...of('journal', [topics.journal]),
  ];
}
