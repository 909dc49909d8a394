import { randomUUID } from 'node:crypto';
import type { Argv, CommandModule } from 'yargs';
import { eventToJson } from '../../services/codec/event-json.ts';
import { entityKindsOf } from '../../services/domain/catalog/catalog.ts';
import type { DomainEvent, EventData } from '../../services/domain/event.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { DeliveryWatch } from '../client/delivery-watch.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { usage } from '../exit.ts';
import {
  COHERENT_OPTIONS,
  type CoherentOptions,
  choicesOf,
  remarkIncoherent,
} from '../scenario/coherent-fields.ts';
import { type EventName, eventTable, parseEventName, parseWebhookName } from '../scenario/event-name.ts';
import { withField, withoutField } from '../scenario/event-paths.ts';
import { LiveLines } from '../scenario/live-lines.ts';
import { madeUpEntity, orUsage, type PlannedStep } from '../scenario/plan.ts';
import { play } from '../scenario/player.ts';
import {
  ENTITY_OPTIONS,
  type EntityOptions,
  entityOf,
  KAFKA_OPTIONS,
  parseWait,
  randomSeed,
} from '../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings, unreadable } from '../session.ts';
import { openSink } from '../sinks/open-sink.ts';
import { EVENTS_PER_REQUEST_MAX, type EventSink } from '../sinks/sinks.ts';
import { HELP_WIDTH, widthOf } from '../terminal/width.ts';
import { readText } from '../text-file.ts';
import { adviseOn } from './delivery-advice.ts';
import { findEndpointToChange } from './log/find.ts';
import { checkEvents } from './producing/check.ts';
import { sendTest } from './send-test.ts';
import { endWait } from './wait-end.ts';

interface TriggerOptions extends CommandOptions, EntityOptions, CoherentOptions {
  readonly event: string;
  readonly endpoint?: string;
  readonly sink: 'api' | 'kafka';
  readonly set?: string[];
  readonly unset?: string[];
  readonly data?: string;
  readonly seed?: string;
  readonly count: number;
  readonly wait?: string | boolean;
  readonly dryRun: boolean;
  readonly check: boolean;
}

const COUNT_MAX = 100_000;
const COHERENT = ['amount', 'currency', 'chain', 'token', 'country'] as const;
/** The most events followed one by one: nobody reads more lines. */
const WATCHED_MAX = 200;

/** Sends one event (or many of a kind) with realistic data, and fields of the developer's choice. */
export function triggerCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, TriggerOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .positional('event', { type: 'string', demandOption: true, describe: 'type or type/subType' })
        .options({
          endpoint: {
            type: 'string',
            describe: 'Send a test webhook to this endpoint only, by the test operation',
          },
          sink: {
            choices: ['api', 'kafka'],
            default: 'api',
            describe: 'Send the event through the REST API or Kafka',
          },
          ...KAFKA_OPTIONS,
          ...ENTITY_OPTIONS,
          ...COHERENT_OPTIONS,
          set: { type: 'string', array: true, nargs: 1, describe: 'Set a field: data.amountFiat=250' },
          unset: { type: 'string', array: true, nargs: 1, describe: 'Omit a field: data.walletAddress' },
          data: { type: 'string', describe: 'Use this data instead: JSON, or @file.json' },
          seed: { type: 'string', describe: 'Seed for ids and amounts (default: random)' },
          count: { type: 'number', default: 1, describe: 'Number of events, each with its own ids' },
          wait: { type: 'string', describe: 'Follow the deliveries for at most this long: 30s' },
          'dry-run': { type: 'boolean', default: false, describe: 'Show the event, send nothing' },
          check: {
            type: 'boolean',
            default: false,
            describe: 'Ask the service what would become of the event, publish nothing',
          },
        })
        .epilogue(
          `Events:\n${eventTable(widthOf(surroundings.stdout, HELP_WIDTH))}`,
        ) as unknown as Argv<TriggerOptions>,
    handler: (options) => inSession(options, surroundings, (session) => trigger(session, options)),
  };
}

async function trigger(session: Session, options: TriggerOptions): Promise<void> {
  const { output } = session;
  const { count } = options;
  if (!Number.isInteger(count) || count < 1 || count > COUNT_MAX) {
    throw usage(`--count must be a whole number from 1 to ${COUNT_MAX}`);
  }
  if (options.endpoint !== undefined) {
    // A test may be of a notice, too.
    parseWebhookName(options.event);
    refuseBeside(options);
    return triggerTest(session, options, options.endpoint);
  }
  const name = parseEventName(options.event);
  refuseBeside(options);
  const seed = options.seed ?? randomSeed();
  const make = eventMaker(session, options, name, seed);
  remarkIncoherent(
    session.output,
    (options.set ?? []).map((text) => ({ type: name.type, ...parseField(text) })),
  );
  if (options.dryRun) {
    for (let i = 0; i < count; i += 1) {
      const json = eventToJson(make(i));
      output.item(json, () => JSON.stringify(json, null, 2));
    }
    output.remark(`seed ${seed}; nothing was sent. Addresses are made up: never send funds to them.`);
    return;
  }
  if (options.check)
    return checkEvents(
      session,
      Array.from({ length: count }, (_, i) => make(i)),
    );
  const sink = await openSink(session, options);
  try {
    if (count > WATCHED_MAX) await sendMany(session, sink, count, make);
    else await sendWatched(session, options, sink, count, make);
  } finally {
    await sink.close?.();
  }
}

