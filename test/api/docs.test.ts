/** The description and its page are served, work without the internet, and are let run by their own policy. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPENAPI_FILE } from '../../services/api/validation.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

test('/openapi.yaml is the file', async () => {
  const response = await fetch(`${api.api.url}/openapi.yaml`);
  expect(response.headers.get('content-type')).toContain('application/yaml');
  expect(await response.text()).toBe(readFileSync(OPENAPI_FILE, 'utf8'));
});

test('/docs loads everything from here, and the policy allows what it loads', async () => {
  const page = await fetch(`${api.api.url}/docs`);
  expect(page.url).toBe(`${api.api.url}/docs/`);
  const html = await page.text();
  const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
  expect(sources.length).toBeGreaterThan(4);
  for (const source of sources) {
    const asset = await fetch(new URL(source, page.url));
    expect([source, asset.status, new URL(asset.url).origin]).toEqual([source, 200, api.api.url]);
  }
  expect(html).not.toMatch(/<script>(?!\s*<)/);
  const policy = page.headers.get('content-security-policy') ?? '';
  for (const directive of ["script-src 'self'", "connect-src 'self'", "img-src 'self' data:"]) {
    expect(policy).toContain(directive);
  }
  const initializer = await (await fetch(`${api.api.url}/docs/swagger-initializer.js`)).text();
  expect(initializer).toContain("url: '/openapi.yaml'");
  expect(initializer).not.toContain('petstore');
});

test('nothing outside the page’s folder is served', async () => {
  for (const path of ['/docs/../package.json', '/docs/%2e%2e/%2e%2e/package.json', '/docs/nothing.js']) {
    expect([path, (await fetch(api.api.url + path)).status]).toEqual([path, 404]);
  }
});
