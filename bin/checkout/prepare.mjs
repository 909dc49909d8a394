import { build, isBuilt } from './build.mjs';
import { ensureDependencies } from './ensure-dependencies.mjs';
import { oneAtATime } from './one-at-a-time.mjs';

/** Installs and builds what hookrail needs to run from a checkout. */
export async function prepare(root) {
  await oneAtATime(root, async () => {
    await ensureDependencies(root, { withDev: false });
    if (isBuilt(root)) return;
    process.stderr.write('building hookrail, once …\n');
    await build(root);
  });
}
