import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
import type { SpanExporterName } from '../config/tracing-config.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from './logger.ts';
import { SCOPE, type Tracing } from './tracer.ts';

/** The longest wait for the collector when the process ends. */
const FLUSH_MS_MAX = 3000;
/** The SDK reports a failed export with everything it knows about it. */
const LINE_LENGTH_MAX = 300;

const EXPORTER = {
  otlp: () => new OTLPTraceExporter(),
  console: () => new ConsoleSpanExporter(),
} as const;

/** Loads and starts the OpenTelemetry SDK, which reads the other OTEL_* variables from the environment itself. */
export function openTracingSdk(
  exporters: readonly SpanExporterName[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Tracing {
  const say = (text: string) => log.warn(`tracing: ${text.slice(0, LINE_LENGTH_MAX)}`);
  const silent = () => {};
  diag.setLogger(
    { error: say, warn: say, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const provider = new BasicTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'hookrail' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: exporters.map((name) => new BatchSpanProcessor(EXPORTER[name]())),
  });
  const flush = async () => {
    const ended = new AbortController();
    const shutdown = provider.shutdown().catch((error: unknown) => say(String(error)));
    await Promise.race([shutdown, clock.sleep(FLUSH_MS_MAX, ended.signal)]);
    ended.abort();
    diag.disable();
  };
  let stopping: Promise<void> | null = null;
  return {
    tracer: provider.getTracer(SCOPE),
    stop() {
      stopping ??= flush();
      return stopping;
    },
  };
}
