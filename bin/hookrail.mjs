#!/usr/bin/env node
// The executable. Any Node from 20.19 on starts it; it goes on with the one that hookrail is tested with. Installed, it
// runs what was built; in a checkout it first installs and builds what is missing.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `hookrail needs Node 20.19 or newer to start, but this is ${process.version}: install Node 24, https://nodejs.org/en/download\n`,
  );
  process.exit(2);
}

const { chooseNode, endWithLauncher, goOnWith } = await import('./runtime.mjs');
endWithLauncher();
const root = fileURLToPath(new URL('..', import.meta.url));
let { path, problem } = chooseNode(root);
// A package that was installed has no sources.
if ((problem || path === process.execPath) && existsSync(`${root}services`)) {
  const { isBuilt } = await import('./checkout/build.mjs');
  if (problem || !isBuilt(root)) {
    const { prepare } = await import('./checkout/prepare.mjs');
    await prepare(root);
    ({ path, problem } = chooseNode(root));
  }
}
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else if (path === process.execPath) {
  const { main } = await import('../dist/simulator/hookrail.js');
  await main();
} else {
  goOnWith(path);
}
