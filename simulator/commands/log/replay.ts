import type { Argv } from 'yargs';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { MerchantApi, type ReplayAnswer, type ReplayRequest } from '../../client/merchant-api.ts';
import { sleep } from '../../client/sleep.ts';
import { usage } from '../../exit.ts';
import { parsePast, pastTime } from '../../past-time.ts';
import { parseEventTypes } from '../../scenario/event-name.ts';
import { parseWait } from '../../scenario/run-options.ts';
import type { CommandOptions, Session } from '../../session.ts';
import { shortId } from '../wait-end.ts';
import { findEndpointToChange } from './find.ts';
import { followRequested } from './requested.ts';

export interface ReplayOptions extends CommandOptions {
  readonly endpoint: string;
  readonly since?: string;
  readonly until?: string;
  readonly only: 'failed' | 'missing' | 'all';
  readonly subject?: string;
  readonly event?: string[];
  readonly events?: string[];
  readonly dryRun: boolean;
  readonly wait?: string | boolean;
}

const POLL_MS = 300;
const POLL_MS_MAX = 5000;

/** The options of `deliveries replay` and `endpoints replay`. */
export function replayOptions(args: Argv): Argv<ReplayOptions> {
  return args
    .positional('endpoint', { type: 'string', demandOption: true, describe: 'uuid, 8 digits, name or URL' })
    .options({
      since: { type: 'string', describe: 'Events since then: 2h (ago), or RFC 3339' },
      until: { type: 'string', describe: 'Events before then (default: now)' },
      only: {
        choices: ['failed', 'missing', 'all'],
        default: 'missing',
        describe:
          'failed: given up; missing: also skipped while disabled, and cancelled; all: also what arrived',
      },
      subject: { type: 'string', describe: 'Only about this: a transaction, account, profile or wallet' },
      event: { type: 'string', array: true, describe: 'Only this event (webhook-id); may be repeated' },
      events: {
        type: 'string',
        array: true,
        describe: `Only these types: ${EVENT_TYPES.slice(0, 2).join(',')}`,
      },
      'dry-run': { type: 'boolean', default: false, describe: 'Count the events, send nothing' },
      wait: { type: 'string', describe: 'Follow the deliveries for at most this long: 30s' },
    }) as unknown as Argv<ReplayOptions>;
}

/** Sends what an endpoint missed in a period. */
export async function replay(session: Session, options: ReplayOptions): Promise<void> {
  const { output } = session;
  const command = `deliveries replay ${options.endpoint}`;
  const since = parsePast('since', options.since, command);
  if (since === undefined && options.subject === undefined && options.event === undefined)
    throw usage('replay needs --since, such as 2h, or --subject, or --event');
  const until = parsePast('until', options.until, `${command} --since ${options.since ?? '2h'}`);
  const wait = parseWait(options.wait, output.isInteractive);
  const api = new MerchantApi(session.api());
  const endpoint = await findEndpointToChange(api, options.endpoint);
  const request: ReplayRequest = {
    only: options.only,
    ...(since === undefined ? {} : { since: await pastTime(since, api) }),
    ...(options.subject === undefined ? {} : { subject_uuid: options.subject }),
    ...(options.event === undefined ? {} : { event_uuids: options.event }),
    ...(until === undefined ? {} : { until: await pastTime(until, api) }),
    ...(options.events === undefined ? {} : { types: [...parseEventTypes(options.events)] }),
  };
  if (options.dryRun) {
    const count = await api.countReplay(endpoint, request);
    return output.result({ dry_run: true, endpoint_uuid: endpoint, ...request, count }, () =>
      count === 1 ? '1 event would be sent' : `${count} events would be sent`,
    );
  }
  let running: ReplayAnswer | undefined;
  const over = new AbortController();
  let polling: Promise<void> = Promise.resolve();
  const requested = {
    waitMs: wait.ms,
    isAsked: wait.isAsked,
    matches: ({ data, kind }: { data: { endpoint_uuid: string | null }; kind: string }) =>
      kind !== 'skipped' && data.endpoint_uuid === endpoint && 'trigger' in data && data.trigger === 'replay',
    start: async () => {
      const started = await api.startReplay(endpoint, request);
      running = started;
      output.item({ kind: 'replay', ...started }, () => describe(started));
      if (wait.ms > 0) polling = poll(api, endpoint, started, over.signal, (state) => (running = state));
    },
    expected: () => (running === undefined || running.status === 'running' ? undefined : running.published),
  };
  try {
    await followRequested(session, api, requested);
  } finally {
    over.abort();
    await polling;
  }
}

function describe({ count, replay_uuid: uuid }: ReplayAnswer): string {
  if (count === 0) return 'nothing is missing: there is nothing to replay';
  return `replay ${shortId(uuid)}: ${count === 1 ? '1 event is' : `${count} events are`} sent again`;
}

/** Reads the state of a replay until it has ended. The deliveries are followed by the stream, so errors can wait. */
async function poll(
  api: MerchantApi,
  endpoint: string,
  { replay_uuid }: ReplayAnswer,
  signal: AbortSignal,
  onState: (state: ReplayAnswer) => void,
): Promise<void> {
  for (let waitMs = POLL_MS; !signal.aborted; waitMs = Math.min(POLL_MS_MAX, waitMs * 1.5)) {
    const state = await api.replay(endpoint, replay_uuid).catch(() => undefined);
    if (state) onState(state);
    if (state && state.status !== 'running') return;
    await sleep(waitMs, signal);
  }
}
