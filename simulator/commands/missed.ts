import type { Argv, CommandModule } from 'yargs';
import { visible } from '../../services/domain/text/visible-text.ts';
import { EndpointNames, endpointJson } from '../client/endpoint-names.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import type { Output } from '../output.ts';
import { parsePast, pastTime } from '../past-time.ts';
import { shortened } from '../scenario/live-lines.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { findEndpoint } from './log/find.ts';
import { shortId } from './wait-end.ts';

interface MissedOptions extends CommandOptions {
  readonly since: string;
  readonly endpoint?: string;
}

/** The deliveries that one endpoint did not get, by reason. */
interface Missed {
  readonly endpoint: {
    readonly uuid: string;
    readonly description: string | null;
    readonly url: string | null;
  };
  readonly status: string;
  /** Given up: after the last attempt, or with a 410. */
  readonly failed: number;
  /** Not sent, because the endpoint was disabled. */
  readonly skipped: Readonly<Record<'disabled' | 'auto_disabled', number>>;
  /** Cancelled while a retry waited. */
  readonly cancelled: number;
  /** Deliveries that wait for their next attempt: they come by themselves. */
  readonly waiting: number;
  /** Events that a replay would send now: what was brought back since is left out. */
  readonly replayable: number;
}

/** The most that is counted of one kind, which is ten pages. */
const COUNTED_MAX = 1000;

/** Shows what endpoints did not get, and the command that brings it back. */
export function missedCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, MissedOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args.options({
        since: { type: 'string', default: '24h', describe: 'Since then: 2h (ago), or RFC 3339' },
        endpoint: { type: 'string', describe: 'Only at this endpoint: uuid, 8 digits, name or URL' },
      }) as unknown as Argv<MissedOptions>,
    handler: (options) => inSession(options, surroundings, (session) => missed(session, options)),
  };
}

async function missed(session: Session, options: MissedOptions): Promise<void> {
  const { output } = session;
  const past = parsePast('since', options.since, 'missed');
  const api = new MerchantApi(session.api());
  const since = await pastTime(past, api);
  const only = options.endpoint && (await findEndpoint(api, options.endpoint));
  const names = new EndpointNames(api);
  const endpoints = (await api.endpoints()).filter(({ uuid }) => only === undefined || uuid === only);
  const legacy = await api.legacyEndpoint();
  if (legacy && (only === undefined || legacy.uuid === only)) endpoints.push(legacy);
  const found: Missed[] = [];
  for (const { uuid, status } of endpoints) {
    await names.learn(uuid);
    found.push(await missedBy(api, uuid, status, since, names));
  }
  const lacking = found.filter(({ replayable, waiting }) => replayable + waiting > 0);
  if (output.format !== 'pretty') return output.list(lacking, () => '', '');
  const rows = lacking.filter(({ replayable }) => replayable > 0);
  if (rows.length > 0) output.result({}, table(rows, names, output));
  else output.result({}, `nothing was missed since ${new Date(since).toISOString().slice(0, 16)}Z`);
  for (const row of rows) output.advise({ says: advice(row, names), next: commands(row, options.since) });
  const waiting = lacking.reduce((sum, row) => sum + row.waiting, 0);
  if (waiting > 0) {
    const says = waiting === 1 ? '1 delivery waits' : `${waiting} deliveries wait`;
    output.remark(`${says} for the next attempt: hookrail sim deliveries list --status failed`);
  }
}

async function missedBy(
  api: MerchantApi,
  uuid: string,
  status: string,
  since: string,
  names: EndpointNames,
): Promise<Missed> {
  const deliveries = async (wanted: 'failed' | 'cancelled') =>
    (await api.deliveries({ endpoint_uuid: uuid, status: wanted, since, limit: COUNTED_MAX })).length;
  const skipped = async (verdict: 'endpoint_disabled' | 'endpoint_auto_disabled') =>
    (await api.events({ endpoint_uuid: uuid, verdict, since, limit: COUNTED_MAX })).length;
  const replayable = await api.countReplay(uuid, { since, only: 'missing' });
  const failed = replayable === 0 ? 0 : await api.countReplay(uuid, { since, only: 'failed' });
  const isMore = replayable > failed;
  return {
    endpoint: endpointJson(names.of(uuid)),
    status,
    failed,
    skipped: {
      disabled: isMore ? await skipped('endpoint_disabled') : 0,
      auto_disabled: isMore ? await skipped('endpoint_auto_disabled') : 0,
    },
    cancelled: isMore ? await deliveries('cancelled') : 0,
    waiting: await deliveries('failed'),
    replayable,
  };
}

function table(rows: readonly Missed[], names: EndpointNames, output: Output): string {
  const head = ['endpoint', 'failed', 'skipped', 'cancelled'].map((text) => output.paint('bold', text));
  return output.table([
    head,
    ...rows.map((row) => [
      shortened(names.of(row.endpoint.uuid).label),
      counted(row.failed),
      skippedText(row.skipped),
      counted(row.cancelled),
    ]),
  ]);
}

function skippedText({ disabled, auto_disabled }: Missed['skipped']): string {
  const parts = [
    ...(disabled > 0 ? [`${counted(disabled)} (disabled)`] : []),
    ...(auto_disabled > 0 ? [`${counted(auto_disabled)} (auto-disabled)`] : []),
  ];
  return parts.join(', ') || '0';
}

function counted(count: number): string {
  return count >= COUNTED_MAX ? `${count} or more` : String(count);
}

function advice({ endpoint, replayable }: Missed, names: EndpointNames): string {
  const events = replayable === 1 ? '1 event' : `${replayable} events`;
  return `a replay brings ${events} back to ${visible(names.of(endpoint.uuid).label)}`;
}

/** Returns the commands that bring it back; a disabled endpoint must be enabled first. */
function commands({ endpoint, status }: Missed, since: string): readonly string[] {
  const id = shortId(endpoint.uuid);
  const enable = status === 'active' ? [] : [`hookrail sim endpoints enable ${id}`];
  return [...enable, `hookrail sim deliveries replay ${id} --since ${since}`];
}
