import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range of ephemeral ports, so that no outgoing connection takes a port while its owner restarts.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Ports that were tried or returned: their owners may not listen yet. */
const tried = new Set<number>();

/** Returns whether the port of 127.0.0.1 is free. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Returns one of `freePorts`. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

/**
 * Returns ports on 127.0.0.1 that are free now, not in `taken`, and stay free while their owner restarts. None is returned
 * twice in one process.
 */
export async function freePorts(count: number, taken: readonly number[] = []): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count; tries += 1) {
    if (tries > 1000)
      throw new Error(`No ${count} free ports between ${LOWEST} and ${HIGHEST} on 127.0.0.1.`);
    const port = randomInt(LOWEST, HIGHEST);
    if (taken.includes(port) || tried.has(port)) continue;
    tried.add(port);
    if (await isFree(port)) found.push(port);
  }
  return found;
}
