/** Commands in messages have the form in which the user types them. */
import { expect, test } from 'vitest';
import { asTyped } from '../../services/messages/as-typed.ts';

const TEXT =
  '→ hookrail sim run x, hookrail operator keys list, HOOKRAIL_X=1 hookrail start --no-demo, hookrail serve';

test.each([
  [{}, TEXT],
  // A script of the user's own package, whatever its name.
  [{ npm_package_name: 'shop', npm_lifecycle_event: 'sim' }, TEXT],
  [
    { npm_package_name: 'shop', npm_lifecycle_event: 'npx' },
    '→ npx --no hookrail sim run x, npx --no hookrail operator keys list, HOOKRAIL_X=1 npx --no hookrail start --no-demo, npx --no hookrail serve',
  ],
  [
    { npm_package_name: 'hookrail', npm_lifecycle_event: 'sim' },
    '→ npm run sim -- run x, npm run operator -- keys list, HOOKRAIL_X=1 npm start -- --no-demo, npm run serve',
  ],
  [
    { npm_package_name: 'hookrail', npm_lifecycle_event: 'start' },
    '→ npx --no hookrail sim run x, npx --no hookrail operator keys list, HOOKRAIL_X=1 npm start -- --no-demo, npx --no hookrail serve',
  ],
])('a message names commands as a process of %j was started', (environment, text) => {
  expect(asTyped(TEXT, environment)).toBe(text);
  // A text may pass through more than one hand.
  expect(asTyped(text, environment)).toBe(text);
});
