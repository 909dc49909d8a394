/**
 * Schemathesis for tests: installed once from PyPI into the user's cache, each file verified by its hash. Without a
 * suitable Python the tests are skipped and the reason is printed; with HOOKRAIL_REQUIRE_SCHEMATHESIS=1 they fail.
 */
import { describe } from 'vitest';
import { pythonWith, whyNoPackages } from '../python-environment.ts';

const REQUIREMENTS = 'test/schemathesis/requirements.txt';

/** Declares a suite that gets the path of a Python with Schemathesis. Must be awaited at the top of a test file. */
export async function describeWithSchemathesis(
  title: string,
  suite: (python: () => Promise<string>) => void,
): Promise<void> {
  const missing = await whyNoPackages('Schemathesis');
  if (missing !== undefined) {
    if (process.env.HOOKRAIL_REQUIRE_SCHEMATHESIS === '1') throw new Error(missing);
    console.warn(`skipped: ${missing}`);
  }
  describe.skipIf(missing !== undefined)(title, () => suite(() => pythonWith('schemathesis', REQUIREMENTS)));
}
