import type { Argument } from '../commands/arguments.ts';
import type { Command, Commands } from '../commands/command.ts';
import { SERVED } from '../commands/served.ts';
import { KEYRING_COMMANDS } from './keyring-commands.ts';
import { SIGNING_KEY_COMMANDS } from './signing-key-commands.ts';
import { STATUS_COMMANDS } from './status-command.ts';
import { STORE_COMMANDS } from './store-commands.ts';
import { COPY_COMMANDS } from './store-copy-command.ts';
import { CLUSTER_COMMANDS } from './topic-commands.ts';

/** All commands of the operator, by their names. */
export const COMMANDS: Commands = {
  ...STATUS_COMMANDS,
  ...SERVED,
  ...KEYRING_COMMANDS,
  ...SIGNING_KEY_COMMANDS,
  ...STORE_COMMANDS,
  ...COPY_COMMANDS,
  ...CLUSTER_COMMANDS,
};

/** The first words of commands, and what the commands that begin with each are about. */
export const GROUPS: Readonly<Record<string, string>> = {
  merchants: 'Merchants of this environment',
  keys: 'API keys',
  endpoints: 'Endpoints of all merchants',
  deliveries: 'Deliveries of all merchants',
  events: 'Events of the delivery log',
  portal: 'Links to the console, and its sessions',
  keyring: 'The key ring that seals signing secrets',
  'signing-keys': 'The platform’s own signing keys, of the signature v1a',
  store: 'Backups of merchants, keys, endpoints and the delivery log, and their move',
  audit: 'Changes, and who made them',
  entity: 'Users and corporates',
  quarantine: 'Events that could not be routed',
  'dead-letters': 'Deliveries that ended without a 2xx',
  streams: 'Records that retention deleted before they were read',
  replay: 'Replays: send missed events again',
};

/** Returns the commands that have a command line, by their first word. */
export function linesOf(commands: Commands): ReadonlyMap<string, Commands> {
  const lines = Object.entries(commands).filter(([, { hasNoLine }]) => !hasNoLine);
  const groups = new Map<string, Record<string, Command>>();
  for (const [name, command] of lines) {
    const word = name.split(' ', 1)[0] ?? '';
    groups.set(word, { ...groups.get(word), [name]: command });
  }
  return groups;
}

/** Returns an argument as it is typed: "<id>", "[positions..]", "--dry-run". */
export function typedAs(name: string, { type, positional, required }: Argument) {
  if (!positional) return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const word = type === 'texts' ? `${name}..` : name;
  return required ? `<${word}>` : `[${word}]`;
}
