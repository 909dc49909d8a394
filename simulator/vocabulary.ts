import { isEventType } from '../services/domain/event.ts';
import type { Vocabulary } from '../services/messages/invalid-line.ts';
import type { MeantLines, WordRules } from '../services/messages/meant-lines.ts';
import { GLOBAL_OPTIONS } from './session.ts';

/** Returns what a tool of the simulator's options knows of its lines. */
export function vocabularyOf(tool: string): Vocabulary {
  return { tool, valued: VALUED, meant: tool === 'hookrail sim' ? MEANT : {}, rules: RULES };
}

const VALUED: ReadonlySet<string> = new Set(
  Object.entries(GLOBAL_OPTIONS).flatMap(([name, option]) =>
    'type' in option && option.type === 'boolean' ? [] : [`--${name}`],
  ),
);

/**
 * A row may name a command that sends or changes something only where the typed words ask for that: what only looks like
 * its name is no reason.
 */
export const MEANT: MeantLines = {
  version: 'hookrail --version',
  '--version': 'hookrail --version',
  start: 'hookrail start',
  stop: '--help',
  status: 'whoami',
  login: 'whoami',
  me: 'whoami',
  list: 'endpoints list',
  ls: 'endpoints list',
  log: 'deliveries list',
  logs: 'deliveries list',
  history: 'deliveries list',
  attempts: 'deliveries list',
  webhooks: 'deliveries list',
  tail: 'deliveries tail',
  watch: 'deliveries tail',
  follow: 'deliveries tail',
  types: 'catalog',
  'get <endpoint>': 'endpoints get <endpoint>',
  'create <url>': 'endpoints create --url <url>',
  'delete <endpoint>': 'endpoints delete <endpoint>',
  'remove <endpoint>': 'endpoints delete <endpoint>',
  'rm <endpoint>': 'endpoints delete <endpoint>',
  'update <endpoint>': 'endpoints update <endpoint>',
  'rotate <endpoint>': 'endpoints rotate <endpoint>',
  'enable <endpoint>': 'endpoints enable <endpoint>',
  'disable <endpoint>': 'endpoints disable <endpoint>',
  'test <endpoint>': 'endpoints test <endpoint>',
  'resend <delivery>': 'deliveries resend <delivery>',
  'retry <delivery>': 'deliveries resend <delivery>',
  resend: 'deliveries resend --help',
  retry: 'deliveries resend --help',
  'forward <address>': 'listen --forward-to <address>',
  'forward --to <address>': 'listen --forward-to <address>',
  'proxy <address>': 'listen --forward-to <address>',
  'listen <address>': 'listen --forward-to <address>',
  'listen --port <address>': 'listen --forward-to <address>',
  'listen --to <address>': 'listen --forward-to <address>',
  'listen --url <address>': 'listen --forward-to <address>',
  'receiver <port>': 'receiver --port <port>',
  'trigger <type> <subType>': 'trigger <type>/<subType>',
  'catalog <type> <subType>': 'catalog <type>/<subType>',
  'endpoints test <endpoint> <event>': 'endpoints test <endpoint> --event <event>',
  'endpoints logs <endpoint>': 'deliveries list --endpoint <endpoint>',
  'endpoints deliveries <endpoint>': 'deliveries list --endpoint <endpoint>',
  'endpoints status <endpoint>': 'endpoints get <endpoint>',
  'endpoints status': 'endpoints list',
  'endpoints missed': 'missed',
  'endpoints update <endpoint> --enabled <no>': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --active <no>': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --disabled <no>': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --enabled <yes>': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --active <yes>': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --disabled <yes>': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --status <off>': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --status <on>': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --no-enabled': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --no-active': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --disable': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --disabled': 'endpoints disable <endpoint>',
  'endpoints update <endpoint> --enable': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --enabled': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --active': 'endpoints enable <endpoint>',
  'endpoints update <endpoint> --rotate': 'endpoints rotate <endpoint>',
  'endpoints update <endpoint> --rotate-secret': 'endpoints rotate <endpoint>',
  'events list --event <type>': 'events list --type <type>',
  'deliveries list --event <type>': 'deliveries list --type <type>',
  'clock next-retry': 'clock advance next-retry',
  'clock forward <duration>': 'clock advance <duration>',
  'clock add <duration>': 'clock advance <duration>',
  'clock <duration>': 'clock advance <duration>',
  'scenarios run <scenario>': 'run <scenario>',
  'scenarios play <scenario>': 'run <scenario>',
};

const oneOf =
  (...words: readonly string[]) =>
  (word: string) =>
    words.includes(word.toLowerCase());

export const RULES: WordRules = {
  '<address>': (word) => /^\d+$|[.:/]|^localhost$/.test(word),
  '<duration>': (word) => /^\d/.test(word),
  '<event>': (word) => isEventType(word.split('/')[0] ?? ''),
  '<no>': oneOf('false', 'no', '0', 'off'),
  '<off>': oneOf('disabled', 'inactive', 'off', 'disable', 'paused'),
  '<on>': oneOf('active', 'enabled', 'on', 'enable'),
  '<port>': (word) => /^\d+$/.test(word),
  '<subType>': (word) => /^[A-Za-z_]+$/.test(word),
  '<type>': (word) => isEventType(word),
  '<yes>': oneOf('true', 'yes', '1', 'on'),
};
