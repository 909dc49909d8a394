import { isUuid } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import {
  type Arguments,
  auditOf,
  type Command,
  flag,
  type OperatorDeps,
  OperatorError,
  refuseTexts,
  text,
} from './arguments.ts';
import { showEvent } from './events.ts';
import { KEY_COMMANDS } from './keys.ts';
import { MAINTENANCE_COMMANDS } from './maintenance.ts';
import { REPLAY_COMMANDS } from './replays.ts';

export { type Arguments, type OperatorDeps, OperatorError } from './arguments.ts';

const PATH_CHARACTERS_MAX = 4096;

const COMMANDS = {
  'merchants-create': async ({ store, random, actor }, given) => {
    const merchantId = given.id === undefined ? random.uuid() : text(given, 'id');
    if (!isUuid(merchantId)) throw new OperatorError(`id: "${merchantId}" is not a UUID`);
    if (await store.merchants.get(merchantId))
      throw new OperatorError(`merchant ${merchantId} exists already`);
    const name = text(given, 'name');
    const senderAccountDetails = flag(given, 'senderAccountDetails') ?? false;
    return store.merchants.create({ merchantId, name, senderAccountDetails }, actor);
  },
  'merchants-list': ({ store }) => store.merchants.list(),
  'merchants-pause': (deps, given) => updated(deps, given, { state: 'paused' }),
  'merchants-resume': (deps, given) => updated(deps, given, { state: 'active' }),
  'merchants-set': (deps, given) => {
    const name = given.name === undefined ? undefined : text(given, 'name');
    const senderAccountDetails = flag(given, 'senderAccountDetails');
    if (name === undefined && senderAccountDetails === undefined) {
      throw new OperatorError('nothing to set: give --name or --sender-account-details');
    }
    return updated(deps, given, {
      ...(name === undefined ? {} : { name }),
      ...(senderAccountDetails === undefined ? {} : { senderAccountDetails }),
    });
  },
  ...KEY_COMMANDS,
  'events-show': showEvent,
  'store-backup': async (deps, given) => {
    const to = text(given, 'to', PATH_CHARACTERS_MAX);
    await auditOf(deps)('store.backup', { to });
    const { bytes } = await deps.store.backup(to).catch((error: Error) => {
      throw new OperatorError(error.message);
    });
    return { to, bytes };
  },
  ...MAINTENANCE_COMMANDS,
  ...REPLAY_COMMANDS,
} as const satisfies Record<string, Command>;

export type OperatorCommand = keyof typeof COMMANDS;
export const OPERATOR_COMMANDS = Object.keys(COMMANDS) as OperatorCommand[];

/** Runs one command on the store. Throws OperatorError when it cannot be carried out. */
export async function runOperatorCommand(
  deps: OperatorDeps,
  name: string,
  given: Arguments,
): Promise<unknown> {
  const command = OPERATOR_COMMANDS.find((candidate) => candidate === name);
  if (command === undefined)
    throw new OperatorError(`there is no command "${name}"; there are ${OPERATOR_COMMANDS.join(', ')}`);
  refuseTexts(given);
  return COMMANDS[command](deps, given);
}

async function updated(
  { store, actor }: OperatorDeps,
  given: Arguments,
  change: Parameters<Store['merchants']['update']>[1],
): Promise<unknown> {
  const merchantId = text(given, 'id');
  const merchant = await store.merchants.update(merchantId, change, actor);
  if (merchant === undefined)
    throw new OperatorError(`there is no merchant ${merchantId}: see merchants list`);
  return merchant;
}
