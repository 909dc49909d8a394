import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parseEnv } from 'node:util';
import { visible } from '../services/domain/text/visible-text.ts';
import { usage } from './exit.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Holds address and keys of a sandbox, in its data directory. */
export const SANDBOX_FILE = 'sandbox.env';

/** The data directory where a command is typed. */
export const DATA_DIR_HERE = './data';

/** Tell the data of hookrail from another folder of that name. */
const OWN_FILES = [SANDBOX_FILE, 'operator.token', 'keyring.json'];

/** The most sandboxes that are remembered. */
const REMEMBERED_MAX = 20;

/** A data directory, and why it is not the one of this folder, for people; null where it is. */
export interface Found {
  readonly dataDir: string;
  readonly why: string | null;
}

/** A sandbox that was started: where its data is, and its process. */
interface Remembered {
  readonly dataDir: string;
  readonly pid: number;
}

/**
 * Returns the data directory of a command that is given none: that of a sandbox in this folder, or else that of the
 * sandbox that runs, or else that of the one that this user started last, so that commands work in every folder. Throws
 * a usage failure where several run: a command could change the wrong one. HOOKRAIL_API_PORT chooses among them.
 */
export function foundDataDir(environment: Environment): Found {
  const here = { dataDir: DATA_DIR_HERE, why: null };
  if (environment.HOOKRAIL_DATA_DIR) return { dataDir: environment.HOOKRAIL_DATA_DIR, why: null };
  const isHere = OWN_FILES.some((name) => existsSync(join(DATA_DIR_HERE, name)));
  if (isHere || environment.HOOKRAIL_ENVIRONMENT === 'production') return here;
  const remembered = rememberedIn(placeFile(environment));
  const running = remembered.filter(isRunning);
  const port = environment.HOOKRAIL_API_PORT;
  const onPort = running.filter(({ dataDir }) => port && portOf(dataDir) === port);
  const [one, ...others] = onPort.length > 0 ? onPort : running;
  if (one && others.length > 0) {
    throw usage(
      `several sandboxes run, and none is in this folder: ${[one, ...others].map(shown).join(', ')}`,
      `name the data directory of one: --data-dir ${one.dataDir} (or HOOKRAIL_DATA_DIR)`,
    );
  }
  if (one) return { dataDir: one.dataDir, why: `using the sandbox that runs, ${shown(one)}` };
  const [last] = remembered;
  return last
    ? { dataDir: last.dataDir, why: `using the sandbox that was started last, ${shown(last)}` }
    : here;
}

/** Remembers where the sandbox that starts keeps its data, and its process: no secret. */
export function rememberSandbox(dataDir: string, environment: Environment, pid = process.pid): void {
  const file = placeFile(environment);
  if (file === undefined) return;
  const others = rememberedIn(file).filter((other) => other.dataDir !== dataDir && isRunning(other));
  const lines = [{ dataDir, pid }, ...others.slice(0, REMEMBERED_MAX - 1)].map(
    (one) => `${one.pid} ${one.dataDir}\n`,
  );
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, lines.join(''), { mode: 0o600 });
  renameSync(part, file);
}

/** Returns the sandboxes that a file names, the one that was started last first. */
function rememberedIn(file: string | undefined): Remembered[] {
  return read(file)
    .split('\n')
    .map((line) => /^([1-9]\d{0,9}) (.+)$/.exec(line))
    .map((parts) => ({ dataDir: parts?.[2] ?? '', pid: Number(parts?.[1]) }))
    .filter(({ dataDir }) => isAbsolute(dataDir));
}

function isRunning({ dataDir, pid }: Remembered): boolean {
  if (!existsSync(join(dataDir, SANDBOX_FILE))) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function portOf(dataDir: string): string | undefined {
  const address = parseEnv(read(join(dataDir, SANDBOX_FILE))).HOOKRAIL_BASE_URL ?? '';
  return URL.canParse(address) ? new URL(address).port : undefined;
}

function shown({ dataDir }: Remembered): string {
  const port = portOf(dataDir);
  return port ? `${visible(dataDir)} (port ${visible(port)})` : visible(dataDir);
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
