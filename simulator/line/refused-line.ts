import { corrected, typedLine, wordsOf } from '../../services/messages/invalid-line.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import type { Tool } from '../commands.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { vocabularyOf } from '../vocabulary.ts';
import { refusedOption } from './refused-option.ts';

/** Returns a command's failure with the advice that only the typed line gives: that line put right, or its help. */
export function inTypedLine(error: unknown, args: readonly string[], tool: Tool): unknown {
  if (!(error instanceof CommandFailure)) return error;
  const help = helpOf(args, tool);
  const failure = error instanceof ApiRefusal ? refusedOption(error, args, help) : error;
  const { exitCode, message, mistyped } = failure;
  const right = mistyped && corrected(args, mistyped.typed, mistyped.meant);
  const isPutRight = right?.some((arg, index) => arg !== args[index]);
  const last = isPutRight ? [typedLine(tool.name, right ?? []) ?? help] : (mistyped?.otherwise ?? []);
  const next = [...failure.next, ...last];
  return new CommandFailure(exitCode, message, next.length === 0 && exitCode === EXIT.usage ? [help] : next);
}

function helpOf(args: readonly string[], { name, commands }: Tool): string {
  const [first = '', second = ''] = wordsOf(args, vocabularyOf(name).valued);
  const isGroup = commands.some(({ command }) => command === `${first} <command>`);
  return [name, first, ...(isGroup ? [second] : []), '--help'].filter((word) => word !== '').join(' ');
}
