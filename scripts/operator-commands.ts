import { GROUPS, linesOf, typedAs } from '../services/operator/cli/table.ts';
import type { Argument } from '../services/operator/commands/arguments.ts';
import type { Command, Commands } from '../services/operator/commands/command.ts';

const RUNS = {
  store: 'service, else store',
  broker: 'service, else broker',
} as const;

/** Returns the tables of docs/operate/commands.md: every command that is typed, below the heading of its group. */
export function operatorCommandsTables(commands: Commands): string {
  const groups = [...linesOf(commands)];
  const single = groups.filter(([word]) => commands[word]).map(([, below]) => below);
  const sections = groups
    .filter(([word]) => !commands[word])
    .map(([word, below]) => `### ${word}\n\n${GROUPS[word] ?? ''}.\n\n${table(below)}`);
  return [table(Object.assign({}, ...single)), ...sections].join('\n\n');
}

function table(commands: Commands): string {
  const rows = Object.entries(commands).map(([name, command]) => {
    const cells = [`\`${lineOf(name, command)}\``, command.describe, argumentsOf(command), runsOf(command)];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| command | what it does | arguments | runs |', '|---|---|---|---|', ...rows].join('\n');
}

/** The command with what it needs: "merchants create --name". */
function lineOf(name: string, { args = {} }: Command): string {
  const needed = Object.entries(args).filter(([, { positional, required }]) => positional || required);
  return [name, ...needed.map(([each, argument]) => typedAs(each, argument))].join(' ');
}

function argumentsOf({ args = {} }: Command): string {
  return Object.entries(args)
    .map(([name, argument]) => `\`${typedAs(name, argument)}\`: ${meaningOf(argument)}`)
    .join('<br>');
}

function meaningOf({ describe = '', choices, default: fallback, least = 1, most, type }: Argument): string {
  return [
    describe,
    ...(choices ? [`one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`] : []),
    ...(type === 'number' && most !== undefined ? [`${least} to ${most}`] : []),
    ...(fallback === undefined ? [] : [`default \`${fallback}\``]),
  ].join('; ');
}

function runsOf(command: Command): string {
  return command.on === 'store' || command.on === 'broker' ? RUNS[command.on] : (command.runs ?? '');
}
