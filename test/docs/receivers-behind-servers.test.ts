/**
 * The documented receivers take genuine webhooks behind web servers as Debian has them, in chunks too: PHP in php-fpm behind
 * Apache and nginx, the others behind a reverse proxy. Where the server keeps Authorization to itself they say so, with
 * the setting that passes it on, and that setting works.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/free-ports.ts';
import {
  isInstalled,
  RUNTIMES,
  type RunningReceiver,
  startReceiverIn,
} from '../support/receivers/documented-receivers.ts';
import { post, signedWebhook } from '../support/receivers/signed-webhook.ts';
import {
  describeWhereWebServersStart,
  type RunningWebServer,
  servePhp,
  serveProxy,
  type WebServer,
} from '../support/receivers/web-servers.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const RUN_MAX_MS = 120_000;
const webhook = () => signedWebhook(SECRET, 'KYC');

let server: RunningWebServer | undefined;
let receiver: RunningReceiver | undefined;
afterEach(async () => {
  await server?.stop();
  await receiver?.stop();
  server = undefined;
  receiver = undefined;
});

/** Posts a genuine webhook as one piece, in chunks and again, and one that was altered. Returns the id of the first. */
async function exercise(url: string): Promise<string> {
  const [plain, chunked] = [webhook(), webhook()];
  expect(await post(url, plain)).toBe(200);
  expect(await post(url, { ...chunked, isChunked: true }), 'in chunks').toBe(200);
  expect(await post(url, plain), 'again').toBe(200);
  expect(await post(url, { ...webhook(), sentBody: `${plain.body} ` }), 'altered').toBe(401);
  return plain.id;
}

describeWhereWebServersStart('the PHP receiver in php-fpm', () => {
  const chunks = 'SetEnv proxy-sendcl 1\n';
  test.each<[string, WebServer, boolean]>([
    ['Apache as it comes, which keeps Authorization', { kind: 'Apache', settings: chunks }, false],
    [
      'Apache with CGIPassAuth',
      { kind: 'Apache', settings: `${chunks}<Location "/">\nCGIPassAuth On\n</Location>` },
      true,
    ],
    [
      'Apache with SetEnvIf',
      { kind: 'Apache', settings: `${chunks}SetEnvIf Authorization "(.+)" HTTP_AUTHORIZATION=$1` },
      true,
    ],
    ['nginx as it comes', { kind: 'nginx' }, true],
    ['nginx that passes no headers', { kind: 'nginx', settings: withoutHeaders('') }, false],
    [
      'nginx that passes no headers but Authorization',
      {
        kind: 'nginx',
        settings: withoutHeaders('fastcgi_param HTTP_AUTHORIZATION $http_authorization;'),
      },
      true,
    ],
  ])(
    'behind %s',
    async (_name, how, passesAuthorization) => {
      server = await servePhp(how, SECRET);
      const id = await exercise(server.url);
      expect(server.log().split(`received ${id} KYC`).length, 'handled once').toBe(2);
      expect(server.log().includes('no Authorization arrived')).toBe(!passesAuthorization);
      expect(server.log().includes('CGIPassAuth On')).toBe(!passesAuthorization);
      expect(server.log()).not.toContain(SECRET);
    },
    RUN_MAX_MS,
  );

  test(
    'says which setting is missing where Apache passes no chunks on',
    async () => {
      server = await servePhp({ kind: 'Apache' }, SECRET);
      const hook = webhook();
      // Apache knows the length of a body that has arrived before it looks, even on a busy machine.
      expect(await post(server.url, { ...hook, isChunked: true, pauseMs: 2000 })).toBe(411);
      expect(server.log()).toContain(`refused ${hook.id}: no body arrived`);
      expect(server.log()).toContain('SetEnv proxy-sendcl 1');
      expect(await post(server.url, hook), 'in one piece').toBe(200);
    },
    RUN_MAX_MS,
  );

  test(
    'answers 500 and says so where the pool has no secret',
    async () => {
      server = await servePhp({ kind: 'nginx' }, '');
      expect(await post(server.url, { ...webhook(), signatures: () => 'v1,x' })).toBe(500);
      expect(server.log()).toContain('WEBHOOK_SECRET is not set');
    },
    RUN_MAX_MS,
  );
});

/** The headers of a webhook alone are named, as some administrators do it. */
function withoutHeaders(more: string): string {
  const passed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const variable = name.replaceAll('-', '_');
    return `fastcgi_param HTTP_${variable.toUpperCase()} $http_${variable};`;
  });
  return ['fastcgi_pass_request_headers off;', ...passed, more].join('\n');
}

describeWhereWebServersStart('a receiver behind a reverse proxy', () => {
  const others = RUNTIMES.filter(({ name, probe }) => name !== 'PHP' && isInstalled(probe));
  describe.each(others)('in $name', (runtime) => {
    test.each<[string, WebServer, boolean]>([
      ['Apache', { kind: 'Apache' }, true],
      [
        'Apache without Authorization',
        { kind: 'Apache', settings: 'RequestHeader unset Authorization' },
        false,
      ],
      ['nginx', { kind: 'nginx' }, true],
      ['nginx that does not collect chunks', { kind: 'nginx', settings: STREAMING }, true],
      [
        'nginx without Authorization',
        { kind: 'nginx', settings: 'proxy_set_header Authorization "";' },
        false,
      ],
    ])(
      '%s',
      async (_name, how, passesAuthorization) => {
        const port = await freePort();
        receiver = await startReceiverIn(runtime, SECRET, port);
        server = await serveProxy(how, `http://127.0.0.1:${port}`);
        const id = await exercise(server.url);
        const last = webhook();
        expect(await post(server.url, last)).toBe(200);
        const lines = await receiver.printed(`received ${last.id}`);
        expect(lines.filter((line) => line.includes(`received ${id}`)).length).toBe(1);
        expect(lines.filter((line) => line.includes('no Authorization arrived')).length, 'said once').toBe(
          passesAuthorization ? 0 : 1,
        );
      },
      RUN_MAX_MS,
    );
  });
});

const STREAMING = 'proxy_http_version 1.1;\nproxy_request_buffering off;';
