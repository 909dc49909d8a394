import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url).href;

/** Returns the built module of a source. */
export function builtModule(source: URL): URL {
  return new URL(source.href.replace(ROOT, `${ROOT}dist/`).replace(/\.ts$/, '.js'));
}

function pathOf(source: string): string {
  return fileURLToPath(builtModule(new URL(source, ROOT)));
}

/** The programs as a process runs them: `node <path>`. */
export const BUILT = {
  service: pathOf('services/main.ts'),
  simulator: pathOf('simulator/cli.ts'),
  operator: pathOf('services/operator.ts'),
} as const;
