import type { Argv, CommandModule } from 'yargs';
import { type Case, selectCases } from '../../check/cases.ts';
import { type CaseResult, conclude, showResult, writeJUnit } from '../../check/results.ts';
import { MerchantApi } from '../../client/merchant-api.ts';
import { parseDuration } from '../../duration.ts';
import { usage } from '../../exit.ts';
import { KAFKA_OPTIONS, parseSpeed, randomSeed } from '../../scenario/run-options.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../../session.ts';

interface CheckOptions extends CommandOptions {
  readonly scenarios?: string[];
  readonly only?: string[];
  readonly skip?: string[];
  readonly to?: string;
  readonly secret?: string;
  readonly ca?: string;
  readonly sink: 'api' | 'kafka';
  readonly seed?: string;
  readonly speed: string;
  readonly wait: string;
  readonly junit?: string;
}

/** Plays scenarios and evaluates what they expect: of the sandbox, or of the developer's own handler. */
export function checkCommand(surroundings: Surroundings): CommandModule<object, CheckOptions> {
  return {
    command: 'check [scenarios..]',
    describe:
      'Play scenarios and check what comes of them: all, some, or those against your own handler (--to)',
    builder: (args: Argv) =>
      args
        .positional('scenarios', {
          type: 'string',
          array: true,
          describe: 'Names, files, or -; default: all',
        })
        .options({
          only: { type: 'string', array: true, nargs: 1, describe: 'Only these: onramp.*,kyc.happy' },
          skip: { type: 'string', array: true, nargs: 1, describe: 'Not these: receiver.*' },
          to: { type: 'string', describe: 'URL of your own handler: http://localhost:3000/hook' },
          secret: { type: 'string', describe: 'With --to: secret to sign with (whsec_…)' },
          ca: { type: 'string', describe: 'With --to: PEM file of the CA to trust (default: the sandbox’s)' },
          sink: { choices: ['api', 'kafka'] as const, default: 'api' as const, describe: 'Where events go' },
          ...KAFKA_OPTIONS,
          seed: { type: 'string', describe: 'Seed for ids, names and amounts (default: random)' },
          speed: { type: 'string', default: 'instant', describe: 'Speed: instant, 1x or real, 60x, …' },
          wait: { type: 'string', default: '1m', describe: 'Longest wait for one expectation: 30s, 5m' },
          junit: { type: 'string', describe: 'Write the results to this file, as JUnit XML' },
        })
        .example('$0 scenarios check', 'everything, on the running sandbox')
        .example('$0 scenarios check --to http://localhost:3000/hook --secret whsec_…', 'your own handler')
        .example(
          "$0 scenarios check --only 'security.*' --junit out.xml",
          '',
        ) as unknown as Argv<CheckOptions>,
    handler: (options) => inSession(options, surroundings, (session) => check(session, options)),
  };
}

async function check(session: Session, options: CheckOptions): Promise<void> {
  const { output } = session;
  const { scenarios = [], only = [], skip = [], junit } = options;
  const cases = selectCases({ scenarios, only, skip });
  const seed = options.seed ?? randomSeed();
  output.remark(`${cases.length} scenarios, seed ${seed}`);
  const startedAt = Date.now();
  const results: CaseResult[] = [];
  const width = Math.max(...cases.map(({ name }) => name.length));
  const onResult = (result: CaseResult) => {
    results.push(result);
    showResult(output, result, width);
  };
  let next: readonly string[] = [];
  try {
    next =
      options.to === undefined
        ? await onSandbox(session, options, cases, seed, onResult)
        : await onHandler(session, options, options.to, cases, seed, onResult);
  } finally {
    // Also when it could not be finished: a report of nothing helps nobody.
    if (junit !== undefined) writeJUnit(junit, startedAt, results);
  }
  if (session.signal.aborted) return;
  const hasFailed = results.some(({ status }) => status === 'failed');
  const helps = hasFailed ? again(results, seed, options) : next;
  conclude(output, results, {
    next: helps,
    scenarios: new Set(cases.map(({ scenario }) => scenario.name)).size,
  });
}

/** The events of a scenario go to every endpoint of the merchant, those of the developer included. */
async function warnOfOwnEndpoints(session: Session): Promise<void> {
  const { length } = await new MerchantApi(session.api()).endpoints('active');
  if (length === 0) return;
  const who = length === 1 ? 'your active endpoint gets' : `your ${length} active endpoints get`;
  session.output.advise({
    says: `${who} the events of all scenarios, too`,
    next: ['a sandbox without them: hookrail start --data-dir other-sandbox'],
  });
}

async function onSandbox(
  session: Session,
  options: CheckOptions,
  cases: readonly Case[],
  seed: string,
  onResult: (result: CaseResult) => void,
): Promise<readonly string[]> {
  const patienceMs = parseDuration(options.wait);
  if (patienceMs === undefined) throw usage(`--wait "${options.wait}" is not a duration: 30s, 5m`);
  for (const name of ['secret', 'ca'] as const) {
    if (options[name] !== undefined) throw usage(`--${name} is for --to <url>`);
  }
  const { openSink } = await import('../../sinks/open-sink.ts');
  const { checkOnSandbox } = await import('../../check/sandbox-check.ts');
  const sink = await openSink(session, { sink: options.sink });
  const speed = parseSpeed(options.speed);
  await warnOfOwnEndpoints(session);
  try {
    return (await checkOnSandbox(session, cases, { sink, seed, speed, patienceMs, onResult })).next;
  } finally {
    await sink.close?.();
  }
}

async function onHandler(
  session: Session,
  options: CheckOptions,
  to: string,
  cases: readonly Case[],
  seed: string,
  onResult: (result: CaseResult) => void,
): Promise<readonly string[]> {
  const { secret } = options;
  if (secret === undefined)
    throw usage('--to needs --secret <whsec_…>: the one that your handler verifies with');
  if (options.sink === 'kafka')
    throw usage('--to and --sink kafka cannot be combined: nothing goes by Kafka');
  const { directUrl } = await import('../../sinks/direct.ts');
  const { authorityFor } = await import('../../sinks/open-sink.ts');
  const { checkHandler } = await import('../../check/handler-check.ts');
  const target = { url: directUrl(to), secret, ca: authorityFor(session, options.ca) };
  await checkHandler(session, cases, { target, seed, speed: parseSpeed(options.speed), onResult });
  return [];
}

/** Returns the command that plays the first failed scenario alone, or what is wrong with all of them. */
function again(results: readonly CaseResult[], seed: string, { to }: CheckOptions): readonly string[] {
  const failed = results.filter(({ status }) => status === 'failed');
  const isRefused = ({ findings }: CaseResult) =>
    findings.every((finding) => / answered 40[13] to /.test(finding));
  if (to !== undefined && failed.every(isRefused)) {
    return ['your app refuses genuine webhooks: is --secret the one that it verifies with?'];
  }
  const [name] = failed[0]?.name.split(' ', 1) ?? [];
  const direct = to === undefined ? '--expect' : `--sink direct --to ${to} --secret …`;
  return [`look closer: hookrail sim run ${name} --seed ${seed} ${direct}`];
}
