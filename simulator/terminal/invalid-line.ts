import { isEventType } from '../../services/domain/event.ts';
import { didYouMean, nearestNames } from '../../services/messages/did-you-mean.ts';
import { type CommandFailure, usage } from '../exit.ts';
import { GLOBAL_OPTIONS } from '../session.ts';

/** A command line that the parser refused, in the parser's words. */
export class InvalidLine extends Error {
  override readonly name = 'InvalidLine';
}

const SIM = 'npm run sim --';

/** Words of other tools for a command of the same group. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  add: ['create'],
  ls: ['list'],
  new: ['create'],
  play: ['run'],
  remove: ['delete'],
  rm: ['delete'],
  send: ['trigger'],
  show: ['get'],
};

/** Words for what another command does, with other options: the line that helps. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  doctor: 'whoami',
  listen: 'receiver --help',
  status: 'whoami',
  'events list': 'deliveries list',
  'events ls': 'deliveries list',
};

/** The options of every command that are followed by a value. */
const VALUED: ReadonlySet<string> = new Set(
  Object.entries(GLOBAL_OPTIONS).flatMap(([name, option]) =>
    'type' in option && option.type === 'boolean' ? [] : [`--${name}`],
  ),
);

/** Options whose values are never printed. */
const SECRET = /^--(api-key|producer-key|secret)(=|$)/;

/**
 * Returns the failure of an invalid command line: what is wrong, and the command that helps, which is the same line put
 * right where that is known. `helpOf` returns the help of a command, from which the names that exist are read.
 */
export async function explainLine(
  invalid: InvalidLine,
  args: readonly string[],
  helpOf: (path: readonly string[]) => Promise<string>,
): Promise<CommandFailure> {
  const path: string[] = [];
  let help = await helpOf(path);
  for (const word of wordsOf(args)) {
    const names = commandsIn(help);
    if (names.length === 0) break;
    if (!names.includes(word)) return unknownCommand(path, word, names, args);
    path.push(word);
    help = await helpOf(path);
  }
  const names = commandsIn(help);
  const command = path.join(' ');
  if (names.length > 0) {
    const where = path.length === 0 ? 'name a command' : `name a command of ${command}`;
    return usage(`${where}: ${names.join(', ')}`, helpCommand(path));
  }
  const unknown = /^Unknown arguments?: (.*)$/s.exec(invalid.message)?.[1]?.split(', ') ?? [];
  const [name] = unknown;
  if (name !== undefined) return unknownArgument(name, { path, help, args });
  const choice = /Argument: ([\w-]+), Given: "(.*?)", Choices: (.*)/s.exec(invalid.message);
  if (choice) return unknownChoice(choice, { path, help, args });
  const missing = /^Missing required arguments?: (.*)$/s.exec(invalid.message)?.[1];
  if (missing !== undefined) {
    const options = missing.split(', ').map((option) => `--${option}`);
    return usage(`${command} needs ${options.join(', ')}`, helpCommand(path));
  }
  if (invalid.message.startsWith('Not enough non-option arguments')) {
    const positionals =
      help
        .split('\n', 1)[0]
        ?.match(/<[^>]+>/g)
        ?.join(' ') ?? 'more words';
    return usage(`${command} needs ${positionals}`, helpCommand(path));
  }
  return usage(invalid.message.replace(/\s+/g, ' '), helpCommand(path));
}

/** Returns the words of a line that are neither options nor, before the command, the values of options. */
function wordsOf(args: readonly string[]): readonly string[] {
  const hasValue = (arg: string | undefined) => VALUED.has(arg ?? '');
  return args.filter((arg, index) => !arg.startsWith('-') && !hasValue(args[index - 1]));
}

interface Found {
  readonly path: readonly string[];
  readonly help: string;
  readonly args: readonly string[];
}

function unknownCommand(
  path: readonly string[],
  word: string,
  names: readonly string[],
  args: readonly string[],
): CommandFailure {
  const command = path.join(' ');
  const message = `${command || 'sim'} has no command "${word}"`;
  const elsewhere = ELSEWHERE[[...path, word].join(' ')];
  if (elsewhere !== undefined) {
    return usage(`${message}; did you mean ${elsewhere.replace(' --help', '')}?`, `${SIM} ${elsewhere}`);
  }
  const near = RENAMED[word]?.find((name) => names.includes(name)) ?? nearestNames(word, names, 1)[0];
  if (near === undefined) return usage(`${message}; it has ${names.join(', ')}`, helpCommand(path));
  const right = args.with(args.indexOf(word), near);
  return usage(`${message}; did you mean ${near}?`, lineOf(right, [...path, near].join(' ')));
}

function unknownArgument(name: string, { path, help, args }: Found): CommandFailure {
  const command = path.join(' ');
  const index = args.findIndex((arg) => new RegExp(`^--?(no-)?${escaped(name)}(=|$)`).test(arg));
  if (index === -1) return extraWord(name, { path, help, args });
  const [near] = nearestNames(name, optionsIn(help), 1);
  const message = `${command} has no option --${name}${near === undefined ? '' : `; did you mean --${near}?`}`;
  if (near === undefined) return usage(message, helpCommand(path));
  const right = args.with(index, (args[index] ?? '').replace(name, near).replace(/^-(?=[^-])/, '--'));
  return usage(message, lineOf(right, command));
}

function extraWord(word: string, { path, help, args }: Found): CommandFailure {
  const command = path.join(' ');
  const isEvent = isEventType(word.split('/')[0] ?? '') && optionsIn(help).includes('event');
  if (!isEvent) return usage(`"${word}" is one word too many for ${command}`, helpCommand(path));
  const right = args.flatMap((arg) => (arg === word ? ['--event', arg] : [arg]));
  return usage(`${command} takes the event as --event ${word}`, lineOf(right, command));
}

function unknownChoice(choice: RegExpExecArray, { path, args }: Found): CommandFailure {
  const [, option = '', given = '', list = ''] = choice;
  const known = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const message = `--${option} "${given}" is not one of ${known.join(', ')}${didYouMean(given, known, 1)}`;
  const [near] = nearestNames(given, known, 1);
  if (near === undefined) return usage(message, helpCommand(path));
  const right = args.map((arg) =>
    arg === given || arg === `--${option}=${given}` ? arg.replace(given, near) : arg,
  );
  return usage(message, lineOf(right, path.join(' ')));
}

/** Returns a line to type. One that has a secret is not printed: logs and histories keep it. */
function lineOf(args: readonly string[], command: string): string {
  if (args.some((arg) => SECRET.test(arg))) return helpCommand([command]);
  return `${SIM} ${args.map(quoted).join(' ')}`;
}

function helpCommand(path: readonly string[]): string {
  return [SIM, ...path, '--help'].join(' ');
}

/** Quotes a word for a shell where it needs it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Reads the names of commands from a help: the last word of each line below "Commands:". */
function commandsIn(help: string): readonly string[] {
  const [, list = ''] = /^Commands:\n((?: .*\n?)+)/m.exec(help) ?? [];
  return list.split('\n').flatMap((line) => {
    const [, usageText] = /^ {2}(\S.*?)(?: {2}.*)?$/.exec(line) ?? [];
    const name = usageText
      ?.replace(/ [<[].*$/, '')
      .split(' ')
      .at(-1);
    return name === undefined ? [] : [name];
  });
}

function optionsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ {2,}(?:-\w, )?--([a-z][a-z0-9-]*)/gm)].map(([, name = '']) => name);
}
