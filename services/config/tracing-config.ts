const EXPORTERS = ['otlp', 'console'] as const;

export type SpanExporterName = (typeof EXPORTERS)[number];

export interface TracingConfig {
  /** Destinations of spans; empty = tracing is off. */
  readonly exporters: readonly SpanExporterName[];
  /** Requested settings that are not supported, a line each. */
  readonly ignored: readonly string[];
}

const OFF: TracingConfig = { exporters: [], ignored: [] };

/**
 * Reads whether OpenTelemetry's own variables ask for tracing; the SDK reads everything else (endpoints, headers,
 * sampler, batches, resource) from them itself. They are often set for a whole platform, so unknown values are
 * reported and ignored, as their specification requires, and never keep the service from starting.
 */
export function tracingConfig(environment: Readonly<Record<string, string | undefined>>): TracingConfig {
  const given = (name: string) => environment[name]?.trim() ?? '';
  if (given('OTEL_SDK_DISABLED').toLowerCase() === 'true') return OFF;
  const asked = given('OTEL_TRACES_EXPORTER')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const hasEndpoint =
    given('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '';
  if (asked.length === 0 && hasEndpoint) asked.push('otlp');
  const ignored: string[] = [];
  const exporters = new Set<SpanExporterName>();
  for (const name of asked) {
    const known = EXPORTERS.find((one) => one === name);
    if (known) exporters.add(known);
    else if (name !== 'none') {
      ignored.push(`OTEL_TRACES_EXPORTER="${name}" is not supported and ignored: set otlp, console or none`);
    }
  }
  const protocol =
    given('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || given('OTEL_EXPORTER_OTLP_PROTOCOL') || HTTP;
  if (exporters.has('otlp') && protocol !== HTTP) {
    exporters.delete('otlp');
    ignored.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL="${protocol}" is not supported, so no spans are sent: set ${HTTP} and its endpoint`,
    );
  }
  return { exporters: [...exporters], ignored };
}

const HTTP = 'http/protobuf';

/** The variable that names the collector, and its address. The SDK reads it by itself; this is for what is said of it. */
export interface Collector {
  readonly variable: string;
  readonly url: URL;
}

/** Returns where OTLP spans are sent; null when nothing names it (the collector is on this machine then). */
export function collectorOf(environment: Readonly<Record<string, string | undefined>>): Collector | null {
  for (const variable of ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']) {
    const text = environment[variable]?.trim() ?? '';
    if (text !== '') return URL.canParse(text) ? { variable, url: new URL(text) } : null;
  }
  return null;
}
