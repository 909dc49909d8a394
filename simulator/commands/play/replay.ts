import { basename } from 'node:path';
import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../../client/duration.ts';
import { eventToJson } from '../../../services/codec/event-json.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { usage } from '../../exit.ts';
import { type JourneyStep, readJourney } from '../../journey/journey-file.ts';
import { redacted } from '../../journey/redact.ts';
import { rebased, withNewIds } from '../../journey/rewrite.ts';
import { isRecorded, playSteps, recordSent, runStepOf } from '../../runs/play-steps.ts';
import { RunStore } from '../../runs/run-store.ts';
import type { PlannedStep } from '../../scenario/plan.ts';
import {
  parseSpeed,
  parseWait,
  randomSeed,
  SINK_OPTIONS,
  type SinkOptions,
} from '../../scenario/run-options.ts';
import { fromFirst } from '../../scenario/schedule.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface ReplayOptions extends CommandOptions, SinkOptions {
  readonly file: string;
  readonly speed: string;
  readonly rebaseTime: boolean;
  readonly newIds: boolean;
  readonly redact: boolean;
  readonly only?: 'failed';
  readonly seed?: string;
  readonly dryRun: boolean;
  readonly wait?: string | boolean;
}

/** Sends a recorded journey again, with the original intervals. */
export function replayCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, ReplayOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .positional('file', { type: 'string', demandOption: true, describe: 'Journey, or - for stdin' })
        .options({
          speed: { type: 'string', default: '1x', describe: 'Speed: 1x or real, 60x, …, or instant' },
          'rebase-time': {
            type: 'boolean',
            default: false,
            describe: 'Move the times in the events, so that the first happens now',
          },
          'new-ids': {
            type: 'boolean',
            default: false,
            describe: 'Give events, users, transactions and accounts new ids, the same everywhere',
          },
          redact: {
            type: 'boolean',
            default: false,
            describe: 'Replace names, accounts, addresses and e-mail by valid made-up ones',
          },
          only: { choices: ['failed'], describe: 'Send only what was not delivered to every endpoint' },
          seed: { type: 'string', describe: 'Seed of new ids and made-up values (default: random)' },
          ...SINK_OPTIONS,
          'dry-run': { type: 'boolean', default: false, describe: 'Show the events, send nothing' },
          wait: {
            type: 'string',
            describe: 'Follow the deliveries for at most this long: 30s. The default on a terminal',
          },
        })
        .example('$0 replay journey.ndjson --new-ids --rebase-time', 'as if it happened now')
        .example('$0 replay journey.ndjson --speed 60x --only failed', '') as unknown as Argv<ReplayOptions>,
    handler: (options) => inSession(options, surroundings, (session) => replay(session, options)),
  };
}

async function replay(session: Session, options: ReplayOptions): Promise<void> {
  const { output } = session;
  const recorded = readJourney(options.file);
  const chosen = options.only === 'failed' ? recorded.filter((step) => hasFailed(step, options)) : recorded;
  const seed = options.seed ?? randomSeed();
  const events = rewritten(session, options, chosen, seed);
  const steps = fromFirst(
    chosen.map(({ id, offsetMs }, index) => ({ id, offsetMs, event: events[index] as DomainEvent })),
  );
  if (steps.length === 0) {
    output.result({ events: 0 }, 'every event of the journey was delivered: nothing to send');
    return;
  }
  if (options.dryRun) {
    for (const { id, offsetMs, event } of steps) {
      const json = eventToJson(event);
      output.item({ step: id, offset_ms: offsetMs, event: json }, () =>
        [`${output.paint('bold', id)}  +${formatDuration(offsetMs)}`, JSON.stringify(json, null, 2)].join(
          '\n',
        ),
      );
    }
    output.remark(`seed ${seed}; nothing was sent`);
    return;
  }
  await send(session, options, steps, seed);
}

const FAILED = ['failed', 'exhausted', 'refused', 'cancelled'];

function hasFailed({ endpoints }: JourneyStep, { file }: ReplayOptions): boolean {
  if (endpoints === undefined) {
    throw usage(
      `--only failed: ${file} does not say what became of its events`,
      'record them after they were sent: hookrail sim record --out journey.ndjson',
    );
  }
  return endpoints.some(({ status }) => FAILED.includes(status ?? ''));
}

function rewritten(
  { settings }: Session,
  options: ReplayOptions,
  steps: readonly JourneyStep[],
  seed: string,
): readonly DomainEvent[] {
  const merchantId =
    isRecorded(options.sink) && !options.dryRun
      ? settings.merchantId()
      : (settings.find('merchant')?.value ?? 'sandbox');
  // Whoever sent them first: now the simulator does, and production must not take them.
  let events: readonly DomainEvent[] = steps.map(({ event }) => ({ ...event, merchantId, simulated: true }));
  if (options.redact) events = redacted(events, seed);
  if (options.newIds) events = withNewIds(events, seed);
  return options.rebaseTime && events.length > 0 ? rebased(events, Date.now()) : events;
}

async function send(
  session: Session,
  options: ReplayOptions,
  steps: readonly PlannedStep[],
  seed: string,
): Promise<void> {
  const { output } = session;
  const { sink } = options;
  const name = `replay of ${options.file === '-' ? 'standard input' : basename(options.file)}`;
  const wait = parseWait(options.wait, output.isInteractive && isRecorded(sink));
  const speed = parseSpeed(options.speed);
  const recorder = isRecorded(sink)
    ? new RunStore(session.settings.dataDir).begin({
        scenario: name,
        seed,
        created_at: new Date().toISOString(),
        sink,
        forced: false,
        expect: [],
        planned: steps.map(runStepOf),
        by_hand: null,
      })
    : undefined;
  const told = `${name}, seed ${seed}${recorder === undefined ? '' : `, ${recorder.id}`}`;
  if (recorder === undefined) output.remark(told);
  else output.item({ kind: 'run', run: recorder.id, scenario: name, seed }, told);
  const record = recorder && recordSent(recorder);
  let duplicates = 0;
  await playSteps(session, options, {
    steps,
    speed,
    wait,
    expected: [],
    repeated: new Set(),
    isExact: speed < Number.POSITIVE_INFINITY,
    onSent: (step, sent, sentAt) => {
      if (sent.status === 'duplicate') duplicates += 1;
      record?.(step, sent, sentAt);
    },
  });
  if (duplicates > 0) {
    output.warn(
      `${duplicates} of ${steps.length} were here already, and are not delivered again → --new-ids`,
    );
  }
  if (recorder && wait.ms === 0)
    output.remark(`follow the deliveries with: hookrail sim assert ${recorder.id}`);
}
