import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../client/duration.ts';
import { meantName } from '../../services/messages/did-you-mean.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { type ClockState, OperationsClient } from '../client/operations.ts';
import { meantDuration, parseDuration } from '../duration.ts';
import { CommandFailure, EXIT, mistyped, usage } from '../exit.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { ClockLines, describeClock } from './clock/clock-lines.ts';
import { UnderWay } from './clock/under-way.ts';

interface AdvanceOptions extends CommandOptions {
  readonly by: string;
}

const CLOCK_HELP = 'hookrail sim clock advance --help';
const NEXT_RETRY = 'next-retry';
/** As the service has it. */
const BY_MS_MAX = 30 * 86_400_000;

/** Shows the clock of the sandbox, and moves it on. */
export function clockCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const advanceCommand: CommandModule<object, AdvanceOptions> = {
    command: 'advance <by>',
    describe: 'Move the clock on; every attempt that becomes due is made at its time',
    builder: (args: Argv) =>
      args
        .positional('by', { type: 'string', demandOption: true, describe: `13h, 90m, 2d, or ${NEXT_RETRY}` })
        .example('$0 clock advance next-retry', 'the next attempt now')
        .example('$0 clock advance 19h', 'all seven attempts of what fails') as Argv<AdvanceOptions>,
    handler: (options) => inSession(options, surroundings, (session) => advance(session, options.by)),
  };
  const showCommand: CommandModule<object, CommandOptions> = {
    command: 'show',
    describe: "Show the sandbox's time, and when the next attempt is due",
    handler: (options) => inSession(options, surroundings, show),
  };
  return {
    builder: (args: Argv) => args.command(advanceCommand).command(showCommand).demandCommand(1),
    handler: () => {},
  };
}

async function show(session: Session): Promise<void> {
  const { output, settings } = session;
  const state = await new OperationsClient(session).clock(settings.merchantId());
  const { now, ahead_ms, next_due_at } = state;
  output.result({ now, ahead_ms, next_due_at }, () => describeClock(state, session));
  if (next_due_at !== null) output.remark('move it on: hookrail sim clock advance next-retry');
}

async function advance(session: Session, by: string): Promise<void> {
  const { output, settings, signal } = session;
  const durationMs = by === NEXT_RETRY ? undefined : durationOf(by);
  const operations = new OperationsClient(session);
  const merchant = settings.merchantId();
  let state = await operations.clock(merchant);
  const until = durationMs === undefined ? nextDue(state) : Date.parse(state.now) + durationMs;
  const line = new ClockLines(session);
  const underWay = new UnderWay(() => new MerchantApi(session.api()));
  let isThere = false;
  while (!isThere && !signal.aborted) {
    const { position: after } = state;
    const given = { until: new Date(until).toISOString(), merchant, after };
    const text = () =>
      `the clock is ${formatDuration(Math.max(0, until - Date.parse(state.now)))} from there${underWay.says}`;
    state = await output.during(text, underWay.during(operations.clockStep(given)));
    for (const entry of state.entries) await line.print(entry);
    isThere = Date.parse(state.now) >= until;
  }
  line.end(state);
}

function durationOf(by: string): number {
  const ms = parseDuration(by);
  if (/^-|^0+[a-z]+$/.test(by))
    throw usage(`the clock only moves forward: "${by}" is not above 0`, CLOCK_HELP);
  if (ms === undefined || ms <= 0) {
    const meant = meantName(by, [NEXT_RETRY]) ?? (/^\d+$/.test(by) ? undefined : meantDuration(by));
    throw mistyped(
      `"${by}" is not a duration such as 13h, 90m or 2d, nor ${NEXT_RETRY}`,
      by,
      meant,
      CLOCK_HELP,
    );
  }
  if (ms > BY_MS_MAX)
    throw usage(`${by} is too far: at most 30d at a time`, 'hookrail sim clock advance 30d');
  return ms;
}

function nextDue({ next_due_at }: ClockState): number {
  // The time is cut to whole milliseconds; the clock stops at the exact one.
  if (next_due_at !== null) return Date.parse(next_due_at) + 1;
  throw new CommandFailure(EXIT.expectation, 'no attempt waits', [
    'make one fail: hookrail sim receiver --behaviour 500',
    'then: hookrail sim trigger KYC/FULL_USER',
  ]);
}
