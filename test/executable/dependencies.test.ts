/** A fresh clone installs what runs hookrail, and the test tools only where they are needed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { missingDependencies } from '../../bin/checkout/ensure-dependencies.mjs';
import { runningInstall } from '../../bin/checkout/running-install.mjs';
import { pinnedName } from '../../bin/runtime.mjs';
import packageJson from '../../package.json' with { type: 'json' };

const root = mkdtempSync(join(tmpdir(), 'hookrail-dependencies-'));
const LOCK = {
  '': {},
  'node_modules/express': { version: '5.0.0' },
  'node_modules/fsevents': { version: '2.0.0', optional: true },
  'node_modules/vitest': { version: '4.0.0', dev: true },
};
const ALL = ['ci', '--no-audit', '--no-fund'];

/** Writes what is wanted and what is installed. */
function tree(installed: object | undefined, lock: object = LOCK): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: lock }));
  if (installed === undefined) return;
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
}

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('npm start in a fresh clone installs no test tool', () => {
  tree(undefined);
  expect(missingDependencies(root, { withDev: false })).toEqual([...ALL, '--omit=dev']);
});

test('npm test after npm start installs the test tools', () => {
  tree({ 'node_modules/express': { version: '5.0.0' } });
  expect(missingDependencies(root, { withDev: false })).toBeUndefined();
  expect(missingDependencies(root, { withDev: true })).toEqual(ALL);
});

test('a newer version is installed without removing the test tools', () => {
  tree({ 'node_modules/express': { version: '4.0.0' }, 'node_modules/vitest': { version: '4.0.0' } });
  expect(missingDependencies(root, { withDev: false })).toEqual(ALL);
});

test('nothing is installed where all is there', () => {
  const { 'node_modules/express': express, 'node_modules/vitest': vitest } = LOCK;
  tree({ 'node_modules/express': express, 'node_modules/vitest': vitest });
  expect(missingDependencies(root, { withDev: true })).toBeUndefined();
});

describe('the pinned Node', () => {
  const NODE = `node_modules/${pinnedName()}`;
  const others = ['linux-x64', 'linux-arm64', 'win-x64'].filter((name) => name !== pinnedName().slice(5));
  const { 'node_modules/express': express, 'node_modules/vitest': vitest } = LOCK;
  const installed = { 'node_modules/express': express, 'node_modules/vitest': vitest };
  const pin = (name: string, version: string) => ({ ...LOCK, [name]: { version, optional: true } });

  test.each(['24.0.1', '24.1.0', '26.0.0', '22.99.0'])(
    'is installed when its version changes to %s',
    (version) => {
      tree({ ...installed, [NODE]: { version: '24.0.0' } }, pin(NODE, version));
      expect(missingDependencies(root, { withDev: false })).toEqual(ALL);
    },
  );

  test('is installed when it is missing, and not again when it is there', () => {
    tree(installed, pin(NODE, '24.0.0'));
    expect(missingDependencies(root, { withDev: true })).toEqual(ALL);
    tree({ ...installed, [NODE]: { version: '24.0.0' } }, pin(NODE, '24.0.0'));
    expect(missingDependencies(root, { withDev: true })).toBeUndefined();
  });

  test.each(others)('of another machine is not missing: %s', (name) => {
    tree(installed, pin(`node_modules/node-${name}`, '24.0.0'));
    expect(missingDependencies(root, { withDev: true })).toBeUndefined();
  });

  test('that npm could not install is asked for once, until its version changes', () => {
    tree(installed, pin(NODE, '24.0.0'));
    writeFileSync(join(root, 'node_modules', '.without-node'), '24.0.0');
    expect(missingDependencies(root, { withDev: true })).toBeUndefined();
    tree(installed, pin(NODE, '24.0.1'));
    expect(missingDependencies(root, { withDev: true })).toEqual(ALL);
  });

  test('is the same in package.json and the lock file, for each machine', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const versions = Object.entries(packageJson.optionalDependencies).map(([name, version]) => {
      const { version: locked, integrity, optional, bin } = packages[`node_modules/${name}`];
      expect([name, locked, optional]).toEqual([name, version, true]);
      expect(integrity).toMatch(/^sha512-/);
      expect(bin.node).toMatch(/^bin\/node/);
      return version;
    });
    expect(new Set(versions).size).toBe(1);
  });
});

/** The symbol by which every Node knows a module, and the beginning of those that one version knows. */
const [NODE_API, OF_ONE_NODE] = ['napi_register_module_v1', 'node_register_module_v'];

test('the packages that one Node has installed run on another: their binaries are of no version', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const needed = Object.keys(packages).filter((path) => path !== '' && !packages[path].dev);
  const binaries = needed.flatMap((path) =>
    globSync('**/*.node', { cwd: path, exclude: (name) => name === 'node_modules' }).map((file) =>
      join(path, file),
    ),
  );
  for (const name of ['better-sqlite3', 'lz4-napi', 'crc32']) expect(binaries.join()).toContain(name);
  for (const file of binaries) {
    const bytes = readFileSync(file);
    expect([file, bytes.includes(NODE_API), bytes.includes(OF_ONE_NODE)]).toEqual([file, true, false]);
  }
});

