import { fileURLToPath } from 'node:url';
import yargs, { type CommandModule } from 'yargs';
import { visibleLines } from '../services/domain/text/visible-text.ts';
import { certCommand } from './commands/cert.ts';
import { deliveriesCommand } from './commands/deliveries.ts';
import { endpointsCommand } from './commands/endpoints.ts';
import { eventsCommand } from './commands/events.ts';
import { receiverCommand } from './commands/receiver.ts';
import { runCommand } from './commands/run.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { scenariosCommand } from './commands/scenarios.ts';
import { triggerCommand } from './commands/trigger.ts';
import { verifyCommand } from './commands/verify.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { GLOBAL_OPTIONS, type Surroundings } from './session.ts';
import { explainLine, InvalidLine } from './terminal/invalid-line.ts';
import { foldProse, HELP_WIDTH, widthOf } from './terminal/width.ts';

const COMMANDS: readonly ((surroundings: Surroundings) => unknown)[] = [
  sandboxCommand,
  runCommand,
  triggerCommand,
  scenariosCommand,
  receiverCommand,
  endpointsCommand,
  deliveriesCommand,
  eventsCommand,
  verifyCommand,
  certCommand,
  whoamiCommand,
];

/** Runs one command line. Resolves with the exit code; never rejects for a failure that a user can cause. */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  // An instance per run: yargs keeps state, and tests run many.
  const parser = yargs([])
    .scriptName('sim')
    .usage('$0 <command>: play, send and watch webhooks of the sandbox')
    .options(GLOBAL_OPTIONS)
    .parserConfiguration({ 'dot-notation': false, 'duplicate-arguments-array': true })
    .demandCommand(1, 'name a command; --help lists them')
    .strict()
    .wrap(widthOf(surroundings.stdout, HELP_WIDTH))
    .version(false)
    .help()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new InvalidLine(message);
    });
  for (const command of COMMANDS) parser.command(command(surroundings) as CommandModule);
  try {
    let printed = '';
    await parser.parseAsync([...args], {}, (_error: unknown, _argv: unknown, text: string) => {
      printed = text;
    });
    if (printed) surroundings.stdout.write(`${printed}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof InvalidLine)) return report(error, surroundings);
    return report(await explainLine(error, args, helpOf), surroundings);
  }
}

/** Returns the help of a command, at its full width. */
async function helpOf(path: readonly string[]): Promise<string> {
  let text = '';
  const stdout = { write: (written: string) => (text += written) };
  const { signal } = new AbortController();
  await runCommandLine([...path, '--help'], { environment: {}, stdout, stderr: stdout, signal });
  return text;
}

function report(error: unknown, { stderr, signal }: Surroundings): number {
  // Ctrl-C cuts requests off: the user wanted that.
  if (signal.aborted && !(error instanceof CommandFailure)) return EXIT.ok;
  if (error instanceof CommandFailure) {
    const width = widthOf(stderr);
    const lines = [...(error.message ? [error.message] : []), ...error.next.map((step) => `  → ${step}`)];
    for (const line of lines) stderr.write(`${visibleLines(foldProse(line, width))}\n`);
    return error.exitCode;
  }
  // An unexpected error: the stack helps most.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(`${visibleLines(text)}\n`);
  return EXIT.expectation;
}

async function main(): Promise<void> {
  const interrupted = new AbortController();
  // The first Ctrl-C asks to stop, the second does not wait.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (interrupted.signal.aborted) process.exit(1);
      interrupted.abort();
    });
  }
  // `sim … | head` closes the pipe early: that is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const { env: environment, stdout, stderr } = process;
  const { signal } = interrupted;
  const code = await runCommandLine(process.argv.slice(2), { environment, stdout, stderr, signal });
  process.exitCode = code;
  // The command has stopped; connections to an unreachable server would keep the process alive.
  if (signal.aborted) stdout.write('', () => process.exit(code));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
