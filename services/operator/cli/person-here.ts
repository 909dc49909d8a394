import { hostname, userInfo } from 'node:os';

/** Returns who works here, as the system names the user and the machine: for the audit, where nobody says another name. */
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
