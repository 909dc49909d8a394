/**
 * Guarantee: `sim listen --forward-to` brings every webhook to a developer's own HTTP app as it was sent, and the app's
 * answer back; the secret stays the same; nothing that happened meanwhile is forgotten.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { verifyRequest } from '../../../simulator/receiver/verification.ts';
import { eventually } from '../../support/eventually.ts';
import { startSim } from '../support/command-line.ts';
import { send, webhookHeaders } from '../support/https-request.ts';
import { type ListenSandbox, startListenSandbox } from '../support/listen-sandbox.ts';
import { type OwnApp, startOwnApp } from '../support/own-app.ts';
import { itemsOf, type RunningSim, runSim } from '../support/running-sim.ts';

interface Ready {
  readonly kind: 'ready';
  readonly endpoint_uuid: string;
  readonly url: string;
  readonly missed: number;
}

interface Arrived {
  readonly kind: 'event';
  readonly outcome: string;
  readonly status: number;
  readonly subType: string;
  readonly attempt: number;
  readonly detail: string | null;
  readonly trigger: string;
  readonly next_attempt_at: string | null;
  readonly delivery_uuid: string;
}

let sandbox: ListenSandbox;
let app: OwnApp;
const running: RunningSim[] = [];

beforeAll(async () => {
  sandbox = await startListenSandbox();
}, 60_000);
afterAll(() => sandbox?.close());
beforeAll(async () => {
  app = await startOwnApp();
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  await app.close();
  app = await startOwnApp();
});
afterAll(() => app.close());

/** Starts a listener for the app and waits until it is ready. */
async function listen(
  line = '',
  forwardTo = app.url,
): Promise<{ readonly ready: Ready; readonly sim: RunningSim }> {
  const words = [
    'listen',
    '--forward-to',
    forwardTo,
    '--output',
    'ndjson',
    ...line.split(' ').filter(Boolean),
  ];
  const sim = runSim(words, sandbox.access);
  running.push(sim);
  const ready = await sim.item<Ready>('ready', ({ kind }) => kind === 'ready');
  return { ready, sim };
}

/** Returns the first webhook that was shown and fits. */
function arrived(sim: RunningSim, fits: (event: Arrived) => boolean): Promise<Arrived> {
  return sim.item<Arrived>('a webhook', (item) => item.kind === 'event' && fits(item));
}

const secretOf = async (forwardTo = app.url) =>
  (await sandbox.sim(`listen --forward-to ${forwardTo} --print-secret`)).trim();

const statusOf = async (uuid: string) =>
  JSON.parse(await sandbox.sim(`endpoints get ${uuid} --output json`)).status;

