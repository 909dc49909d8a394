import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes a generated file of the project. With `--check` on the command line it writes nothing, and the process ends
 * with 1, naming the file, when the file is not what would be generated.
 */
export function keepGenerated(path: string, text: string, source: string): void {
  const target = fileURLToPath(new URL(`../${path}`, import.meta.url));
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    return;
  }
  if (present(target) === text) return;
  console.error(`${path} is not what ${source} says: run npm run generate`);
  process.exitCode = 1;
}

/** A missing file is as stale as an old one. */
function present(target: string): string | undefined {
  try {
    return readFileSync(target, 'utf8');
  } catch {
    return undefined;
  }
}
