import { Gauge, type Registry } from 'prom-client';

/** Exports the version of this process as a metric: a 1 with a label. */
export function exportBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'hookrail_build_info',
    help: '1, with the version of the process.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
}
