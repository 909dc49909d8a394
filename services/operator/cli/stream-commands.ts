import type { Argv } from 'yargs';
import type { Execute, GlobalOptions } from './execute.ts';

/** A row of the result of `streams-list`. */
interface Topic {
  readonly stream: string;
  readonly topic: string;
  readonly partitions: number;
  readonly losses: readonly {
    readonly partition: number;
    readonly firstOffset: number;
    readonly lastOffset: number;
    readonly records: number;
    readonly acknowledged: boolean;
  }[];
}

/** `streams list|acknowledge`: records that retention deleted before they were read. */
export function streamCommands(commands: Argv<GlobalOptions>, run: Execute): Argv<GlobalOptions> {
  return commands
    .command(
      'list',
      'List the topics of every stream, and what retention deleted before it was read',
      (list) => list,
      (argv) => {
        const shape =
          argv.output === 'text' ? (rows: unknown) => listText(rows as readonly Topic[]) : undefined;
        return run('streams-list', argv, {}, shape);
      },
    )
    .command(
      'acknowledge <stream>',
      'Acknowledge a loss that was dealt with: it is no longer reported',
      (acknowledge) =>
        acknowledge
          .positional('stream', {
            type: 'string',
            demandOption: true,
            describe: 'A stream or one of its topics, as streams list names them',
          })
          .option('partition', { type: 'number', describe: 'Only losses of this partition of the topic' }),
      (argv) => {
        const { stream, partition } = argv;
        return run('streams-acknowledge', argv, { stream, partition });
      },
    )
    .demandCommand(1, 'name a streams command: list, acknowledge');
}

/** Prints a line for each topic and for each loss. */
function listText(topics: readonly Topic[]): string {
  return topics
    .flatMap(({ stream, topic, partitions, losses }) => [
      `${stream}: ${topic}, ${partitions} ${partitions === 1 ? 'partition' : 'partitions'}; ` +
        (losses.length === 0 ? 'nothing lost' : 'LOST:'),
      ...losses.map(
        ({ partition, firstOffset, lastOffset, records, acknowledged }) =>
          `  partition ${partition}: offsets ${firstOffset} to ${lastOffset}, at most ${records} records; ` +
          (acknowledged
            ? 'acknowledged'
            : `NOT acknowledged: streams acknowledge ${topic} --partition ${partition}`),
      ),
    ])
    .join('\n');
}
