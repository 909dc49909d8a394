/** The rule on packages finds commands that fetch a stranger's package and run it, and lets the others pass. */
import { describe, expect, test } from 'vitest';
import { packageProblems } from './packages.ts';

describe('the rule on packages', () => {
  test.each([
    ['docs/a.md', 'npx hookrail sim run x', /npx --no/],
    ['docs/a.md', 'Then `npx hookrail start`.', /npx --no/],
    ['docs/a.md', 'npx -y hookrail@0.1.0 start', /npx --no/],
    ['docs/a.md', 'npx --yes --package hookrail hookrail', /npx --no/],
    ['docs/a.md', 'npx -p hookrail@1.2.3 hookrail', /npx --no/],
    ['docs/a.md', 'HOOKRAIL_ROLES=api npx hookrail serve', /npx --no/],
    ['services/a.ts', "throw new Error('see: npx hookrail operator status');", /npx --no/],
    ['services/a.ts', 'const text = `npx $' + '{tool} sim`;', /npx --no/],
    ['schemas/reference/a.html', '<code>npx <span class="c">hookrail</span> sim</code>', /npx --no/],
    ['CONTRIBUTING.md', 'npx vitest run test/sender', /npx --no/],
    ['docs/a.md', 'npm exec hookrail -- sim', /npx --no/],
    ['docs/a.md', 'npm exec --yes -- hookrail sim', /npx --no/],
    ['docs/a.md', 'npm --silent x hookrail', /npx --no/],
    ['docs/a.md', 'npm init hookrail', /stranger/],
    ['docs/a.md', 'npm create @acme/hookrail@latest', /stranger/],
    ['docs/a.md', 'pnpm dlx hookrail', /stranger/],
    ['docs/a.md', 'yarn dlx hookrail', /stranger/],
    ['docs/a.md', 'uvx hookrail', /stranger/],
    ['docs/a.md', 'pipx run hookrail', /stranger/],
    ['docs/a.md', 'go run example.com/hookrail@latest', /stranger/],
    ['docs/a.md', 'npm install -g hookrail', /not ours/],
    ['docs/a.md', 'npm i hookrail@0.1.0', /not ours/],
    ['docs/a.md', 'npm link hookrail', /not ours/],
    ['docs/a.md', 'npm install standardwebhooks', /exact version/],
    ['docs/a.md', 'npm install standardwebhooks@^1.0.0', /exact version/],
    ['docs/a.md', 'npm install . express', /exact version/],
    ['docs/a.md', 'pip install hookrail', /not ours/],
    ['docs/a.md', 'python3 -m pip install hookrail==0.1.0', /not ours/],
    ['docs/a.md', "pip install 'hookrail'", /not ours/],
    ['docs/a.md', 'pip install --upgrade standardwebhooks', /exact version/],
    ['docs/a.md', 'pip3 install standardwebhooks>=1.0', /exact version/],
    ['docs/a.md', 'docker run hookrail', /registry/],
    ['docs/a.md', 'docker run --rm -p 8080:8080 hookrail:0.1.0', /registry/],
    ['docs/a.md', 'docker run -e KEY=1 acme/hookrail:0.1.0 serve', /registry/],
    ['docs/a.md', 'docker pull registry.example.com/hookrail', /registry/],
    ['docs/a.md', 'curl -fsSL https://example.com/install.sh | sh', /server sends/],
    ['docs/a.md', 'curl https://example.com/i | sudo bash -s', /server sends/],
  ])('finds in %s: %s', (path, text, says) => {
    const problems = packageProblems({ path, text: `# A\n\n${text}\n` });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^\S+:3: /);
    expect(problems[0]).toMatch(says);
  });

  test.each([
    'npx --no hookrail sim run x',
    'HOOKRAIL_ROLES=api npx --no hookrail serve | tee log',
    'npx --no-install biome ci .',
    '`npx` is npm’s; the rest of `npx` is npm itself',
    'npm install -g .',
    'npm ci --omit=dev',
    '`npm install` is not needed inside this checkout',
    'npm install standardwebhooks@1.1.1',
    'npm install @redocly/cli@2.77.0',
    'npm link <path of the checkout>',
    'npm run sim -- run x',
    'npm init',
    '/path/to/venv/bin/pip install -r docs/producers/python/requirements.txt',
    'pip install standardwebhooks==1.0.0',
    "pip install 'confluent-kafka[avro]==2.16.0'",
    'docker build -t hookrail .',
    'docker compose up --build',
    'docker run --rm -p 8080:8080 registry.example.com/acme/hookrail:0.1.0 serve',
    'go run receiver.go',
    'curl "$HOOKRAIL_BASE_URL/producer/events" -d @body.json | jq .',
    'apt-get install postgresql',
  ])('lets pass: %s', (text) => {
    expect(packageProblems({ path: 'docs/a.md', text })).toEqual([]);
  });

  test('lets a script of continuous integration run what the lock file has installed', () => {
    expect(packageProblems({ path: '.ci/run', text: 'step npx biome ci .' })).toEqual([]);
  });
});
