import type { Argv, CommandModule } from 'yargs';
import { isUuid } from '../../../services/domain/ids.ts';
import { errorLine } from '../../../services/messages/error-message.ts';
import { ApiClient } from '../../client/api-client.ts';
import { merchantStream } from '../../client/merchant-stream.ts';
import { parseDuration } from '../../duration.ts';
import { usage } from '../../exit.ts';
import {
  isOpen,
  journeyOf,
  listEvents,
  type Recorded,
  readRecorded,
  type Wanted,
} from '../../journey/recorder.ts';
import { isReplaced, writeNamedFile } from '../../named-file.ts';
import { type PastTime, pastTime } from '../../past-time.ts';
import type { EventListed } from '../../runs/log-of-run.ts';
import { randomSeed } from '../../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface RecordOptions extends CommandOptions {
  readonly since?: string;
  readonly entity?: string;
  readonly follow: boolean;
  readonly for?: string;
  readonly out: string;
  readonly redact: boolean;
  readonly seed?: string;
}

const SINCE_DEFAULT = '10m';
const SINCE_MS_MAX = 90 * 86_400_000;
const EVENTS_MAX = 100_000;
/** Where a followed event is not in the list after so many looks, it is none that can be replayed: a test. */
const LOOKS_MAX = 20;
const LOOK_MS = 250;
/** Ctrl-C ends the journey; its last statuses are read in this time. */
const LAST_LOOK_MS = 15_000;

/** Records a journey: the events that hookrail has accepted, with their times, in a file that `replay` sends again. */
export function recordCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, RecordOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .options({
          out: { type: 'string', demandOption: true, describe: 'File to write (ndjson)' },
          since: { type: 'string', describe: `Events of the last 10m, 2h, … (default ${SINCE_DEFAULT})` },
          entity: { type: 'string', describe: 'Events of this user or corporate (uuid), however old' },
          follow: { type: 'boolean', default: false, describe: 'Record what comes, until Ctrl-C' },
          for: { type: 'string', describe: 'With --follow: end after this long' },
          redact: {
            type: 'boolean',
            default: false,
            describe: 'Replace names, accounts, addresses and e-mail by valid made-up ones',
          },
          seed: { type: 'string', describe: 'With --redact: seed of the made-up values (default: random)' },
        })
        .example('$0 record --since 10m --out journey.ndjson', 'then: replay journey.ndjson --new-ids')
        .example('$0 record --follow --redact --out journey.ndjson', '') as unknown as Argv<RecordOptions>,
    handler: (options) => inSession(options, surroundings, (session) => record(session, options)),
  };
}

async function record(session: Session, options: RecordOptions): Promise<void> {
  const journey = new Journey(session, options);
  // A file that cannot be written is reported before the work.
  journey.keep();
  if (options.follow) await follow(session, options, journey);
  else await journey.readPast();
  journey.write();
  const { count, leftOut } = journey;
  const result = { file: options.out, events: count, left_out: leftOut };
  session.output.result(result, `${count} ${count === 1 ? 'event' : 'events'} recorded in ${options.out}`);
  if (leftOut > 0) session.output.warn(`${leftOut} left out: their bodies are no longer kept`);
  const next = count === 0 ? 'hookrail sim deliveries list' : `hookrail sim replay ${options.out} --new-ids`;
  session.output.remark(
    count === 0 ? `nothing was sent in that time; look further back: ${next}` : `send it again: ${next}`,
  );
}

/** Which events are recorded. */
interface Selection {
  readonly entity: string | undefined;
  readonly past: PastTime | undefined;
}

/** The events that are recorded so far. */
class Journey {
  readonly #session: Session;
  readonly #options: RecordOptions;
  readonly #selection: Selection;
  readonly #redaction: { readonly seed: string } | undefined;
  readonly #merchantId: string;
  readonly #recorded = new Map<string, Recorded>();
  readonly #createdAt = new Map<string, string>();
  leftOut = 0;

  constructor(session: Session, options: RecordOptions) {
    this.#session = session;
    this.#options = options;
    this.#selection = selectionOf(options);
    this.#redaction = options.redact ? { seed: options.seed ?? randomSeed() } : undefined;
    this.#merchantId = session.settings.find('merchant')?.value ?? 'recorded';
  }

  get count(): number {
    return this.#recorded.size;
  }

