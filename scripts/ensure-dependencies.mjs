// Runs before `npm start` and `npm test`: a fresh clone has no node_modules, and a newcomer
// should not have to know. Plain JavaScript, because nothing is installed yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** True when the installed tree is the one that package-lock.json names. */
function isInstalled() {
  const installed = new URL('../node_modules/.package-lock.json', import.meta.url);
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).packages;
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || present[path]?.version === entry.version,
  );
}

if (!isInstalled()) {
  console.error('Installing dependencies (npm ci), once …');
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) {
    console.error(
      'npm ci failed; its output is above. Check the network and the npm registry, then try again.',
    );
    process.exit(1);
  }
}
