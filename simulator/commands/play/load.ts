import type { Argv, CommandModule } from 'yargs';
import { formatCountdown } from '../../../client/duration.ts';
import { merchantStream } from '../../client/merchant-stream.ts';
import { parseDuration } from '../../duration.ts';
import { usage } from '../../exit.ts';
import { Latencies } from '../../load/latencies.ts';
import { EventMixer, readMix } from '../../load/mix.ts';
import { type LoadCounts, type LoadHeld, type LoadPlan, runOpenLoop } from '../../load/open-loop.ts';
import { formatLatency, PLOT_COLUMNS } from '../../load/plot.ts';
import { concludeLoad, type LoadResult, resultJson, resultText } from '../../load/report.ts';
import { openTargets, type Targets } from '../../load/targets.ts';
import { KAFKA_OPTIONS, parseWait, randomSeed } from '../../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';
import { openSink } from '../../sinks/open-sink.ts';

interface LoadOptions extends CommandOptions {
  readonly rate: number;
  readonly duration: string;
  readonly mix?: string;
  readonly entities: number;
  readonly seed?: string;
  readonly endpoint?: string;
  readonly sink: 'api' | 'kafka';
  readonly wait?: string | boolean;
}

const RATE_MAX = 5000;
const DURATION_MS = { least: 1000, most: 600_000 };
const ENTITIES_MAX = 100_000;
const LOOK_MS = 100;

/** Sends events at a constant rate, whether or not the service keeps up, and shows the latencies of their deliveries. */
export function loadCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, LoadOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .options({
          rate: { type: 'number', default: 100, describe: `Events a second, at most ${RATE_MAX}` },
          duration: { type: 'string', default: '30s', describe: 'How long, at most 10m' },
          mix: {
            type: 'string',
            describe: 'File with a weight per scenario ("onramp.happy: 6"), or a scenario',
          },
          entities: { type: 'number', default: 100, describe: 'Number of users and corporates' },
          seed: { type: 'string', describe: 'Seed of the sequence of events (default: random)' },
          endpoint: { type: 'string', describe: 'Measure the deliveries to this endpoint only' },
          sink: { choices: ['api', 'kafka'], default: 'api', describe: 'Send through the REST API or Kafka' },
          ...KAFKA_OPTIONS,
          wait: { type: 'string', describe: 'Wait at most this long for the last deliveries (default 30s)' },
        })
        .example('$0 load --rate 500 --duration 30s', '')
        .example('$0 load --mix kyc.happy --output json', '') as unknown as Argv<LoadOptions>,
    handler: (options) => inSession(options, surroundings, (session) => load(session, options)),
  };
}

async function load(session: Session, options: LoadOptions): Promise<void> {
  const plan = planOf(options);
  const wait = parseWait(options.wait, true);
  const mix = readMix(options.mix);
  mustBeSandbox(session);
  const seed = options.seed ?? randomSeed();
  const mixer = new EventMixer(mix, {
    seed,
    merchantId: session.settings.merchantId(),
    entities: options.entities,
  });
  const targets = await openTargets(session, options.endpoint);
  try {
    const result = await measure(session, options, { plan, targets, mixer, seed, waitMs: wait.ms });
    session.output.result(resultJson(result), () => resultText(result, session.output));
    if (!session.signal.aborted) concludeLoad(result);
  } finally {
    await targets.close();
  }
}

function planOf({ rate, duration, entities }: LoadOptions): LoadPlan {
  const durationMs = parseDuration(duration);
  if (!(rate > 0 && rate <= RATE_MAX))
    throw usage(`--rate must be above 0 and at most ${RATE_MAX} events a second`);
  if (durationMs === undefined || durationMs < DURATION_MS.least || durationMs > DURATION_MS.most) {
    throw usage(`--duration "${duration}" is not a duration from 1s to 10m`);
  }
  if (!Number.isInteger(entities) || entities < 1 || entities > ENTITIES_MAX) {
    throw usage(`--entities must be a whole number from 1 to ${ENTITIES_MAX}`);
  }
  return { rate, durationMs };
}

/** A load is for a sandbox: only its key is taken, which every other service refuses before anything is sent. */
function mustBeSandbox({ settings }: Session): void {
  if (settings.key('apiKey').startsWith('sk_sandbox_')) return;
  throw usage('load needs the API key of a sandbox (sk_sandbox_…)', 'hookrail sim whoami');
}

interface Measure {
  readonly plan: LoadPlan;
  readonly targets: Targets;
  readonly mixer: EventMixer;
  readonly seed: string;
  readonly waitMs: number;
}

async function measure(
  session: Session,
  options: LoadOptions,
  { plan, targets, mixer, seed, waitMs }: Measure,
): Promise<LoadResult> {
  const { output, signal } = session;
  const counts: LoadCounts = { sent: 0, accepted: 0, refused: 0, heldBack: 0 };
  const startedAt = Date.now();
  const latencies = new Latencies({
    endpoint: targets.endpoint,
    endpoints: targets.count,
    startedAt,
    durationMs: plan.durationMs,
    slices: PLOT_COLUMNS,
  });
  const stream = await openStream(session, latencies);
  const sink = await openSink(session, options);
  const endsAt = startedAt + plan.durationMs;
  let ended = output.waiting(() => progress(endsAt - Date.now(), counts, latencies));
  try {
    const held: LoadHeld = await runOpenLoop({
      plan,
      sink,
      next: (now) => mixer.next(now),
      signal,
      pause: (ms) => session.pause(ms),
      counts,
      onSend: ({ eventId }, dueAt) => latencies.sent(eventId, dueAt),
      onRefused: ({ eventId }) => latencies.refused(eventId),
    });
    ended();
    ended = output.waiting(() => `waiting for the deliveries of ${latencies.open} events`);
    const until = Date.now() + waitMs;
    while (latencies.open > 0 && Date.now() < until && !signal.aborted) {
      stream.check();
      await session.pause(LOOK_MS);
    }
    const { counts: deliveries, open } = latencies;
    return {
      seed,
      plan,
      held,
      counts,
      deliveries,
      open,
      latency: latencies.table(),
      slices: latencies.slices(),
    };
  } finally {
    ended();
    await stream.close();
    await sink.close?.();
  }
}

function progress(leftMs: number, { sent }: LoadCounts, latencies: Latencies): string {
  const { p99 } = latencies.table();
  const { delivered, failed } = latencies.counts;
  const shown = [
    `${formatCountdown(leftMs)} left`,
    `${sent} sent`,
    `${delivered} delivered`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(p99 === null ? [] : [`p99 ${formatLatency(p99)}`]),
  ];
  return shown.join('  ');
}

interface OpenStream {
  /** Throws why the stream ended, when it has. */
  check(): void;
  close(): Promise<void>;
}

/** Follows the deliveries. Resolves when the stream is open: nothing that is sent then is missed. */
async function openStream(session: Session, latencies: Latencies): Promise<OpenStream> {
  const over = new AbortController();
  const signal = AbortSignal.any([session.signal, over.signal]);
  let failure: { readonly error: unknown } | undefined;
  let following = Promise.resolve();
  await new Promise<void>((onOpen) => {
    const read = async () => {
      for await (const news of merchantStream(session.api(), { signal, onOpen })) {
        latencies.take(news, Date.now());
      }
    };
    following = read()
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(onOpen);
  });
  const check = () => {
    if (failure) throw failure.error;
  };
  check();
  return {
    check,
    close: async () => {
      over.abort();
      await following;
    },
  };
}
