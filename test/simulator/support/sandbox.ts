import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';

/** Runs the line that starts the sandbox, as package.json has it, without the demo. */
export async function withSandbox(
  { line, checkout, dataDir }: { readonly line: string; readonly checkout: string; readonly dataDir: string },
  use: (dataDir: string) => Promise<void>,
): Promise<void> {
  const environment = Object.fromEntries(
    [...line.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name, value]),
  );
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const [program = '', ...args] = scripts.start.split(' ');
  const child = spawn(program === 'node' ? process.execPath : program, [...args, '--no-demo'], {
    cwd: checkout,
    env: {
      PATH: process.env.PATH,
      HOOKRAIL_DATA_DIR: dataDir,
      HOOKRAIL_API_PORT: '0',
      HOOKRAIL_OPS_PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    await eventually('the sandbox runs', () => text.includes('sandbox is running'), 30_000);
    await use(dataDir);
  } finally {
    child.kill('SIGINT');
    await exited;
  }
}
