import type { Losses } from '../../broker/broker.ts';
import type { Loss, TopicLosses } from '../../broker/losses.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import type { Arguments, Given } from './arguments.ts';
import { type BrokerContext, type OperatedBroker, on } from './command.ts';
import { OperatorError } from './operator-error.ts';

/** The losses of the streams: records that retention deleted before they were read. */

const CHOSEN = {
  stream: {
    type: 'text',
    required: true,
    positional: true,
    describe: 'A stream or one of its topics, as streams list names them',
  },
  partition: { type: 'number', least: 0, describe: 'Only losses of this partition of the topic' },
} as const satisfies Arguments;

export const STREAM_COMMANDS = {
  'streams list': on('broker', {
    describe: 'List the topics of every stream, and what retention deleted before it was read',
    isRead: true,
    run: async (broker) => {
      const topics = await lossesOf(broker).list();
      return topics.map(({ losses, ...topic }) => ({ ...topic, losses: losses.map(lossJson) }));
    },
    text: (topics) => plain.fold(topics.flatMap(topicLines).join('\n'), WIDTH),
  }),
  'streams acknowledge': on('broker', {
    describe: 'Acknowledge a loss that was dealt with: it is no longer reported',
    args: CHOSEN,
    columns: ['topic', 'partition', 'firstOffset', 'lastOffset', 'records'],
    run: acknowledge,
  }),
};

/** Returns a line for a topic and lines for each loss. */
function topicLines({
  stream,
  topic,
  partitions,
  losses,
}: Omit<TopicLosses, 'losses'> & { readonly losses: readonly ReturnType<typeof lossJson>[] }): string[] {
  return [
    `${stream}: ${topic}, ${partitions} ${partitions === 1 ? 'partition' : 'partitions'}; ` +
      (losses.length === 0 ? 'nothing lost' : 'LOST:'),
    ...losses.flatMap(({ partition, firstOffset, lastOffset, records, acknowledged }) => [
      `  partition ${partition}: offsets ${firstOffset} to ${lastOffset}, at most ${records} records; ` +
        (acknowledged ? 'acknowledged' : 'NOT acknowledged:'),
      ...(acknowledged ? [] : [`    streams acknowledge ${topic} --partition ${partition}`]),
    ]),
  ];
}

/** The most losses in an audit entry. */
const LOSSES_MAX = 100;

/** Acknowledges the losses of a stream or a topic, or of one of its partitions; returns each. */
async function acknowledge(
  broker: Pick<OperatedBroker, 'losses'>,
  given: Given<typeof CHOSEN>,
  { audit }: BrokerContext,
) {
  const losses = lossesOf(broker);
  const topics = chosenOf(await losses.list(), given);
  const acknowledged = [];
  for (const { stream, topic, losses: all } of topics) {
    const open = all.filter(
      ({ partition, isAcknowledged }) => !isAcknowledged && partition === (given.partition ?? partition),
    );
    if (open.length > 0) {
      await audit('streams.acknowledge', { topic, losses: open.slice(0, LOSSES_MAX).map(lossJson) });
      await losses.acknowledge(topic, open);
    }
    acknowledged.push(
      ...open.map((loss) => ({ stream, topic, ...lossJson({ ...loss, isAcknowledged: true }) })),
    );
  }
  return acknowledged;
}

/** Returns the selected topics. */
function chosenOf(
  all: readonly TopicLosses[],
  { stream, partition }: Given<typeof CHOSEN>,
): readonly TopicLosses[] {
  const chosen = all.filter((one) => one.stream === stream || one.topic === stream);
  const [first, second] = chosen;
  if (first === undefined) {
    const names = [...new Set(all.map((one) => one.stream)), ...all.map(({ topic }) => topic)];
    throw new OperatorError(`there is no stream or topic "${stream}"; there are ${names.join(', ')}`);
  }
  if (partition === undefined) return chosen;
  if (second !== undefined) {
    const names = chosen.map(({ topic }) => topic).join(', ');
    throw new OperatorError(`partition: ${stream} has several topics, name one of them: ${names}`);
  }
  if (partition >= first.partitions)
    throw new OperatorError(`partition: ${first.topic} has the partitions 0 to ${first.partitions - 1}`);
  return chosen;
}

function lossesOf({ losses }: Pick<OperatedBroker, 'losses'>): Losses {
  if (losses) return losses;
  throw new OperatorError('the sqlite engine never deletes unread records: there are no losses');
}

function lossJson({ partition, from, to, count, isAcknowledged }: Loss) {
  return {
    partition,
    firstOffset: from,
    lastOffset: to - 1,
    records: count,
    acknowledged: isAcknowledged,
  };
}