describe('an own HTTP app', () => {
  test('gets its first webhook by one command, with method, headers and bytes as they were sent', async () => {
    app.answer = (_, response) => response.writeHead(202, { 'x-app': 'yes' }).end('thank you');
    const { ready, sim } = await listen('--test KYC/FULL_USER');
    const shown = await arrived(sim, () => true);
    expect(shown).toMatchObject({ outcome: 'forwarded', status: 202, subType: 'FULL_USER', trigger: 'test' });
    const [request] = await app.received(1);
    const { method, url, headers = {}, body = Buffer.of() } = request ?? {};
    expect([method, url, headers.host]).toEqual(['POST', '/hook', `localhost:${app.port}`]);
    expect(verifyRequest({ headers, body }, await secretOf(), Date.now() / 1000).authentic).toBe(true);
    expect(request?.rawHeaders).toEqual(
      expect.arrayContaining(['Authorization', 'User-Agent', 'hookrail/0']),
    );
    const delivery = JSON.parse(await sandbox.sim(`deliveries get ${shown.delivery_uuid} --output json`));
    expect(delivery).toMatchObject({ status: 'delivered', endpoint_uuid: ready.endpoint_uuid });
    expect(delivery.attempts[0]).toMatchObject({ response_status: 202 });
    expect(JSON.stringify(delivery)).toContain('thank you');
  }, 60_000);

  test('that fails is asked again, and each attempt is shown with what follows', async () => {
    app.answer = ({ headers }, response) => {
      if (headers['webhook-attempt'] !== '1') return response.end();
      const page =
        '<html><head><title>Error</title></head><pre>TypeError: cannot read &#39;iban&#39;<br>at x</pre>';
      return response.writeHead(500, { 'content-type': 'text/html' }).end(page);
    };
    const { sim } = await listen();
    await sandbox.sim('trigger KYC/FULL_USER');
    const first = await arrived(sim, ({ attempt }) => attempt === 1);
    expect(first).toMatchObject({ status: 500, detail: "TypeError: cannot read 'iban'" });
    expect(first.next_attempt_at).not.toBeNull();
    expect(await arrived(sim, ({ attempt }) => attempt === 2)).toMatchObject({ status: 200, detail: null });
  }, 60_000);

  test('that is down, cuts off or redirects costs a retry, and the line says why', async () => {
    const { port } = app;
    await app.close();
    const { sim } = await listen();
    await sandbox.sim('trigger KYC/FULL_USER');
    const down = await arrived(sim, ({ outcome }) => outcome === 'unreachable');
    expect(down).toMatchObject({ status: 502, detail: `nothing listens at localhost:${port}` });
    app = await startOwnApp(port);
    app.answer = (_, response) => {
      if (app.requests.length === 1) response.destroy();
      else response.writeHead(302, { location: '/login' }).end();
    };
    const cut = await arrived(sim, ({ detail }) => /closed the connection/.test(detail ?? ''));
    expect(cut).toMatchObject({ status: 502, detail: 'your app closed the connection without an answer' });
    const moved = await arrived(sim, ({ attempt }) => attempt === cut.attempt + 1);
    expect(moved).toMatchObject({ status: 302, detail: 'hookrail follows no redirect (to /login)' });
  }, 60_000);

  test('does not see a forged webhook, unless --skip-verify', async () => {
    const { ready, sim } = await listen();
    const ca = readFileSync(join(sandbox.folder, 'ca.crt'), 'utf8');
    const body = '{"type":"KYC","subType":"FULL_USER"}';
    const forged = { url: ready.url, ca, body };
    const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const reply = await send({ ...forged, headers: webhookHeaders(other, body, 'd') });
    expect([reply.status, reply.body]).toEqual([401, expect.stringContaining('authorization, signature')]);
    expect(await arrived(sim, () => true)).toMatchObject({ outcome: 'refused', status: 401 });
    expect(app.requests).toHaveLength(0);
    await running.pop()?.stop();
    const open = await listen('--skip-verify');
    await send({ ...forged, url: open.ready.url, headers: webhookHeaders(other, body, 'd') });
    expect(await arrived(open.sim, () => true)).toMatchObject({ outcome: 'forwarded', status: 200 });
    expect(app.requests).toHaveLength(1);
  }, 60_000);
});

