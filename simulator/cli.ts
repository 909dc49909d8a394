import { fileURLToPath } from 'node:url';
import yargs, { type Argv, type CommandModule } from 'yargs';
import { visibleLines } from '../services/domain/text/visible-text.ts';
import { asTyped } from '../services/messages/as-typed.ts';
import { explainLine, InvalidLine, wordsOf } from '../services/messages/invalid-line.ts';
import { nameOf, SIMULATOR_TOOL, type Tool } from './commands.ts';
import { CommandFailure, EXIT, usage } from './exit.ts';
import { givenTwice } from './given-twice.ts';
import { inTypedLine } from './line/refused-line.ts';
import { runAsProcess } from './process.ts';
import { readSecrets } from './secret-options.ts';
import { GLOBAL_OPTIONS, type Surroundings } from './session.ts';
import { foldProse, HELP_WIDTH, widthOf } from './terminal/width.ts';
import { vocabularyOf } from './vocabulary.ts';

/** Runs one command line. Resolves with the exit code; never rejects for a failure that a user can cause. */
export async function runCommandLine(
  args: readonly string[],
  surroundings: Surroundings,
  tool = SIMULATOR_TOOL,
): Promise<number> {
  const fail = (failure: unknown) => report(inTypedLine(failure, args, tool), args, surroundings);
  try {
    const parser = await parserOf(args, surroundings, tool);
    let printed = '';
    await parser.parseAsync(withoutDashes(args), {}, (_error: unknown, _argv: unknown, text: string) => {
      printed = text;
    });
    if (printed) surroundings.stdout.write(`${printed}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof InvalidLine)) return fail(error);
    // The parser's words have the stand-in for a dash.
    error.message = error.message.replaceAll(DASH, '-');
    const vocabulary = vocabularyOf(tool.name);
    const { message, next } = await explainLine(error, args, (path) => helpOf(path, tool), vocabulary);
    return fail(usage(message, ...next));
  }
}

/** Stands for a dash that begins no option. No argument of a process can contain it. */
const DASH = '\0';

/** A lone dash, which yargs drops, and a negative duration, which it takes for options of one letter each. */
function withoutDashes(args: readonly string[]): string[] {
  const isValue = (arg: string) => arg === '-' || /^-\d+(?:\.\d+)?[a-z]+$/.test(arg);
  return args.map((arg) => (isValue(arg) ? DASH + arg.slice(1) : arg));
}

/** Gives the command its dashes, wherever the parser put them. */
function restoreDashes(parsed: Record<string, unknown>): void {
  const restored = (value: unknown) => (typeof value === 'string' ? value.replaceAll(DASH, '-') : value);
  for (const [name, value] of Object.entries(parsed)) {
    parsed[name] = Array.isArray(value) ? value.map(restored) : restored(value);
  }
}

/** Returns the parser of a command line. Only the command that the line names is loaded. */
export async function parserOf(
  args: readonly string[],
  surroundings: Surroundings,
  tool: Tool,
): Promise<Argv> {
  // An instance per run: yargs keeps state, and tests run many.
  const parser = yargs([])
    .scriptName(asTyped(tool.name, surroundings.environment))
    .usage(tool.usage)
    .options(GLOBAL_OPTIONS)
    .parserConfiguration({ 'dot-notation': false, 'duplicate-arguments-array': true })
    .demandCommand(1, 'name a command; --help lists them')
    .strict()
    .wrap(widthOf(surroundings.stdout, HELP_WIDTH))
    .version(false)
    .help()
    .exitProcess(false)
    .middleware(restoreDashes)
    .middleware(readSecrets)
    .fail((message, error) => {
      throw error ?? new InvalidLine(message);
    });
  const words = wordsOf(args, vocabularyOf(tool.name).valued);
  parser.middleware(async (parsed) => {
    const twice = await givenTwice(args, parsed, () => helpOf(words, tool));
    if (twice !== undefined) {
      const help = `${tool.name} ${words[0]} --help`;
      throw usage(`--${twice} is given more than once; it takes one value`, help);
    }
  });
  const [named] = words;
  for (const lazy of tool.commands) {
    const { command, describe } = lazy;
    const loaded = nameOf(lazy) === named ? (await lazy.load())(surroundings) : { handler: () => {} };
    parser.command({ command, describe, ...loaded } as CommandModule);
  }
  return parser;
}

/** Returns the help of a command, at its full width. */
async function helpOf(path: readonly string[], tool: Tool): Promise<string> {
  let text = '';
  const stdout = { write: (written: string) => (text += written) };
  const { signal } = new AbortController();
  await runCommandLine([...path, '--help'], { environment: {}, stdout, stderr: stdout, signal }, tool);
  return text;
}

/** Prints an error and returns the exit code. */
export function report(error: unknown, args: readonly string[], surroundings: Surroundings): number {
  const { stderr, signal, environment } = surroundings;
  // Ctrl-C cuts requests off: the user wanted that.
  if (signal.aborted && !(error instanceof CommandFailure)) return EXIT.ok;
  if (error instanceof CommandFailure) {
    const message = asTyped(error.message, environment);
    const next = error.next.map((step) => asTyped(step, environment));
    if (wantsJson(args)) {
      const told = { error: { message, exit_code: error.exitCode, next } };
      stderr.write(`${JSON.stringify(told)}\n`);
      return error.exitCode;
    }
    const width = widthOf(stderr);
    const lines = [...(message ? [message] : []), ...next.map((step) => `  → ${step}`)];
    for (const line of lines) stderr.write(`${visibleLines(foldProse(line, width))}\n`);
    return error.exitCode;
  }
  // An unexpected error: the stack helps most.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(`${visibleLines(text)}\n`);
  return EXIT.expectation;
}

/** Returns whether a line asks for a format of programs; it may be one that cannot be parsed. */
export function wantsJson(args: readonly string[]): boolean {
  return args.some((arg, index) => {
    const format = args[index - 1] === '--output' ? arg : /^--output=(.*)$/s.exec(arg)?.[1];
    return format === 'json' || format === 'ndjson';
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runAsProcess((surroundings) => runCommandLine(process.argv.slice(2), surroundings));
}
