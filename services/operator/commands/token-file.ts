import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config/variables.ts';
import { messageOf } from '../../messages/error-message.ts';

/** The characters that a header can carry. */
const IN_HEADER = /^[!-~]+$/;
/** The shortest token that nobody guesses, characters: 24 random bytes in base64. */
const GIVEN_CHARACTERS_MIN = 32;

/** Where the token of the operator interface is: in a file that is given, or in the data directory. */
interface TokenPlace {
  readonly dataDir: string;
  /** A file that somebody else wrote, for example a mounted secret. Empty: none. */
  readonly operatorTokenFile: string;
}

/**
 * Returns the file in which the running service stores the token of its operator interface: readable by its user only.
 */
export function operatorTokenFile(dataDir: string): string {
  return join(dataDir, 'operator.token');
}

/** Returns the token: the given one, else `fresh`, which is written to the data directory. Throws ConfigError. */
export function placeToken({ dataDir, operatorTokenFile: given }: TokenPlace, fresh: () => string): string {
  if (given !== '') return readGiven(given);
  const token = fresh();
  const file = operatorTokenFile(dataDir);
  try {
    writeToken(file, token);
  } catch (error) {
    throw new ConfigError(
      `the operator's token cannot be written: ${messageOf(error)}; make ${dataDir} writable (HOOKRAIL_DATA_DIR; a tmpfs is enough where the store is PostgreSQL), or put a token of your own into a file and name it in HOOKRAIL_OPERATOR_TOKEN_FILE`,
    );
  }
  return token;
}

/** Returns the token that the operator's tool sends; undefined when no service has written one. Throws ConfigError. */
export function readToken({ dataDir, operatorTokenFile: given }: TokenPlace): string | undefined {
  if (given !== '') return readGiven(given);
  const file = operatorTokenFile(dataDir);
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigError(`${file} cannot be read (${code})`);
  }
  // The HTTP client's own error would print it.
  if (!IN_HEADER.test(token))
    throw new ConfigError(`${file} holds no token: restart the service, which writes it anew`);
  return token;
}

function readGiven(file: string): string {
  const refused = (why: string) => new ConfigError(`HOOKRAIL_OPERATOR_TOKEN_FILE="${file}" ${why}`);
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw refused(`cannot be read: ${messageOf(error)}`);
  }
  if (!IN_HEADER.test(token) || token.length < GIVEN_CHARACTERS_MIN) {
    throw refused(
      `must hold one line of ${GIVEN_CHARACTERS_MIN} or more visible characters; make one with: openssl rand -hex 32`,
    );
  }
  return token;
}

/** Writes a file beside it and renames it: the token's file is never incomplete or in another mode. */
function writeToken(file: string, token: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${token}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}