describe('the endpoint of a listener', () => {
  test('is kept with its secret, active only while it runs; what was missed comes back', async () => {
    const first = await listen();
    const uuid = first.ready.endpoint_uuid;
    const secret = await secretOf();
    expect(await statusOf(uuid)).toBe('active');
    const { code, stdout } = await first.sim.stop();
    expect([code, await statusOf(uuid)]).toEqual([EXIT.ok, 'disabled']);
    expect(stdout).not.toContain(secret);

    await sandbox.sim('trigger KYC/FULL_USER --count 2');
    const again = await listen('--catch-up');
    expect(again.ready).toMatchObject({ endpoint_uuid: uuid, missed: 2 });
    expect(await secretOf()).toBe(secret);
    await app.received(2);
    await arrived(again.sim, ({ trigger }) => trigger === 'replay');
    await again.sim.stop();
    expect((await listen()).ready.missed).toBe(0);

    const kept = join(sandbox.folder, 'listeners');
    const modes = readdirSync(kept).map((name) => statSync(join(kept, name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  }, 60_000);

  test('is found again, with a new secret, when the file that keeps it is lost or its secret was rotated', async () => {
    const first = await listen();
    const secret = await secretOf();
    await first.sim.stop();
    rmSync(join(sandbox.folder, 'listeners'), { recursive: true });
    const second = await listen();
    expect(second.ready.endpoint_uuid).toBe(first.ready.endpoint_uuid);
    const replaced = await secretOf();
    expect(replaced).not.toBe(secret);
    await second.sim.stop();
    await sandbox.sim(`endpoints rotate ${second.ready.endpoint_uuid}`);
    await listen('--test');
    const [request] = await app.received(1);
    expect(request?.headers.authorization).toBe(`API-Key ${await secretOf()}`);
  }, 60_000);

  test('is disabled when its terminal is closed, however often the signal comes', async () => {
    const closed = startSim(['listen', '--forward-to', app.url, '--output', 'ndjson'], sandbox.access);
    const ready: Ready = JSON.parse(await closed.line('"kind":"ready"'));
    for (let times = 0; times < 3; times += 1) closed.process.kill('SIGHUP');
    expect((await closed.finished).code).toBe(EXIT.ok);
    expect(await statusOf(ready.endpoint_uuid)).toBe('disabled');
  }, 60_000);

  test('of a killed process is used by the next one', async () => {
    const words = ['listen', '--forward-to', app.url, '--output', 'ndjson'];
    const killed = startSim(words, sandbox.access);
    const ready: Ready = JSON.parse(await killed.line('"kind":"ready"'));
    const secret = await secretOf();
    killed.process.kill('SIGKILL');
    await killed.finished;
    expect(await statusOf(ready.endpoint_uuid)).toBe('active');
    const next = await listen('--test');
    expect(next.ready).toMatchObject({ endpoint_uuid: ready.endpoint_uuid, url: ready.url });
    await app.received(1);
    expect(await secretOf()).toBe(secret);
  }, 60_000);

  test('has one listener: a second one says so, and ends', async () => {
    await listen();
    const second = runSim(['listen', '--forward-to', app.url], sandbox.access);
    const { code, stderr } = await second.finished;
    expect(code).toBe(EXIT.usage);
    expect(stderr).toContain(`another sim listen forwards to ${app.url} already (process ${process.pid})`);
  }, 60_000);

  test('takes the events of --events only, with commas or one by one', async () => {
    const { ready, sim } = await listen('--events KYC,KYB --events AML');
    const { subscribed_events: events } = JSON.parse(
      await sandbox.sim(`endpoints get ${ready.endpoint_uuid} --output json`),
    );
    expect(events).toEqual(['KYC', 'KYB', 'AML']);
    await sandbox.sim('trigger otpNotification');
    await sandbox.sim('trigger KYC/FULL_USER');
    await arrived(sim, ({ subType }) => subType === 'FULL_USER');
    expect(app.requests).toHaveLength(1);
  }, 60_000);

  test('gets webhooks in the version of --api-version, and keeps what it has without', async () => {
    const { ready } = await listen('--api-version 2.2.8');
    const get = async () =>
      JSON.parse(await sandbox.sim(`endpoints get ${ready.endpoint_uuid} --output json`));
    expect((await get()).api_version).toBe('2.2.8');
    for (const sim of running.splice(0)) await sim.stop();
    await listen();
    expect((await get()).api_version).toBe('2.2.8');
    await sandbox.sim(`endpoints update ${ready.endpoint_uuid} --api-version 2.3.8`);
    expect((await get()).api_version).toBe('2.3.8');
  }, 60_000);

  test('is watched: what another command does to it is said, with the line that helps', async () => {
    const sim = runSim(['listen', '--forward-to', app.url], sandbox.access);
    running.push(sim);
    const uuid = /endpoint +(\S{36})/.exec(await sim.text('endpoint'))?.[1] ?? '';
    await sim.text('ready');
    await sandbox.sim(`endpoints disable ${uuid}`);
    await sim.text(`hookrail sim endpoints enable ${uuid}`);
    await sandbox.sim(`endpoints enable ${uuid}`);
    await sim.text('its endpoint is active again');
    await sandbox.sim(`endpoints delete ${uuid}`);
    await sim.text('its endpoint was deleted');
  }, 60_000);
});

test('a listener connects again when the sandbox starts again', async () => {
  const { sim } = await listen();
  await sandbox.restart();
  await sim.item('reconnecting', ({ kind }: { kind: string }) => kind === 'reconnecting');
  await eventually('ready again', async () => {
    const items = itemsOf((await sim.text('reconnecting')) ?? '') as { kind: string }[];
    return items.filter(({ kind }) => kind === 'ready').length === 2;
  });
  await sandbox.sim('trigger KYC/FULL_USER');
  expect(await arrived(sim, () => true)).toMatchObject({ status: 200, attempt: 1 });
}, 60_000);

test('the option --write-env sets WEBHOOK_SECRET, and leaves every other line and the mode as they are', async () => {
  const file = join(sandbox.folder, '.env');
  writeFileSync(file, 'A=1\nexport WEBHOOK_SECRET=old\nB=$2 # c\n', { mode: 0o640 });
  const { sim } = await listen(`--write-env ${file}`);
  const secret = await secretOf();
  expect(readFileSync(file, 'utf8')).toBe(`A=1\nexport WEBHOOK_SECRET=${secret}\nB=$2 # c\n`);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  await sim.stop();
  const fresh = join(sandbox.folder, 'new.env');
  await (await listen(`--write-env ${fresh}`)).sim.stop();
  expect([readFileSync(fresh, 'utf8'), statSync(fresh).mode & 0o777]).toEqual([
    `WEBHOOK_SECRET=${secret}\n`,
    0o600,
  ]);
}, 60_000);
