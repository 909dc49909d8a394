import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Holds address and keys of a sandbox, in its data directory. */
export const SANDBOX_FILE = 'sandbox.env';

/** The data directory where a command is typed. */
export const DATA_DIR_HERE = './data';

/** Tell the data of hookrail from another folder of that name. */
const OWN_FILES = [SANDBOX_FILE, 'operator.token', 'keyring.json'];

/**
 * Returns the data directory of a command that is given none: that of a sandbox in this folder, or else that of the
 * sandbox that this user started last, so that commands work in every folder.
 */
export function foundDataDir(environment: Environment): string {
  if (environment.HOOKRAIL_DATA_DIR) return environment.HOOKRAIL_DATA_DIR;
  const isHere = OWN_FILES.some((name) => existsSync(join(DATA_DIR_HERE, name)));
  if (isHere || environment.HOOKRAIL_ENVIRONMENT === 'production') return DATA_DIR_HERE;
  const remembered = read(placeFile(environment)).trim();
  return isAbsolute(remembered) ? remembered : DATA_DIR_HERE;
}

/** Remembers where the sandbox that starts keeps its data: a path, and no secret. */
export function rememberSandbox(dataDir: string, environment: Environment): void {
  const file = placeFile(environment);
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, `${dataDir}\n`, { mode: 0o600 });
  renameSync(part, file);
}

/** Returns the environment of the operator's tool, with the sandbox's data directory where none is given. */
export function withSandbox(environment: Environment): Environment {
  return { ...environment, HOOKRAIL_DATA_DIR: foundDataDir(environment) };
}

/** The file is where the XDG convention keeps what programs remember between runs. */
function placeFile({ XDG_STATE_HOME, HOME }: Environment): string | undefined {
  const folder = XDG_STATE_HOME || (HOME && join(HOME, '.local', 'state'));
  return folder ? join(folder, 'hookrail', 'sandbox') : undefined;
}

function read(file: string | undefined): string {
  try {
    return file === undefined ? '' : readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