/** Refuses what `--check` would leave out: it asks the REST API, and sends nothing to follow. */
function refuseBeside({ check, dryRun, sink, wait }: TriggerOptions): void {
  if (!check) return;
  const unfit = [
    ...(dryRun ? ['--dry-run'] : []),
    ...(sink === 'api' ? [] : [`--sink ${sink}`]),
    ...(wait === undefined || wait === false ? [] : ['--wait']),
  ][0];
  if (unfit)
    throw usage(`--check and ${unfit} cannot be combined: the REST API is asked, and nothing is sent`);
}

/** The test operation makes the body itself, so options that would change it are refused rather than ignored. */
async function triggerTest(session: Session, options: TriggerOptions, endpoint: string): Promise<void> {
  const unfit = (['set', 'unset', 'data', 'seed', 'dryRun', 'check', ...COHERENT] as const).find(
    (name) => options[name],
  );
  if (unfit)
    throw usage(
      `--${unfit === 'dryRun' ? 'dry-run' : unfit} and --endpoint cannot be combined: the API makes the body of a test`,
    );
  const wait = parseWait(options.wait, true);
  const choices = {
    user: options.user,
    corporate: options.corporate,
    wait: Math.min(30, Math.ceil(wait.ms / 1000)),
  };
  const api = new MerchantApi(session.api());
  const uuid = await findEndpointToChange(api, endpoint);
  for (let i = 0; i < options.count; i += 1) await sendTest(api, uuid, options.event, choices, session);
}

function eventMaker(
  session: Session,
  options: TriggerOptions,
  { type, subType }: EventName,
  seed: string,
): (number: number) => DomainEvent {
  const merchantId = options.dryRun
    ? (session.settings.find('merchant')?.value ?? 'sandbox')
    : session.settings.merchantId();
  const kind = entityOf(options).entityKind ?? entityKindsOf(type)[0] ?? 'USER';
  const set = (options.set ?? []).map(parseField);
  // The status decides which other fields an event shows, so the sampler has to know it.
  const status = set.find(({ path }) => path === 'data.status')?.value;
  const given = options.data === undefined ? undefined : readData(options.data);
  const choices = {
    ...choicesOf(type, options, `${type}/${subType}`),
    ...(status === undefined ? {} : { status }),
  };
  return (number) => {
    const subject = options.count === 1 ? seed : `${seed}/${number}`;
    const event = orUsage(`${type}/${subType}`, () =>
      sampleEvent({
        type,
        subType,
        merchantId,
        entityId: entityOf(options).entityId ?? madeUpEntity(subject, kind),
        entityKind: kind,
        seed: subject,
        occurredAt: Date.now(),
        eventId: randomUUID(),
        simulated: true,
        choices,
      }),
    );
    let data: EventData = given ?? event.data;
    for (const { path, value } of set) data = withField(type, data, path, value);
    for (const path of options.unset ?? []) data = withoutField(type, data, path);
    return { ...event, data };
  };
}

function parseField(text: string): { readonly path: string; readonly value: string } {
  const equals = text.indexOf('=');
  if (equals < 1) throw usage(`--set "${text}" is not path=value, such as data.amountFiat=250`);
  return { path: text.slice(0, equals), value: text.slice(equals + 1) };
}

function readData(given: string): EventData {
  const text = given.startsWith('@') ? readFile(given.slice(1)) : given;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw usage(`--data is not JSON: ${given.startsWith('@') ? given.slice(1) : text.slice(0, 60)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usage('--data must be an object');
  return parsed as EventData;
}

function readFile(path: string): string {
  try {
    return readText(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function sendMany(
  { output, signal }: Session,
  sink: EventSink,
  count: number,
  make: (number: number) => DomainEvent,
): Promise<void> {
  let sent = 0;
  const ended = output.waiting(() => `${sent} of ${count} sent`);
  try {
    while (sent < count && !signal.aborted) {
      const size = Math.min(EVENTS_PER_REQUEST_MAX, count - sent);
      const first = sent;
      await sink.send(Array.from({ length: size }, (_, i) => make(first + i)));
      sent += size;
    }
  } finally {
    ended();
  }
  output.result({ sent }, `${sent} events sent`);
}

async function sendWatched(
  session: Session,
  options: TriggerOptions,
  sink: EventSink,
  count: number,
  make: (number: number) => DomainEvent,
): Promise<void> {
  const { output, signal } = session;
  const wait = parseWait(options.wait, output.isInteractive);
  const steps: PlannedStep[] = Array.from({ length: count }, (_, i) => ({
    id: String(i + 1),
    offsetMs: 0,
    event: make(i),
  }));
  const lines = new LiveLines(output, steps, session.clock);
  const pause = (ms: number) => session.pause(ms);
  const onNews = lines.news.bind(lines);
  const watch =
    wait.ms > 0
      ? new DeliveryWatch({ api: new MerchantApi(session.impatientApi()), pause, signal, onNews })
      : undefined;
  await play(steps, {
    sink,
    speed: Number.POSITIVE_INFINITY,
    pause,
    signal,
    clock: session.clock,
    watch,
    watchMs: wait.ms,
    waiting: (text) => output.waiting(text),
    onSent: (step, sent, sentAt) => lines.sent(step, sent, sentAt),
  });
  if (watch && !signal.aborted) await adviseOn(output, new MerchantApi(session.api()), watch.watched);
  if (watch) endWait(session, watch.watched, wait.isAsked);
}
