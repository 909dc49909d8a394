/** The error for a key with characters that no header takes names where the key is from, and shows nothing of it. */
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { simHere } from '../support/command-line.ts';

const NOBODY = 'http://127.0.0.1:1';
const list = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  simHere(['endpoints', 'list', '--data-dir', `${tmpdir()}/hookrail-none`, ...args], environment);

describe('a key that no header can carry is named by its source and not shown', () => {
  test.each([
    ['a line break', 'sk_sandbox_first\nsk_sandbox_second'],
    ['a space', 'sk_sandbox_first second'],
    ['a character outside ASCII', 'sk_sandbox_first’'],
    ['a control character', 'sk_sandbox_first\u0000\u001b[31m'],
  ])('%s', async (_, key) => {
    const ways = [
      await list([], { HOOKRAIL_API_KEY: key, HOOKRAIL_BASE_URL: NOBODY }),
      await list(['--api-key', key, '--base-url', NOBODY]),
    ];
    for (const { code, stdout, stderr } of ways) {
      expect([code, stdout]).toEqual([EXIT.usage, '']);
      expect(stderr).toMatch(
        /^the API key \(from (environment HOOKRAIL_API_KEY|option --api-key)\) has a space/,
      );
      expect(stderr).not.toMatch(/first|second/);
    }
  });
});
