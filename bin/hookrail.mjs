#!/usr/bin/env node
// The executable. Installed, it runs what was built; in a checkout it first installs and builds what is missing.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`hookrail needs Node 20.19 or newer, but this is ${process.version}\n`);
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
// A package that was installed has no sources.
if (existsSync(`${root}services`)) {
  const { isBuilt } = await import('../scripts/build.mjs');
  if (!isBuilt(root)) {
    const { prepare } = await import('../scripts/prepare.mjs');
    await prepare(root);
  }
}
const { main } = await import('../dist/simulator/hookrail.js');
await main();
