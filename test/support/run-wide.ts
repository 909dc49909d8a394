/**
 * Shares one server among all test files of a run. The first request for it starts it; a run without a request starts none.
 * Test files run in their own processes, so they request it over a loopback port.
 */
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../services/messages/error-message.ts';

export interface RunWide<Address> {
  readonly address: Address;
  stop(): Promise<void>;
}

/** The address, or the reason in one line why there is none. */
export type RunWideAnswer<Address> = Address | { readonly missing: string };

/** Answers requests for it, of the run's setup. `stop` ends it as well, if it was started. */
export async function serveRunWide<Address extends object>(
  start: () => Promise<RunWide<Address>>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  let starting: Promise<RunWide<Address>> | undefined;
  const answer = async (): Promise<RunWideAnswer<Address>> => {
    starting ??= start();
    try {
      return (await starting).address;
    } catch (error) {
      return { missing: messageOf(error) };
    }
  };
  const server = createServer(async (_request, response) => {
    response.end(JSON.stringify(await answer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      const started = await starting?.catch(() => undefined);
      await started?.stop();
    },
  };
}

/** Waits without a timeout: the first start may download something. */
export function requestRunWide<Address>(url: string): Promise<RunWideAnswer<Address>> {
  return new Promise((resolve, reject) => {
    const request = get(url, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve(JSON.parse(Buffer.concat(chunks).toString()));
    });
    request.once('error', reject);
  });
}
