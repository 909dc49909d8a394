import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OPERATE = fileURLToPath(new URL('../../docs/operate/', import.meta.url));

/** Returns whether promtool is there. Where it is not, `without` is printed; throws where it is required. */
export function hasPromtool(without: string): boolean {
  if (spawnSync('promtool', ['--version']).status === 0) return true;
  const how = 'promtool is missing (Debian: apt-get install --no-install-recommends prometheus)';
  if (process.env.HOOKRAIL_REQUIRE_PROMTOOL === '1') throw new Error(`HOOKRAIL_REQUIRE_PROMTOOL=1: ${how}`);
  console.warn(`${without}: ${how}.`);
  return false;
}

/** Runs promtool in the folder of the alerting rules; throws with what it prints when it finds a fault. */
export function promtool(...argv: string[]): string {
  return execFileSync('promtool', argv, { cwd: OPERATE, encoding: 'utf8' });
}

/** The values that one process reported, one each interval; null = the metric was absent. */
interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/**
 * Evaluates the alerting rules over series that were recorded. Throws unless the alert fires exactly where it should:
 * `firing` says so by the number of the interval.
 */
export function checkAlert(
  alert: string,
  intervalSeconds: number,
  series: readonly Series[],
  firing: ReadonlyMap<number, boolean>,
): void {
  const interval = `${intervalSeconds}s`;
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  const tests = [
    {
      interval,
      input_series: series.map(({ name, values }) => ({
        series: name,
        values: values.map((value) => value ?? '_').join(' '),
      })),
      promql_expr_test: [...firing].map(([index, isFiring]) => ({
        ...{ expr, eval_time: `${index * intervalSeconds}s` },
        exp_samples: [{ labels: '{}', value: isFiring ? 1 : 0 }],
      })),
    },
  ];
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-alerts-'));
  try {
    const file = join(folder, 'recorded.yml');
    const rules = { rule_files: [join(OPERATE, 'alerts.yml')], evaluation_interval: interval, tests };
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(rules));
    promtool('test', 'rules', file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
