/**
 * The operator's pages agree with the service: the table of metrics names exactly the exported ones, alerts and
 * dashboard use existing metrics, every alert has a runbook, and each fires when it should.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { kafkaEnvironment } from '../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';
import { prepareSetup, startService } from '../support/service/system.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}
const rules: readonly Rule[] = parse(read('docs/operate/alerts.yml')).groups.flatMap(
  ({ rules: ofGroup }: { rules: Rule[] }) => ofGroup,
);
const documented = [...read('docs/operate/metrics.md').matchAll(/^\| `(\w+)` \|/gm)].map(
  ([, name]) => name ?? '',
);

/** Metric names in an expression: histograms by their own name. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(hookrail|process|nodejs)_\w+/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|count|sum)$/, ''));
}

/** The expressions of every panel. */
function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(read('docs/operate/dashboard.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Names of all metrics that a service with every role exports. */
async function exportedBy(environment: Record<string, string>): Promise<string[]> {
  const setup = await prepareSetup(environment);
  const service = await startService(setup.environment);
  try {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '');
  } finally {
    await service.end('SIGTERM');
  }
}

async function checkService(environment: Record<string, string>): Promise<void> {
  const exported = await exportedBy(environment);
  const ours = exported.filter((name) => name.startsWith('hookrail_'));
  expect([...ours].sort()).toEqual([...documented].sort());
  const used = [...rules.map(({ expr }) => expr), ...dashboardExpressions()].flatMap(metricsIn);
  expect(used.length).toBeGreaterThan(40);
  expect(used.filter((name) => !exported.includes(name))).toEqual([]);
}

describe('the metrics', () => {
  it('are all documented, and all present on the embedded engine, those of alerts and dashboard too', async () => {
    await checkService({});
  }, 90_000);
});

await describeWithKafka('the metrics on Kafka', (kafka) => {
  it('are the same as those on the embedded engine', async () => {
    await checkService(kafkaEnvironment(kafka, freshPrefix()));
  }, 90_000);
});

test('every alert has a severity, an instruction and a runbook', () => {
  const headings = [...read('docs/operate/README.md').matchAll(/^### (\w+)$/gm)].map(
    ([, name]) => name ?? '',
  );
  expect(rules.map(({ alert }) => alert)).toEqual(headings);
  for (const { alert, labels, annotations } of rules) {
    expect(['warning', 'critical'], alert).toContain(labels.severity);
    expect(annotations.summary.length, alert).toBeGreaterThan(10);
    expect(annotations.description.length, alert).toBeGreaterThan(20);
    expect(annotations.runbook).toBe(`docs/operate/README.md#${alert.toLowerCase()}`);
  }
});

test('every alert is covered by alerts.test.yml', () => {
  const names = parse(read('docs/operate/alerts.test.yml')).tests.map(({ name }: { name: string }) => name);
  expect(names).toEqual([...rules.map(({ alert }) => `${alert} fires`), 'nothing fires where all is well']);
});

describe('promtool', () => {
  const isThere = hasPromtool('The alerting rules are not checked');

  it.skipIf(!isThere)('finds the alert rules well formed', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toContain(`${rules.length} rules found`);
  });

  it.skipIf(!isThere)('fires each alert when it should, and none when all is well', () => {
    expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  });
});
