import { meantName } from './did-you-mean.ts';
import { type Meant, type MeantLines, meantLine, type WordRules } from './meant-lines.ts';

/** A command line that the parser refused, in the parser's words. */
export class InvalidLine extends Error {
  override readonly name = 'InvalidLine';
}

/** The fault of a line, and the command that helps. */
interface Explanation {
  readonly message: string;
  readonly next: readonly string[];
}

/** The names that a tool knows in its own lines. */
export interface Vocabulary {
  /** The tool as a user types it. */
  readonly tool: string;
  /** The options of every command that are followed by a value: `--data-dir`. */
  readonly valued: ReadonlySet<string>;
  /** Lines that people type, and the lines that do what they mean. */
  readonly meant: MeantLines;
  readonly rules?: WordRules;
}

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

/** Options whose values are never printed. */
const SECRET = /^--(api-key|producer-key|secret)(=|$)/;

/**
 * Explains an invalid command line: what is wrong, and the command that helps, which is the same line put
 * right where that is known. `helpOf` returns the help of a command, from which the names that exist are read.
 */
export async function explainLine(
  invalid: InvalidLine,
  args: readonly string[],
  helpOf: (path: readonly string[]) => Promise<string>,
  vocabulary: Vocabulary,
): Promise<Explanation> {
  const path: string[] = [];
  const meant = meantLine(args, vocabulary.meant, vocabulary.rules ?? {});
  let help = await helpOf(path);
  for (const word of wordsOf(args, vocabulary.valued)) {
    const names = commandsIn(help);
    if (names.length === 0) break;
    const name = aliasesIn(help).get(word) ?? word;
    if (!names.includes(name)) return unknownCommand(word, names, { path, help, args, vocabulary, meant });
    path.push(name);
    help = await helpOf(path);
  }
  return explainIn(invalid, { path, help, args, vocabulary, meant });
}

/** Explains a line whose command is known. */
function explainIn(invalid: InvalidLine, found: Found): Explanation {
  const { path, help } = found;
  const names = commandsIn(help);
  const command = path.join(' ');
  if (names.length > 0) {
    const [option] = found.meant?.options ?? [];
    if (option) return meantInstead(`${command || nameOf(found)} has no option ${option}`, found);
    const where = path.length === 0 ? 'name a command' : `name a command of ${command}`;
    return explained(`${where}: ${names.join(', ')}`, helpCommand(found));
  }
  const unknown = /^Unknown arguments?: (.*)$/s.exec(invalid.message)?.[1]?.split(', ') ?? [];
  const [name] = unknown;
  if (name !== undefined) return unknownArgument(name, found);
  const choice = choiceIn(invalid.message);
  if (choice) return unknownChoice(choice, found);
  const missing = /^Missing required arguments?: (.*)$/s.exec(invalid.message)?.[1];
  if (missing !== undefined) {
    const options = missing.split(', ').map((option) => `--${option}`);
    return explained(`${command} needs ${options.join(', ')}`, helpCommand(found));
  }
  if (invalid.message.startsWith('Not enough non-option arguments')) {
    const words = (help.split('\n', 1)[0] ?? '').split(' ').filter((word) => word.startsWith('<'));
    const positionals = words.length > 0 ? words.join(' ') : 'more words';
    return explained(`${command} needs ${positionals}`, helpCommand(found));
  }
  return explained(invalid.message.replace(/\s+/g, ' '), helpCommand(found));
}

/** Returns the words of a line that are neither options nor, before the command, the values of options. */
export function wordsOf(args: readonly string[], valued: ReadonlySet<string>): readonly string[] {
  const hasValue = (arg: string | undefined) => valued.has(arg ?? '');
  return args.filter((arg, index) => !arg.startsWith('-') && !hasValue(args[index - 1]));
}

interface Found {
  readonly path: readonly string[];
  readonly help: string;
  readonly args: readonly string[];
  readonly vocabulary: Vocabulary;
  readonly meant: Meant | undefined;
}

function nameOf({ vocabulary }: Found): string {
  return vocabulary.tool.split(' ').at(-1) ?? '';
}

/** Explains a line that has a row in the table of the tool. */
function meantInstead(fault: string, found: Found): Explanation {
  const { says, args } = found.meant as Meant;
  if (says === '--help') return explained(fault, helpCommand(found));
  return explained(`${fault}; did you mean ${says.replace(' --help', '')}?`, lineOf(args, found));
}

function explained(message: string, ...next: readonly string[]): Explanation {
  return { message, next };
}

function unknownCommand(word: string, names: readonly string[], found: Found): Explanation {
  const { path, args } = found;
  const message = `${path.join(' ') || nameOf(found)} has no command "${word}"`;
  if (found.meant) return meantInstead(message, found);
  const meant = RENAMED[word]?.find((name) => names.includes(name)) ?? meantName(word, names);
  if (meant === undefined) return explained(`${message}; it has ${names.join(', ')}`, helpCommand(found));
  const right = args.with(args.indexOf(word), meant);
  return explained(`${message}; did you mean ${meant}?`, lineOf(right, { ...found, path: [...path, meant] }));
}