describe('a binary of SQLite that was compiled here', () => {
  function leave(kind: string, symbol: string): void {
    const folder = join(root, 'node_modules', 'better-sqlite3', 'build', kind);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'better_sqlite3.node'), `\u007fELF…${symbol}\u0000`);
  }

  test.each(['Release', 'Debug'])('is no reason to install when every Node loads it: %s', (kind) => {
    tree({ 'node_modules/express': { version: '5.0.0' } });
    leave(kind, NODE_API);
    expect(missingDependencies(root, { withDev: false })).toBeUndefined();
  });

  test.each(['Release', 'Debug'])(
    'is removed, with a new installation, when one Node alone loads it: %s',
    (kind) => {
      tree({ 'node_modules/express': { version: '5.0.0' } });
      leave(kind, `${OF_ONE_NODE}115`);
      expect(missingDependencies(root, { withDev: false })).toEqual([...ALL, '--omit=dev']);
    },
  );

  test('has the packages looked at again, although all was built', () => {
    const module = new URL('../../bin/checkout/build.mjs', import.meta.url);
    const says = (line: string) => {
      const script = `import { build, isBuilt } from '${module}'; const root = ${JSON.stringify(root)}; ${line}`;
      const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
        encoding: 'utf8',
      });
      return [ended.stdout, ended.stderr];
    };
    tree({});
    const folders = [
      'client',
      'console',
      'services',
      'simulator',
      'schemas',
      'docs/receivers',
      'docs/operate',
    ];
    for (const name of folders) mkdirSync(join(root, name), { recursive: true });
    for (const name of ['openapi.yaml', 'package.json', 'services/main.ts', 'docs/operate/README.md'])
      writeFileSync(join(root, name), '{}');
    expect(says('await build(root); console.log(isBuilt(root))')).toEqual(['true\n', '']);
    leave('Release', OF_ONE_NODE);
    expect(says('console.log(isBuilt(root))')).toEqual(['false\n', '']);
  });
});

test('after a failed installation the next command does not wait for the one that ended', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist', '.preparing'), String(pid));
  const module = new URL('../../bin/checkout/one-at-a-time.mjs', import.meta.url);
  const script = `import { oneAtATime } from '${module}'; await oneAtATime('${root}', () => console.log('works'));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect([ended.status, ended.stdout, ended.stderr]).toEqual([0, 'works\n', '']);
});

describe('a running npm', () => {
  /** Starts a process that looks like one, as far as the system can tell, for a second. */
  async function pretend(title: string, cwd: string): Promise<ChildProcess> {
    const script = `process.title = ${JSON.stringify(title)}; console.log('there'); setTimeout(() => {}, 1000)`;
    const child = spawn(process.execPath, ['--eval', script], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout as Readable, 'data');
    return child;
  }

  test.each(['npm ci', 'npm install', 'npm i', 'npm --silent ci', '/usr/bin/npm ci --omit=dev'])(
    'is seen while it installs in this checkout: %s',
    async (title) => {
      tree(undefined);
      const child = await pretend(title, root);
      expect(runningInstall(root)).toBe(child.pid);
      expect(runningInstall(tmpdir())).toBeUndefined();
      await once(child, 'exit');
      expect(runningInstall(root)).toBeUndefined();
    },
  );

  test.each(['npm start', 'npm run install-hooks', 'npm test ci', 'pnpm ci'])(
    'that installs nothing is left alone: %s',
    async (title) => {
      tree(undefined);
      const child = await pretend(title, root);
      expect(runningInstall(root)).toBeUndefined();
      child.kill();
    },
  );

  test('is waited for, and what it has installed is not installed again', async () => {
    tree(undefined);
    await pretend('npm ci', root);
    const { 'node_modules/express': express } = LOCK;
    const module = new URL('../../bin/checkout/ensure-dependencies.mjs', import.meta.url);
    const script = `import { ensureDependencies } from '${module}'; await ensureDependencies('${root}', { withDev: false }); console.log('went on')`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    let output = '';
    child.stderr.on('data', (chunk) => (output += chunk));
    await once(child.stderr, 'data');
    expect(output).toMatch(/^waiting: npm \(process \d+\) is installing in /);
    tree({ 'node_modules/express': express });
    await once(child, 'exit');
    expect(output).not.toContain('installing dependencies');
  });
});

test('the scripts that need the test tools ask for them, and those that run hookrail do not', () => {
  const { scripts } = packageJson;
  for (const name of ['pretest', 'prebench', 'prekafka:local', 'prekafka:producers'] as const) {
    expect(scripts[name]).toContain('node bin/checkout/ensure-dependencies.mjs');
  }
  for (const name of ['start', 'sim', 'operator', 'serve'] as const) {
    expect(scripts[name]).toMatch(/^node bin\/hookrail\.mjs \w+$/);
    expect(scripts).not.toHaveProperty(`pre${name}`);
  }
});

test('a build leaves no compiler running beside the process that built', { timeout: 60_000 }, () => {
  const module = new URL('../../bin/checkout/build.mjs', import.meta.url);
  const script = `
    import { readFileSync } from 'node:fs';
    import { build } from '${module}';
    await build(${JSON.stringify(process.cwd())});
    const children = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim();
    for (let i = 0; i < 500 && children() !== ''; i += 1) await new Promise((done) => setTimeout(done, 10));
    console.log(children());`;
  const built = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect([built.status, built.stdout, built.stderr]).toEqual([0, '\n', '']);
});
