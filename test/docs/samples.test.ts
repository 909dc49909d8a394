/**
 * The samples of the reference, and the curl of README and of the quickstart, run as they stand against the real API.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDocs } from '../support/api/docs-visit.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { commandsOf } from '../support/pages/command-blocks.ts';
import { jsonEventOf } from '../support/records/events.ts';

const RUN_MAX_MS = 120_000;

let api: TestApi;
let folder: string;
/** Of a browser that shows the keys. */
let cookie: string;
beforeAll(async () => {
  api = await startTestApi();
  const { own: merchantKey, producer: producerKey } = api.keys;
  api.api.docs.fillIn({ merchantKey, producerKey, merchantId: api.merchantId });
  cookie = await openDocs(api.api.url, { merchantKey, producerKey });
  folder = await mkdtemp(join(tmpdir(), 'hookrail-samples-'));
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

/** How a sample is run, by the tab that it stands under. PHP and Go run where they are installed. */
const LANGUAGES = {
  curl: { file: 'sample.sh', program: 'bash', argv: [], probe: ['--version'] },
  Node: { file: 'sample.mjs', program: 'node', argv: [], probe: ['--version'] },
  Python: { file: 'sample.py', program: 'python3', argv: [], probe: ['--version'] },
  Go: { file: 'sample.go', program: 'go', argv: ['run'], probe: ['version'] },
  PHP: { file: 'sample.php', program: 'php', argv: [], probe: ['--version'] },
} as const;

/** Text that a browser would copy from a block of the page. */
function copied(html: string): string {
  const text = html.replaceAll(/<[^>]+>/g, '');
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

async function sampleOf(page: string, operation: string, label: string): Promise<string> {
  const html = await (await fetch(`${api.api.url}/docs/operations/${page}`, { headers: { cookie } })).text();
  const start = html.indexOf(`aria-label="${operation}, ${label}"><code>`);
  expect([operation, label, start > 0]).toEqual([operation, label, true]);
  return copied(html.slice(html.indexOf('<code>', start) + '<code>'.length, html.indexOf('</code>', start)));
}

async function output(
  program: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...argv], { env: { ...process.env, ...env } });
  return stdout;
}

describe.each(Object.entries(LANGUAGES))('a sample in %s', (label, { file, program, argv, probe }) => {
  const isThere = spawnSync(program, probe).status === 0;
  test.skipIf(!isThere).each([
    ['webhook-endpoints', 'POST /merchant/webhook-endpoints', '"signing_secret":"whsec_'],
    ['webhook-endpoints', 'GET /merchant/webhook-endpoints', '"has_more":false'],
    // The same event each time: the first language publishes it, the others repeat it.
    ['producers', 'POST /producer/events', '"event_id":"5c1f1f0e-2f35-4d0f-9d55-0d0a3e0c6b77"'],
  ])(
    'runs as it stands: %s, %s',
    async (page, operation, expected) => {
      const path = join(folder, file);
      await writeFile(path, await sampleOf(page, operation, label));
      expect(await output(program, [...argv, path])).toContain(expected);
    },
    RUN_MAX_MS,
  );
});

describe('the curl that publishes an event', () => {
  test.each([
    ['README.md', commandsOf('README.md', 'Publish events')],
    ['docs/quickstart.md', commandsOf('docs/quickstart.md', 'Publish an event')],
  ])('runs as it stands in %s', async (_page, commands) => {
    const env = {
      HOOKRAIL_BASE_URL: api.api.url,
      HOOKRAIL_PRODUCER_KEY: api.keys.producer,
      HOOKRAIL_MERCHANT_ID: api.merchantId,
    };
    // What loads the variables needs a sandbox; here they are given.
    const [command = ''] = commands.filter((each) => !each.startsWith('set -a'));
    expect(command).toContain('curl');
    expect(JSON.parse(await output('bash', ['-c', command], env))).toMatchObject({
      accepted: 1,
      quarantined: 0,
    });
  });
});

test('the curl of docs/producers.md tries an event, and asks what became of one', async () => {
  const [tried = '', ...others] = commandsOf('docs/producers.md', 'Try an event without publishing it');
  const [asked = '', ...more] = commandsOf('docs/producers.md', 'See whether it arrived');
  expect([others, more]).toEqual([[], []]);
  const event = jsonEventOf(api.merchantId, 'of the page');
  const path = join(folder, 'event.json');
  await writeFile(path, JSON.stringify(event));
  const { eventId } = event.header;
  const env = {
    HOOKRAIL_BASE_URL: api.api.url,
    HOOKRAIL_PRODUCER_KEY: api.keys.producer,
    EVENT_ID: eventId,
  };
  const commands = tried.replace('@event.json', `@${path}`);
  expect(JSON.parse(await output('bash', ['-c', commands], env))).toMatchObject({
    ...{ dry_run: true, accepted: 1 },
    results: [{ event_id: eventId, status: 'accepted' }],
  });
  expect(JSON.parse(await output('bash', ['-c', asked], env)).code).toBe('event_not_found');
  await api.call('POST', '/producer/events', { json: event, key: api.keys.producer });
  expect(JSON.parse(await output('bash', ['-c', asked], env))).toMatchObject({
    event_id: eventId,
    status: 'accepted',
  });
});
