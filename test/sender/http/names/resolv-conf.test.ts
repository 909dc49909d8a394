/**
 * Guarantee: a process follows the system's file of name servers while it runs. A machine that gets others (DHCP, a VPN,
 * a container's restart) resolves the next name, without a restart of the sender.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNameServer } from '../../../support/faults/name-server.ts';
import { whyNoContainer } from '../../../support/image/image.ts';

const TEST_MS = 60_000;
const DNS_PORT = 53;
const A = '93.184.216.34';
/** A loopback address that no other run of this suite has at the same time. */
const addressOf = (last: number) => `127.${64 + ((process.pid >> 8) & 127)}.${process.pid & 255}.${last}`;
const startOn = (last: number) =>
  startNameServer((_, type) => (type === 'A' ? [A] : []), DNS_PORT, addressOf(last));

/** Returns why no name server can be started here; undefined when one can. */
const whyNoNameServer = () =>
  startOn(1).then(
    async (started) => void (await started.close()),
    ({ message }: Error) => `port ${DNS_PORT} of a loopback address cannot be used: ${message}`,
  );

const missing = whyNoContainer() ?? (await whyNoNameServer());
if (missing !== undefined) {
  if (process.env.HOOKRAIL_REQUIRE_CONTAINERS === '1') throw new Error(missing);
  console.warn(`The file of name servers is not tried. ${missing}`);
}

const moduleAt = (path: string) => new URL(`../../../../services/${path}`, import.meta.url).href;
/** Resolves each name that it reads, and prints its addresses, or its failure. */
const RESOLVER = `
  import { createInterface } from 'node:readline';
  import { systemClock } from '${moduleAt('process/clock.ts')}';
  import { NameServers } from '${moduleAt('sender/http/names/name-servers.ts')}';
  const names = new NameServers({ clock: systemClock(), connectTimeoutMs: 3000 });
  for await (const name of createInterface({ input: process.stdin })) {
    const from = performance.now();
    const said = await names.resolve(name).then(
      ({ first }) => ({ first }),
      ({ code, ours }) => ({ code, isOurs: ours !== null }),
    );
    console.log(JSON.stringify({ ...said, failing: names.failing, ms: performance.now() - from }));
  }`;
/** Only this process and its children see the other file in the place of the system's. */
const MOUNTED = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

describe.skipIf(missing !== undefined)('a process whose file of name servers changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-names-'));
  const file = join(folder, 'resolv.conf');
  /** Written in place: what is mounted is this file, whatever has its name later. */
  const write = (last: number) => writeFileSync(file, `nameserver ${addressOf(last)}\n`);
  let child: ChildProcess;
  let lines: AsyncIterator<string>;
  let reader: Interface;
  beforeAll(() => {
    write(1);
    const node = [process.execPath, '--input-type=module', '--eval', RESOLVER];
    const args = ['--mount', '--propagation', 'private', 'sh', '-ec', MOUNTED, 'sh', file, ...node];
    const started = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child = started;
    reader = createInterface({ input: started.stdout });
    lines = reader[Symbol.asyncIterator]();
  });
  afterAll(() => {
    reader.close();
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  async function resolve(name: string) {
    child.stdin?.write(`${name}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the process has ended');
    return JSON.parse(value);
  }

  test('resolves the next name at once when the old servers are gone', { timeout: TEST_MS }, async () => {
    const [old, other] = [await startOn(1), await startOn(2)];
    expect(await resolve('a.merchant.com')).toMatchObject({ first: [A], failing: null });
    await old.close();
    const failed = await resolve('b.merchant.com');
    expect(failed).toMatchObject({ code: 'ECONNREFUSED', isOurs: true });
    expect(failed.failing).toContain(`the name servers (${addressOf(1)})`);
    expect(other.asked).toEqual([]);
    write(2);
    const resolved = await resolve('c.merchant.com');
    expect(resolved).toMatchObject({ first: [A] });
    expect(resolved.ms).toBeLessThan(1000);
    expect(other.asked).toContain('A c.merchant.com');
    await other.close();
  });
});
