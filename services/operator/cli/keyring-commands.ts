import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { addKey, createRing, fingerprint, readRing, removeKey } from '../../keys/keyring-file.ts';
import { newSigningKey } from '../../keys/signing-keys.ts';
import { plain, WIDTH } from '../../messages/text-layout.ts';
import { systemClock } from '../../process/clock.ts';
import type { Arguments } from '../commands/arguments.ts';
import { on, type ToolMeans } from '../commands/command.ts';
import { OperatorError } from '../commands/operator-error.ts';
import { hasStore } from './ask.ts';

/** The key ring's file, which the tool changes itself. */

/** The number of secrets, stored responses and whole records that each key seals, from the store. */
type Usage = readonly {
  readonly keyId: string;
  readonly endpoints: number;
  readonly answers: number;
  readonly records: number;
}[];

export const RING = {
  ring: { type: 'path', describe: 'The file (HOOKRAIL_KEYRING)' },
} as const satisfies Arguments;
export const FILE_RUNS = 'here, on the file';

export const KEYRING_COMMANDS = {
  'keyring create': on('tool', {
    describe: 'Create a key ring, with a signing key of this environment; never overwrites a file',
    args: { out: { type: 'path', describe: 'File to write; default: HOOKRAIL_KEYRING' } },
    runs: FILE_RUNS,
    run: async (means, { out }) => {
      const file = out ?? means.config().keyRingFile;
      // The place that the settings name is made; one that was typed may be mistyped.
      if (out === undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      create(file, means.config().environment);
      await noteChange(means, 'create', file, readRing(file).active);
      return { created: file, note: 'keep a copy; without it no signing secret can be read' };
    },
    text: ({ created, note: says }) => plain.fold(`created ${created}: ${says}`, WIDTH),
  }),
  'keyring add': on('tool', {
    describe: 'Add a key and make it the active one; the others still open secrets',
    args: RING,
    runs: FILE_RUNS,
    run: async (means, given) => {
      const file = fileOf(means, given);
      const added = addKey(file);
      await noteChange(means, 'add', file, added);
      return {
        added,
        keyRing: file,
        next: `copy ${file} to every process, senders first; then: hookrail operator keyring rewrap`,
      };
    },
  }),
  'keyring list': on('tool', {
    describe: 'List the keys and how much each seals',
    isRead: true,
    args: RING,
    columns: ['id', 'active', 'fingerprint', 'endpoints', 'answers', 'records', 'missing'],
    runs: FILE_RUNS,
    run: async (means, given) => keysOf(fileOf(means, given), await usageOf(means)),
  }),
  'keyring remove': on('tool', {
    describe: 'Remove a key that no longer seals anything',
    args: { ...RING, id: { type: 'text', required: true, describe: 'The key' } },
    runs: FILE_RUNS,
    run: async (means, { id, ...given }) => {
      const file = fileOf(means, given);
      refuseUsed(id, await usageOf(means));
      await noteChange(means, 'remove', file, id);
      removeKey(file, id);
      return {
        removed: id,
        keyRing: file,
        note: 'a backup of the store made before the rewrap still needs it: keep a copy with that backup',
      };
    },
  }),
};

export function fileOf(means: ToolMeans, { ring }: { readonly ring: string | undefined }): string {
  return ring ?? means.config().keyRingFile;
}

/** Null without a store: beside a router or sender, or on an administrator's machine. */
async function usageOf(means: ToolMeans): Promise<Usage | null> {
  return (await hasStore(means.config())) ? ((await means.ask('keyring usage')) as Usage) : null;
}

/** Records a change of the file in the audit, where there is a store. */
export async function noteChange(
  means: ToolMeans,
  change: string,
  keyRing: string,
  key: string,
): Promise<void> {
  if (await hasStore(means.config())) await means.ask('keyring note', { change, keyRing, key });
}

function create(path: string, environment: string): void {
  try {
    createRing(path, [newSigningKey(environment, Math.floor(systemClock().wall()))]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new OperatorError(`${path} exists and is not overwritten: secrets may need it`);
    throw new OperatorError(`${path} cannot be written (${code})`);
  }
}

/**
 * Lists the keys by their fingerprints: equal fingerprints mean equal keys. Missing keys that are needed come last.
 */
function keysOf(file: string, usage: Usage | null) {
  const { active, keys } = readRing(file);
  const line = (id: string, print: string | null) => {
    const used = usage?.find(({ keyId }) => keyId === id);
    return {
      id,
      active: id === active,
      fingerprint: print,
      endpoints: usage && (used?.endpoints ?? 0),
      answers: usage && (used?.answers ?? 0),
      records: usage && (used?.records ?? 0),
    };
  };
  const missing = (usage ?? []).filter(({ keyId }) => !keys.has(keyId));
  return [
    ...[...keys].map(([id, key]) => ({ ...line(id, fingerprint(key)), missing: false })),
    ...missing.map(({ keyId }) => ({ ...line(keyId, null), missing: true })),
  ];
}

function refuseUsed(id: string, usage: Usage | null): void {
  if (usage === null) {
    throw new OperatorError(
      'cannot tell what the key seals: run this where the api runs, or with its HOOKRAIL_DATA_DIR',
    );
  }
  const used = usage.find(({ keyId }) => keyId === id);
  if (used === undefined) return;
  throw new OperatorError(
    `key "${id}" seals the secrets of ${used.endpoints} endpoints, ${used.answers} stored answers and ${used.records} records: ` +
      'hookrail operator keyring rewrap, then try again',
  );
}
