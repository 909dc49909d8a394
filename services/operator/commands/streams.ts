import type { Broker, Losses } from '../../broker/broker.ts';
import type { Loss, TopicLosses } from '../../broker/losses.ts';
import { type Arguments, type BrokerContext, OperatorError } from './arguments.ts';

/** Operator commands on the streams' losses. */

type Command = (broker: Pick<Broker, 'losses'>, given: Arguments, context: BrokerContext) => Promise<unknown>;

export const STREAM_COMMANDS = {
  'streams-list': async (broker) => {
    const topics = await lossesOf(broker).list();
    return topics.map(({ losses, ...topic }) => ({ ...topic, losses: losses.map(lossJson) }));
  },
  'streams-acknowledge': acknowledge,
} as const satisfies Record<string, Command>;

/** The most losses in an audit entry. */
const LOSSES_MAX = 100;

/** Acknowledges the losses of a stream or a topic, or of one of its partitions; returns each. */
async function acknowledge(
  broker: Pick<Broker, 'losses'>,
  given: Arguments,
  { audit }: BrokerContext,
): Promise<unknown> {
  const losses = lossesOf(broker);
  const topics = chosenOf(await losses.list(), given);
  const acknowledged: object[] = [];
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
function chosenOf(all: readonly TopicLosses[], { stream, partition }: Arguments): readonly TopicLosses[] {
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
  if (!Number.isInteger(partition) || Number(partition) < 0 || Number(partition) >= first.partitions)
    throw new OperatorError(`partition: ${first.topic} has the partitions 0 to ${first.partitions - 1}`);
  return chosen;
}

function lossesOf({ losses }: Pick<Broker, 'losses'>): Losses {
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
