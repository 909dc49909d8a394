import { isLoopbackHost } from '../text/loopback.ts';

/** Owner and permissions of a file, as the operating system has them. */
export interface FileOwner {
  readonly uid: number;
  readonly mode: number;
}

const WRITABLE_BY_OTHERS = 0o022;
const PERMISSIONS = 0o777;
const ROOT = 0;

/**
 * Returns why a file of the data directory is not to be trusted; null when it is. Any folder may have a `data` folder in
 * it, such as one that another user has put below /tmp. `ownUid` is undefined on Windows, which has no such owners.
 */
export function distrusted({ uid, mode }: FileOwner, ownUid: number | undefined): string | null {
  if (ownUid === undefined) return null;
  if (uid !== ownUid && uid !== ROOT) return `belongs to another user (uid ${uid})`;
  if ((mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `can be written by other users (mode ${(mode & PERMISSIONS).toString(8)})`;
}

/**
 * Returns whether a URL is an address of this machine. An address that a file names must be one: a folder that was
 * cloned or unpacked could name any other.
 */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isHttp = protocol === 'http:' || protocol === 'https:';
  return isHttp && username === '' && password === '' && isLoopbackHost(hostname);
}
