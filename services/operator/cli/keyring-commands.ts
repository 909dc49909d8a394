import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Argv } from 'yargs';
import { addKey, createRing, fingerprint, readRing, removeKey } from '../../keys/keyring-file.ts';
import { OperatorError } from '../commands/arguments.ts';
import type { Execute, GlobalOptions } from './execute.ts';

/** The number of secrets, stored responses and whole records that each key seals, from the store. */
type Usage = readonly {
  readonly keyId: string;
  readonly endpoints: number;
  readonly answers: number;
  readonly records: number;
}[];

export interface KeyRingChange {
  readonly change: 'create' | 'add' | 'remove';
  readonly keyRing: string;
  readonly key: string;
}

export interface KeyRingMeans {
  readonly execute: Execute;
  /** Null without a store: beside a router or sender, or on an administrator's machine. */
  readonly usage: (options: GlobalOptions) => Promise<Usage | null>;
  /** The configured file, used when none is given. */
  readonly ringFile: (options: GlobalOptions) => string;
  /** Records a change of the file in the audit, where there is a store. */
  readonly note: (options: GlobalOptions, change: KeyRingChange) => Promise<void>;
  readonly show: (options: GlobalOptions, result: unknown) => void;
}

const RING = { ring: { type: 'string', describe: 'The file (HOOKRAIL_KEYRING)' } } as const;

/** `keyring create|add|list|rewrap|remove` */
export function keyRingCommands(rings: Argv<GlobalOptions>, means: KeyRingMeans): Argv<GlobalOptions> {
  const { execute, show } = means;
  const fileOf = (argv: GlobalOptions & { ring: string | undefined }) => argv.ring ?? means.ringFile(argv);
  return rings
    .command(
      'create',
      'Create a key ring; never overwrites a file',
      (create) =>
        create.option('out', { type: 'string', describe: 'File to write; default: HOOKRAIL_KEYRING' }),
      async (argv) => {
        const file = argv.out ?? means.ringFile(argv);
        // The place that the settings name is made; one that was typed may be mistyped.
        if (argv.out === undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        create(file);
        await means.note(argv, { change: 'create', keyRing: file, key: readRing(file).active });
        const note = 'keep a copy; without it no signing secret can be read';
        show(argv, argv.output === 'json' ? { created: file, note } : `created ${file}: ${note}`);
      },
    )
    .command(
      'add',
      'Add a key and make it the active one; the others still open secrets',
      (add) => add.options(RING),
      async (argv) => {
        const file = fileOf(argv);
        const added = addKey(file);
        await means.note(argv, { change: 'add', keyRing: file, key: added });
        show(argv, {
          added,
          keyRing: file,
          next: `copy ${file} to every process, senders first; then: hookrail operator keyring rewrap`,
        });
      },
    )
    .command(
      'list',
      'List the keys and how much each seals',
      (list) => list.options(RING),
      async (argv) => show(argv, keysOf(fileOf(argv), await means.usage(argv))),
    )
    .command(
      'rewrap',
      'Seal everything with the active key, while the service runs',
      (rewrap) => rewrap,
      (argv) => execute('keyring-rewrap', argv, {}),
    )
    .command(
      'remove',
      'Remove a key that no longer seals anything',
      (remove) =>
        remove.options(RING).option('id', { type: 'string', demandOption: true, describe: 'The key' }),
      async (argv) => {
        const file = fileOf(argv);
        refuseUsed(argv.id, await means.usage(argv));
        await means.note(argv, { change: 'remove', keyRing: file, key: argv.id });
        removeKey(file, argv.id);
        show(argv, {
          removed: argv.id,
          keyRing: file,
          note: 'a backup of the store made before the rewrap still needs it: keep a copy with that backup',
        });
      },
    )
    .demandCommand(1, 'name a keyring command: create, add, list, rewrap, remove');
}

function create(path: string): void {
  try {
    createRing(path);
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
