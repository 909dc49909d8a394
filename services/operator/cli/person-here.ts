import { hostname, userInfo } from 'node:os';

/** Returns the names of the system's user and machine: they stand in the audit where no other name is given. */
export function personHere(): string {
  return `${userName()}@${hostname()}`;
}

/** The system may have no name for the user's number, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
