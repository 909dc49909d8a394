// Prints how long each command takes from Enter to its first line, as a table: the median of ten, in milliseconds. Each
// column is a way to start hookrail, `label|folder|words` where {tool} is start, sim or operator:
//   node scripts/first-output.mjs 'checkout|.|node bin/hookrail.mjs {tool}' 'npm run|/older/clone|npm run -s {tool} --'
// ROUNDS=3 is quicker. It starts a sandbox of its own for the commands that ask one. A version that lacks a
// command shows – for it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../bin/hookrail.mjs', import.meta.url));
const ROUNDS = Number(process.env.ROUNDS ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'first-output-'));
const environment = {
  ...process.env,
  NO_UPDATE_NOTIFIER: '1',
  XDG_STATE_HOME: folder,
  HOOKRAIL_DATA_DIR: join(folder, 'data'),
  HOOKRAIL_API_PORT: '0',
  HOOKRAIL_OPS_PORT: '0',
  HOOKRAIL_RATE_LIMIT_PER_MINUTE: '1000000',
  HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE: '1000000',
};

const COMMANDS = [
  'start --no-demo',
  'sim --help',
  'sim run --help',
  'sim run onramp.happy --speed instant',
  'sim trigger --help',
  'sim trigger KYC/FULL_USER',
  'sim scenarios list',
  'sim scenarios show onramp.happy',
  'sim scenarios validate onramp.happy',
  'sim scenarios check onramp.happy',
  'sim scenarios graph onramp.happy',
  'sim scenarios new mine --out {folder}/{n}.yaml',
  'sim step --help',
  'sim assert last',
  'sim record --since 10m --out {folder}/{n}.ndjson',
  'sim replay {folder}/journey.ndjson --new-ids --speed instant',
  'sim load --duration 1s --rate 1',
  'sim listen --forward-to 3000/hook',
  'sim receiver',
  'sim endpoints create --url https://localhost/{n}',
  'sim endpoints list',
  'sim endpoints get {endpoint}',
  'sim endpoints update {endpoint} --description x',
  'sim endpoints test {endpoint} --wait 0',
  'sim endpoints rotate {endpoint}',
  'sim endpoints disable {endpoint}',
  'sim endpoints enable {endpoint}',
  'sim endpoints delete {created}',
  'sim deliveries list',
  'sim deliveries get {delivery}',
  'sim deliveries tail --since 1h',
  'sim deliveries resend {delivery}',
  'sim events list',
  'sim events get {event}',
  'sim missed',
  'sim clock show',
  'sim catalog',
  'sim catalog KYC/FULL_USER',
  'sim doctor',
  'sim sign --secret x --body {folder}/data/sandbox.env',
  'sim sample node',
  'sim verify --secret x --headers {folder}/data/sandbox.env --body {folder}/data/sandbox.env',
  'sim cert --out {folder}',
  'sim whoami',
  'operator --help',
  'operator status',
  'operator merchants list',
  'operator keys list',
  'operator keyring list',
  'operator audit list',
  'operator quarantine summary',
  'operator dead-letters list',
  'operator streams list',
  'operator replay list',
  'operator store backup {folder}/{n}.db',
  'operator topics',
  'operator schemas',
];

/** Commands that run until they are stopped. */
const ENDLESS = new Set(['start', 'receiver', 'listen', 'tail']);

/** Returns the milliseconds until a program's first byte; null when it does not know the command. */
function firstOutput(cwd, [program, ...args]) {
  return new Promise((resolve, reject) => {
    const own = args.includes('start') ? { HOOKRAIL_DATA_DIR: join(folder, 'other') } : {};
    const start = performance.now();
    const child = spawn(program, args, { cwd, env: { ...environment, ...own }, detached: true });
    let took;
    let said = '';
    const onData = (chunk) => {
      took ??= performance.now() - start;
      said += chunk;
      if (args.some((word) => ENDLESS.has(word))) process.kill(-child.pid, 'SIGKILL');
    };
    child.stdout.once('data', onData).resume();
    child.stderr.on('data', onData);
    child.once('close', () => {
      if (took === undefined) reject(new Error(`${args.join(' ')}: no output`));
      else resolve(/unknown (command|argument|option)/i.test(said) ? null : took);
    });
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Runs a command of the simulator and returns its data. */
function data(...args) {
  const { stdout, stderr } = spawnSync('node', [BIN, 'sim', ...args, '--output', 'json'], {
    env: environment,
  });
  if (stdout.length === 0) throw new Error(String(stderr));
  return JSON.parse(stdout);
}

const columns = process.argv.slice(2).map((column) => column.split('|'));
const sandbox = spawn('node', [BIN, 'start', '--output', 'ndjson'], { env: environment });
try {
  await new Promise((resolve) => {
    let text = '';
    sandbox.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.split('"delivered"').length > 3) resolve();
    });
  });
  data('record', '--since', '1h', '--out', join(folder, 'journey.ndjson'));
  const [{ uuid: endpoint }] = data('endpoints', 'list');
  const [{ delivery_uuid: delivery, event_uuid: event }] = data('deliveries', 'list');
  let number = 0;
  const filled = (line, created) =>
    line
      .replaceAll('{folder}', folder)
      .replaceAll('{endpoint}', endpoint)
      .replaceAll('{delivery}', delivery)
      .replaceAll('{event}', event)
      .replaceAll('{created}', created)
      .replaceAll('{n}', String(++number));
  console.log(
    `| command | ${columns.map(([label]) => label).join(' | ')} |\n|---|${'---:|'.repeat(columns.length)}`,
  );
  for (const command of COMMANDS) {
    const took = columns.map(() => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [i, [, cwd, words]] of columns.entries()) {
        const created = command.includes('{created}')
          ? data('endpoints', 'create', '--url', `https://localhost/made/${++number}`).uuid
          : '';
        const [tool, ...rest] = filled(command, created).split(' ');
        took[i].push(await firstOutput(cwd, [...words.replaceAll('{tool}', tool).split(' '), ...rest]));
      }
    }
    const shown = command.replaceAll(/\{folder\}\S*|\{(\w+)\}/g, (_, name) => (name ? `<${name}>` : '…'));
    const cells = took.map((times) => (times.includes(null) ? '–' : Math.round(median(times))));
    console.log(`| \`${shown}\` | ${cells.join(' | ')} |`);
  }
} finally {
  sandbox.kill('SIGINT');
  await new Promise((resolve) => sandbox.once('exit', resolve));
  rmSync(folder, { recursive: true });
}
