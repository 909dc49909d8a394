import { isEventType } from '../services/domain/event.ts';
import type { Vocabulary } from '../services/messages/invalid-line.ts';
import { GLOBAL_OPTIONS } from './session.ts';

/** Returns what a tool of the simulator's options knows of its lines. */
export function vocabularyOf(tool: string): Vocabulary {
  return { tool, valued: VALUED, elsewhere: ELSEWHERE, optionFor };
}

const VALUED: ReadonlySet<string> = new Set(
  Object.entries(GLOBAL_OPTIONS).flatMap(([name, option]) =>
    'type' in option && option.type === 'boolean' ? [] : [`--${name}`],
  ),
);

const ELSEWHERE: Readonly<Record<string, string>> = {
  listen: 'receiver --help',
  status: 'whoami',
  replay: 'deliveries replay --help',
  resend: 'deliveries resend --help',
  tail: 'deliveries tail',
};

function optionFor(word: string): string | undefined {
  return isEventType(word.split('/')[0] ?? '') ? 'event' : undefined;
}
