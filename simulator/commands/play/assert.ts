import { writeFileSync } from 'node:fs';
import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../../client/duration.ts';
import { errorLine } from '../../../services/messages/error-message.ts';
import { parseDuration } from '../../duration.ts';
import { CommandFailure, EXIT, usage } from '../../exit.ts';
import { junitXml } from '../../junit.ts';
import { LogOfRun } from '../../runs/log-of-run.ts';
import { type Run, RunStore } from '../../runs/run-store.ts';
import { type StepVerdict, verdictsOn } from '../../runs/verdicts.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface AssertOptions extends CommandOptions {
  readonly run: string;
  readonly within: string;
  readonly wait?: string | boolean;
  readonly junit?: string;
}

const WITHIN_DEFAULT = '60s';
const WAIT_MS_MAX = 86_400_000;
const LOOK_MS = { first: 200, most: 2000 };

/** Checks that what a run sent was delivered: all of it, in time, no more than once. */
export function assertCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, AssertOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args
        .positional('run', { type: 'string', demandOption: true, describe: 'Id of the run, or last' })
        .options({
          within: {
            type: 'string',
            default: WITHIN_DEFAULT,
            describe: 'Time for deliveries of which the scenario expects nothing else',
          },
          wait: {
            type: 'string',
            describe:
              'Wait at most this long for deliveries that are open; --no-wait (default: until they are late)',
          },
          junit: { type: 'string', describe: 'Write a JUnit report to this file' },
        })
        .example(
          '$0 assert last --junit report.xml',
          'after: run onramp.happy',
        ) as unknown as Argv<AssertOptions>,
    handler: (options) => inSession(options, surroundings, (session) => assertRun(session, options)),
  };
}

async function assertRun(session: Session, options: AssertOptions): Promise<void> {
  const { output, settings } = session;
  const run = new RunStore(settings.dataDir).find(options.run);
  if (run.sent.length === 0) throw usage(`${run.id} has not sent anything`, sendFirst(run));
  const within = durationOf('within', options.within);
  const verdicts = await decide(session, run, within, waitOf(options.wait));
  if (options.junit !== undefined) writeReport(options.junit, run, verdicts);
  for (const verdict of verdicts)
    output.item({ kind: 'step', run: run.id, ...verdict }, () => line(session, verdict));
  conclude(run, verdicts);
}

function sendFirst(run: Run): string {
  return run.by_hand === null ? `hookrail sim run ${run.scenario}` : `hookrail sim step ${run.id}`;
}

/** Reads the log until every step is decided, or the wait is over. */
async function decide(
  session: Session,
  run: Run,
  withinMs: number,
  waitMs: number | undefined,
): Promise<readonly StepVerdict[]> {
  const withinOf = (step: string) => run.expect.find((own) => own.step === step)?.withinMs ?? withinMs;
  const shortest = Math.min(withinMs, ...run.expect.map((own) => own.withinMs));
  const log = new LogOfRun(session.api(), run.sent, shortest);
  const startedAt = Date.now();
  let lookMs = LOOK_MS.first;
  for (;;) {
    // Read before the log: what the log then lacks was not there in time.
    const now = Date.now();
    const isTimeUp = (sent: Run['sent'][number]) => now - Date.parse(sent.sent_at) > withinOf(sent.step);
    const found = await log.read();
    const verdicts = verdictsOn(run, found, { withinMs, isTimeUp });
    const open = verdicts.filter(({ verdict }) => verdict === 'open').length;
    const isOver = waitMs !== undefined && now - startedAt >= waitMs;
    if (open === 0 || isOver || session.signal.aborted) return verdicts;
    await session.output.during(() => `waiting for ${open} events`, session.pause(lookMs));
    lookMs = Math.min(LOOK_MS.most, lookMs * 2);
  }
}

/** Returns undefined for "until they are late". */
function waitOf(given: string | boolean | undefined): number | undefined {
  if (given === undefined || given === true || given === '') return undefined;
  return given === false ? 0 : durationOf('wait', given);
}

function durationOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= WAIT_MS_MAX) return ms;
  throw usage(`--${option} "${text}" is not a duration of at most 24 h: 30s, 2m`);
}

function line({ output }: Session, { step, type, subType, expected, verdict, found }: StepVerdict): string {
  const marks = {
    passed: output.paint('green', '✓'),
    failed: output.paint('red', '✗'),
    open: output.paint('yellow', '…'),
    skipped: output.paint('yellow', '-'),
  };
  const name = step === type ? step : `${step}  ${type}/${subType}`;
  const wanted = verdict === 'passed' ? '' : `expected ${expected}: `;
  return output.row([`${marks[verdict]} ${name}`, `${wanted}${found.split('\n').join('; ')}`]);
}

function conclude(run: Run, verdicts: readonly StepVerdict[]): void {
  const having = (wanted: StepVerdict['verdict']) =>
    verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [failed, open, skipped] = [having('failed'), having('open'), having('skipped')];
  const of = `of ${verdicts.length} ${verdicts.length === 1 ? 'event' : 'events'}`;
  const next = ['look at them: hookrail sim deliveries list'];
  if (failed > 0) throw new CommandFailure(EXIT.expectation, `${run.id}: ${failed} ${of} failed`, next);
  if (open > 0) throw new CommandFailure(EXIT.timeout, `${run.id}: ${open} ${of} are still open`, next);
  if (skipped === verdicts.length) {
    throw new CommandFailure(EXIT.expectation, `${run.id}: no endpoint subscribed to any event`, [
      'see the filters of your endpoints: hookrail sim endpoints list',
    ]);
  }
}

function writeReport(file: string, run: Run, verdicts: readonly StepVerdict[]): void {
  const cases = verdicts.map(({ step, type, subType, expected, within_ms, verdict, found, took_ms }) => {
    const wanted = `expected ${expected} within ${formatDuration(within_ms)}: ${found}`;
    return {
      name: `${step} ${type}/${subType}`,
      className: run.scenario,
      durationMs: took_ms ?? 0,
      failure: verdict === 'failed' || verdict === 'open' ? wanted : undefined,
      skipped: verdict === 'skipped' ? found : undefined,
    };
  });
  const suite = { name: `${run.scenario} ${run.id}`, startedAt: Date.parse(run.created_at), cases };
  try {
    writeFileSync(file, junitXml([suite]));
  } catch (error) {
    throw usage(`--junit: ${file} cannot be written: ${errorLine(error)}`);
  }
}