  async #wanted(client: ApiClient): Promise<Wanted> {
    const { entity, past } = this.#selection;
    return { entity, since: past && (await pastTime(past, client)) };
  }

  async readPast(): Promise<void> {
    const { output } = this.#session;
    const listed: EventListed[] = [];
    const client = this.#session.api();
    const isEnough = () => listed.length > EVENTS_MAX;
    const ended = output.waiting(() => `${this.count} of ${listed.length} events read`);
    try {
      const wanted = await this.#wanted(client);
      for await (const event of listEvents(client, wanted, isEnough)) listed.push(event);
      if (isEnough()) throw usage(`more than ${EVENTS_MAX} events: narrow it with --since or --entity`);
      for (const event of listed.reverse()) {
        if (this.#session.signal.aborted) return;
        await this.#read(client, event);
      }
    } finally {
      ended();
    }
  }

  /** Reads the events with these ids; takes from the set those that it found. */
  async readSome(ids: Set<string>): Promise<void> {
    const client = this.#session.api();
    const found: EventListed[] = [];
    let seen = 0;
    const wanted = await this.#wanted(client);
    for await (const event of listEvents(client, wanted, () => ids.size === 0 || seen > EVENTS_MAX)) {
      seen += 1;
      if (ids.delete(event.event_uuid)) found.push(event);
    }
    for (const event of found.reverse()) await this.#read(client, event);
  }

  /** Reads again what became of the deliveries that were open. */
  async readOutcomes(): Promise<void> {
    const { settings } = this.#session;
    // After Ctrl-C, when the session's own requests are cut off.
    const signal = AbortSignal.timeout(LAST_LOOK_MS);
    const { baseUrl, key } = settings.connection('apiKey');
    const client = new ApiClient(baseUrl, key, signal, { keepsTexts: true });
    for (const [id, recorded] of this.#recorded) {
      if (!isOpen(recorded)) continue;
      const created_at = this.#createdAt.get(id) ?? '';
      const again = await readRecorded(client, { event_uuid: id, created_at }, this.#merchantId).catch(
        () => undefined,
      );
      if (again) this.#recorded.set(id, again);
    }
  }

  /** Writes what has come so far into a file; a pipe gets the whole journey once, when it has ended. */
  keep(): void {
    if (isReplaced(this.#options.out)) this.write();
  }

  write(): void {
    const lines = journeyOf([...this.#recorded.values()], this.#redaction);
    const { out } = this.#options;
    try {
      writeNamedFile(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    } catch (error) {
      throw usage(`--out: ${out} cannot be written: ${errorLine(error)}`);
    }
  }

  async #read(client: ApiClient, listed: EventListed): Promise<void> {
    const recorded = await readRecorded(client, listed, this.#merchantId);
    if (recorded === undefined) this.leftOut += 1;
    else this.#recorded.set(listed.event_uuid, recorded);
    this.#createdAt.set(listed.event_uuid, listed.created_at);
  }
}

function selectionOf({ since, entity, follow, ...options }: RecordOptions): Selection {
  if (follow && since !== undefined) throw usage('--follow and --since cannot be combined');
  if (options.for !== undefined && !follow) throw usage('--for needs --follow');
  if (options.seed !== undefined && !options.redact) throw usage('--seed needs --redact');
  if (entity !== undefined && !isUuid(entity)) throw usage(`--entity "${entity}" is not a UUID`);
  const text = since ?? (entity === undefined ? SINCE_DEFAULT : undefined);
  const ms = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && (ms === undefined || ms > SINCE_MS_MAX)) {
    throw usage(`--since "${text}" is not a duration of at most 90 days: 10m, 2h, 1d`);
  }
  return {
    entity: entity?.toLowerCase(),
    past: ms === undefined ? undefined : { agoMs: ms },
  };
}

async function follow(session: Session, options: RecordOptions, journey: Journey): Promise<void> {
  const { output, signal } = session;
  const ms = options.for === undefined ? undefined : parseDuration(options.for);
  if (options.for !== undefined && ms === undefined)
    throw usage(`--for "${options.for}" is not a duration: 30s, 5m`);
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const ids = new Set<string>();
  let failure: { readonly error: unknown } | undefined;
  let following = Promise.resolve();
  await new Promise<void>((onOpen) => {
    const read = async () => {
      for await (const { kind, data } of merchantStream(session.api(), { signal: both, onOpen })) {
        const isNew = kind === 'skipped' || (kind === 'routed' && data.trigger === 'live');
        if (isNew && isWanted(options, data.entity_uuid)) ids.add(data.event_uuid);
      }
    };
    following = read()
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(onOpen);
  });
  output.item({ kind: 'recording', file: options.out }, `recording to ${options.out}; Ctrl-C ends it`);
  const until = Date.now() + (ms ?? Number.POSITIVE_INFINITY);
  const ended = output.waiting(() => `${journey.count} events recorded`);
  let looks = 0;
  while (!signal.aborted && failure === undefined && Date.now() < until) {
    await session.pause(Math.min(LOOK_MS, until - Date.now()));
    if (ids.size === 0 || signal.aborted) continue;
    const before = journey.count;
    await journey.readSome(ids).catch((error: unknown) => {
      // Ctrl-C cuts requests off; what was read until then is the journey.
      if (!signal.aborted) throw error;
    });
    looks = journey.count === before ? looks + 1 : 0;
    if (looks > LOOKS_MAX) ids.clear();
    journey.keep();
  }
  ended();
  over.abort();
  await following;
  if (failure) throw failure.error;
  await journey.readOutcomes();
}

function isWanted({ entity }: RecordOptions, entityId: string): boolean {
  return entity === undefined || entity.toLowerCase() === entityId;
}
