// Finds an npm that installs in a checkout: a second one would remove what the first has installed so far. Plain
// JavaScript, because nothing is installed yet.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** The command line of an npm that installs. npm shortens its own to a title: "npm ci", "npm install --omit=dev". */
const INSTALLS =
  /(?:^|[\s/])npm(?:-cli\.js)?(?:\s+-\S+)*\s+(?:ci|clean-install|i|install|add|update|up)(?:\s|$)/;

/** Returns the process that installs in a folder; undefined where there is none, and on systems without /proc. */
export function runningInstall(root) {
  const folder = realpathSync(root);
  return processes().find((pid) => INSTALLS.test(commandOf(pid)) && folderOf(pid) === folder);
}

function processes() {
  try {
    const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return names.map(Number).filter((pid) => pid !== process.pid);
  } catch {
    return [];
  }
}

function commandOf(pid) {
  return orEmpty(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
}

function folderOf(pid) {
  return orEmpty(() => readlinkSync(`/proc/${pid}/cwd`));
}

/** A process that has ended, or is another user's, has nothing to show. */
function orEmpty(read) {
  try {
    return read();
  } catch {
    return '';
  }
}