function unknownArgument(name: string, found: Found): Explanation {
  const { path, help, args } = found;
  const command = path.join(' ');
  const index = args.findIndex((arg) => isOption(arg, name));
  if (index === -1) return extraWord(name, found);
  const message = `${command} has no option --${name}`;
  if (found.meant?.options.some((option) => isOption(option, name))) return meantInstead(message, found);
  const meant = meantName(name, optionsIn(help));
  if (meant === undefined) return explained(message, helpCommand(found));
  const right = args.with(index, (args[index] ?? '').replace(name, meant).replace(/^-(?=[^-])/, '--'));
  return explained(`${message}; did you mean --${meant}?`, lineOf(right, found));
}

function extraWord(word: string, found: Found): Explanation {
  const { path, args, meant } = found;
  const command = path.join(' ');
  const [name] = [...(meant?.named ?? [])].find(([, value]) => value === word) ?? [];
  if (meant === undefined || name === undefined)
    return explained(`"${word}" is one word too many for ${command}`, helpCommand(found));
  const option = meant.args[meant.args.indexOf(word) - 1];
  if (!option?.startsWith('--') || !meant.says.startsWith(`${command} `))
    return meantInstead(`"${word}" is one word too many for ${command}`, found);
  const right = args.flatMap((arg) => (arg === word ? [option, arg] : [arg]));
  return explained(`${command} takes the ${name.slice(1, -1)} as ${option} ${word}`, lineOf(right, found));
}

interface Choice {
  readonly option: string;
  readonly given: string;
  readonly list: string;
}

/** Reads `Argument: OPTION, Given: "VALUE", Choices: LIST`. */
function choiceIn(message: string): Choice | undefined {
  const parts = message.split('Argument: ')[1]?.split(', Given: "');
  const [option, ...rest] = parts ?? [];
  const [given, ...lists] = rest.join(', Given: "').split('", Choices: ');
  if (option === undefined || given === undefined || lists.length === 0) return undefined;
  return { option, given, list: lists.join('", Choices: ') };
}

function unknownChoice({ option, given, list }: Choice, found: Found): Explanation {
  const { args } = found;
  const known = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const message = `--${option} "${given}" is not one of ${known.join(', ')}`;
  const meant = meantName(given, known);
  if (meant === undefined) return explained(message, helpCommand(found));
  return explained(`${message}; did you mean ${meant}?`, lineOf(corrected(args, given, meant), found));
}

/** Returns a line with a value put right, wherever it stands: alone, after an `=`, between commas. */
export function corrected(args: readonly string[], typed: string, meant: string): readonly string[] {
  return args.map((arg) => {
    if (arg === typed) return meant;
    const [, name = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(arg) ?? [];
    const parts = value.split(',');
    const right = value === typed ? meant : parts.map((part) => (part === typed ? meant : part)).join(',');
    return name + right;
  });
}

/** Returns a line to type. One that has a secret is not printed: logs and histories keep it. */
function lineOf(args: readonly string[], found: Found): string {
  return typedLine(found.vocabulary.tool, args) ?? helpCommand(found);
}

/** The same; undefined for a line that has a secret. */
export function typedLine(tool: string, args: readonly string[]): string | undefined {
  if (args.some((arg) => SECRET.test(arg))) return undefined;
  return [...(args[0] === 'hookrail' ? [] : [tool]), ...args.map(quoted)].join(' ');
}

function helpCommand({ path, vocabulary }: Found): string {
  return [vocabulary.tool, ...path, '--help'].join(' ');
}

/** Quotes a word for a shell where it needs it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Whether an argument is `--name`, `-name` or `--no-name`, with or without a value. */
function isOption(arg: string, name: string): boolean {
  if (!arg.startsWith('-')) return false;
  const given = arg.slice(arg.startsWith('--') ? 2 : 1).split('=', 1)[0];
  return given === name || given === `no-${name}`;
}

/** Reads the names of commands from a help: the last word of each line below "Commands:". */
function commandsIn(help: string): readonly string[] {
  const [, list = ''] = /^Commands:\n((?: .*\n?)+)/m.exec(help) ?? [];
  return list.split('\n').flatMap((line) => {
    if (!/^ {2}\S/.test(line)) return [];
    const usageText = line.slice(2).split('  ', 1)[0] ?? '';
    const name = usageText.split(/ [<[]/, 1)[0]?.split(' ').at(-1);
    // A long usage goes on in the next line, with its arguments.
    return name === undefined || /^[<[]/.test(name) ? [] : [name];
  });
}

/** Reads the other names of commands from a help; each ends the entry of its command. */
function aliasesIn(help: string): ReadonlyMap<string, string> {
  const [, list = ''] = /^Commands:\n((?: .*\n?)+)/m.exec(help) ?? [];
  const entries = list.split(/^(?= {2}\S)/m).flatMap((entry) => {
    const aliases = entry.split('[aliases: ')[1]?.split(']', 1)[0]?.split(/,\s*/) ?? [];
    const [name = ''] = commandsIn(`Commands:\n${entry}`);
    return aliases.map((alias) => [alias, name] as const);
  });
  return new Map(entries);
}

/** Returns the options of a help text. A wrapped description may begin a line with an option too, farther to the right. */
function optionsIn(help: string): readonly string[] {
  return [...help.matchAll(/^(?: {2}| {6}| {2}-\w, )--([a-z][a-z0-9-]*)/gm)].map(([, name = '']) => name);
}
