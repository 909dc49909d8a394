import { FORMER_MS_MIN, LEAD_HOURS_DEFAULT, statesAt } from '../../keys/key-schedule.ts';
import { changeSigningKeys, readRing } from '../../keys/keyring-file.ts';
import { newSigningKey, type SigningKey, shownKeys } from '../../keys/signing-keys.ts';
import { systemClock } from '../../process/clock.ts';
import type { Arguments } from '../commands/arguments.ts';
import { on, type ToolMeans } from '../commands/command.ts';
import { OperatorError } from '../commands/operator-error.ts';
import { FILE_RUNS, fileOf, noteChange, RING } from './keyring-commands.ts';

/** The platform's signing keys, in the key ring's file: the tool changes them itself. Each change is of one environment. */

const HOUR_MS = 3_600_000;
const HOURS_MAX = 24 * 365;

const ROTATE = {
  ...RING,
  inHours: {
    type: 'number',
    least: 0,
    most: HOURS_MAX,
    default: LEAD_HOURS_DEFAULT,
    describe: 'Hours until it signs; 0: at once, for a key that was stolen',
  },
} as const satisfies Arguments;

const RETIRE = {
  ...RING,
  kid: { type: 'text', required: true, describe: 'The key, as signing-keys list names it' },
  stolen: {
    type: 'flag',
    describe: 'Also when it signed until a moment ago: none of its signatures is trusted any more',
  },
} as const satisfies Arguments;

export const SIGNING_KEY_COMMANDS = {
  'signing-keys create': on('tool', {
    describe: 'Make the first signing key of this environment, where the ring has none; it signs at once',
    args: RING,
    runs: FILE_RUNS,
    run: (means, given) => {
      const key = newSigningKey(means.config().environment, now());
      return added(means, fileOf(means, given), key, 'create');
    },
  }),
  'signing-keys list': on('tool', {
    describe: 'List the signing keys of this environment, and which one signs',
    isRead: true,
    args: RING,
    columns: ['kid', 'state', 'signsFrom', 'signsUntil'],
    runs: FILE_RUNS,
    run: async (means, given) => {
      const { signing } = readRing(fileOf(means, given));
      return shownKeys(signing, means.config().environment, now());
    },
  }),
  'signing-keys rotate': on('tool', {
    describe: 'Make the next signing key: it is published now, and signs later',
    args: ROTATE,
    runs: FILE_RUNS,
    run: (means, { inHours, ...given }) => {
      const key = newSigningKey(means.config().environment, now() + inHours * HOUR_MS);
      return added(means, fileOf(means, given), key, 'rotate');
    },
  }),
  'signing-keys retire': on('tool', {
    describe: 'Remove a signing key that no longer signs, or does not sign yet',
    args: RETIRE,
    runs: FILE_RUNS,
    run: async (means, { kid, stolen = false, ...given }) => {
      const file = fileOf(means, given);
      const { environment } = means.config();
      const without = (keys: readonly SigningKey[]) => {
        refuseNeeded(keys, { environment, kid, stolen });
        return keys.filter((key) => key.kid !== kid);
      };
      without(readRing(file).signing);
      await noteChange(means, 'retire_signing_key', file, kid);
      changeSigningKeys(file, without);
      return { retired: kid, keyRing: file, next: `copy ${file} to every process` };
    },
  }),
};

const now = () => Math.floor(systemClock().wall());

/** Adds a key to the file, where the keys that are there allow it. */
async function added(means: ToolMeans, file: string, key: SigningKey, how: 'create' | 'rotate') {
  const withIt = (keys: readonly SigningKey[]) => {
    refuseUnfit(keys, key.environment, how);
    return [...keys, key];
  };
  withIt(readRing(file).signing);
  await noteChange(means, `${how}_signing_key`, file, key.kid);
  changeSigningKeys(file, withIt);
  const signsFrom = new Date(key.signsFrom).toISOString();
  const next =
    how === 'create'
      ? `copy ${file} to every process, senders first; then merchants may ask for the signature v1a`
      : `copy ${file} to every process before ${signsFrom}; retire the former key later: hookrail operator signing-keys list`;
  return { created: key.kid, environment: key.environment, signsFrom, keyRing: file, next };
}

/** The first key is created, and each later one takes the place of one that signs: one after the other. */
function refuseUnfit(keys: readonly SigningKey[], environment: string, how: 'create' | 'rotate'): void {
  const states = statesAt(keys, environment, now());
  if (how === 'create' && states.length > 0)
    throw new OperatorError(
      `the ${environment} has a signing key: rotate it (hookrail operator signing-keys rotate)`,
    );
  if (how === 'rotate' && states.length === 0)
    throw new OperatorError(
      `the ${environment} has no signing key: create one (hookrail operator signing-keys create)`,
    );
  const next = states.find(({ state }) => state === 'next');
  if (next === undefined) return;
  throw new OperatorError(
    `signing key "${next.key.kid}" is the next one already, from ${new Date(next.key.signsFrom).toISOString()}; ` +
      `to have another one sooner, retire it first: hookrail operator signing-keys retire --kid ${next.key.kid}`,
  );
}

function refuseNeeded(
  keys: readonly SigningKey[],
  { environment, kid, stolen }: { environment: string; kid: string; stolen: boolean },
): void {
  const states = statesAt(keys, environment, now());
  const found = states.find(({ key }) => key.kid === kid);
  if (!found)
    throw new OperatorError(
      `the ${environment} has no signing key "${kid}": it has ${states.map(({ key }) => key.kid).join(', ') || 'none'}`,
    );
  if (found.state === 'signing')
    throw new OperatorError(
      `signing key "${kid}" is the one that signs: let another one sign first (hookrail operator signing-keys rotate)`,
    );
  const keptUntil = (found.signsUntil ?? 0) + FORMER_MS_MIN;
  if (found.state === 'next' || stolen || now() >= keptUntil) return;
  throw new OperatorError(
    `signing key "${kid}" signed until recently, and receivers still verify with it until ` +
      `${new Date(keptUntil).toISOString()}; if it was stolen, add --stolen`,
  );
}
